"""Reads a line for each pair of paths: contours, fill rules, and areas of union, intersection and difference.

Writes a line for each area: the one of Skia ("nan" where it gives up) and, where that is not within LIMIT of the given one,
the one by scan lines.
"""

import cmath
import itertools
import json
import math
import sys

import pathops

LIMIT = 0.01
SCAN_LINES = 20_000
CHORDS = 1024


def path(contours, is_even_odd):
    result = pathops.Path(fillType=pathops.FillType.EVEN_ODD if is_even_odd else pathops.FillType.WINDING)
    for contour in contours:
        result.moveTo(*contour[0][:2])
        for segment in contour:
            (result.lineTo, result.quadTo, result.cubicTo)[len(segment) // 2 - 2](*segment[2:])
        result.close()
    return result


def curves(contour):
    """The control points of a contour's segments, in complex numbers."""
    here = start = 0
    for verb, points in contour:
        points = [complex(*point) for point in points]
        if verb == pathops.PathVerb.MOVE:
            here = start = points[0]
        elif verb != pathops.PathVerb.CLOSE:
            yield [here, *points]
            here = points[-1]
    yield [here, start]


def place(curve, t):
    """A place on a curve, and the derivative there."""
    degree = len(curve) - 1
    while len(curve) > 2:
        curve = [(1 - t) * p + t * q for p, q in itertools.pairwise(curve)]
    p, q = curve
    return (1 - t) * p + t * q, degree * (q - p)


def turned_area(curve):
    """What a curve adds to the area of its contour, by Green's theorem; Gauss's rule with 3 places is exact here."""
    total = 0
    for t, weight in ((0.5 - math.sqrt(0.15), 5), (0.5, 8), (0.5 + math.sqrt(0.15), 5)):
        at, slope = place(curve, t)
        total += weight / 18 * (at.conjugate() * slope).imag / 2
    return total


def skia_area(one, other, operation):
    try:
        result = pathops.op(one, other, operation, fix_winding=False)
    except pathops.PathOpsError:
        return math.nan
    # fix_winding would turn some contours the wrong way; here, contours inside an odd number of others are holes.
    contours = list(result.contours)
    total = 0
    for contour in contours:
        others = pathops.Path(fillType=pathops.FillType.EVEN_ODD)
        for another in contours:
            if another is not contour:
                others.addPath(another)
        middles = [place(curve, 0.5)[0] for curve in curves(contour) if curve[0] != curve[-1]]
        holes = sum(others.contains((middle.real, middle.imag)) for middle in middles)
        size = abs(sum(map(turned_area, curves(contour))))
        total += -size if 2 * holes > len(middles) else size
    return total


def scanned_areas(paths, is_even_odd):
    """The areas by the lengths of scan lines, which lie aslant, so that no line of a path is one of them."""
    turn = cmath.rect(1, 1)
    chords = []
    for index, contours in enumerate(paths):
        for contour in contours:
            segments = [[complex(x, y) * turn for x, y in zip(s[::2], s[1::2])] for s in contour]
            segments.append([segments[-1][-1], segments[0][0]])
            for segment in segments:
                count = CHORDS if len(segment) > 2 else 1
                inner = [place(segment, step / count)[0] for step in range(1, count)]
                for p, q in itertools.pairwise([segment[0], *inner, segment[-1]]):
                    chords.append((p, q, index))
    low = min(min(p.imag, q.imag) for p, q, _ in chords)
    height = (max(max(p.imag, q.imag) for p, q, _ in chords) - low) / SCAN_LINES
    lines = [[] for _ in range(SCAN_LINES)]
    for p, q, index in chords:
        first, last = (math.ceil((y - low) / height - 0.5) for y in sorted((p.imag, q.imag)))
        for line in range(max(first, 0), min(last, SCAN_LINES)):
            t = (low + (line + 0.5) * height - p.imag) / (q.imag - p.imag)
            lines[line].append((p.real + t * (q.real - p.real), index, 1 if q.imag > p.imag else -1))
    areas = [0, 0, 0]
    for line in lines:
        line.sort()
        windings = [0, 0]
        for (x, index, direction), (end, _, _) in itertools.pairwise(line):
            windings[index] += direction
            one, other = (w % 2 if rule else w for w, rule in zip(windings, is_even_odd))
            for number, inside in enumerate((one or other, one and other, one and not other)):
                if inside:
                    areas[number] += (end - x) * height
    return areas


for line in open(sys.argv[1]):
    one, other, rule, other_rule, *areas = json.loads(line)
    operands = path(one, rule), path(other, other_rule)
    operations = pathops.PathOp.UNION, pathops.PathOp.INTERSECTION, pathops.PathOp.DIFFERENCE
    found = [skia_area(*operands, operation) for operation in operations]
    if all(abs(area - known) <= LIMIT for area, known in zip(found, areas)):
        scanned = [""] * 3
    else:
        scanned = scanned_areas((one, other), (rule, other_rule))
    for area, known, by_lines in zip(found, areas, scanned):
        print(area, "" if abs(area - known) <= LIMIT else by_lines)
