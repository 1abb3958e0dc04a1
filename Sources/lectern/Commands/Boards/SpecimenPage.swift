import Ink
import Raster
import StrokeWire
import VectorGraphics

/// A page with the same handwriting in every ink style, and with every tip of stamps, each under its name.
///
/// The hand is made up: a word, a flourish, shading with the side of a pencil, strokes of one, two and three points. Its points
/// have force, angles and times, so that every style has what it goes by.
struct SpecimenPage {
    /// In board units.
    static let width = 1024.0
    private static let margin = 36.0
    private static let columns = 2
    private static let rowHeight = 132.0
    private static let lineWidth = 4.5
    private static let inks: [UInt32] = [0x1B_2A49, 0x7A_1F3D, 0x14_5A4A, 0x3D_2C6B, 0x8A_3B12, 0x0B_4F6C]

    private static var rows: Int { (SpecimenInk.all.count + columns - 1) / columns }
    /// In board units.
    static var height: Double { Double(rows) * rowHeight + margin }

    /// The strokes of the page, bottom to top.
    static var strokes: [PaintedStroke] {
        SpecimenInk.all.enumerated().flatMap { index, ink in
            let corner = Vector(
                margin + Double(index % columns) * (width - margin) / Double(columns),
                margin + Double(index / columns) * rowHeight)
            let colour = RGB(inks[index % inks.count])
            return StrokeLetters.strokes(of: ink.name, at: corner, height: 8.5)
                + hand(at: corner + Vector(4, 84)).map { points in
                    PaintedStroke(
                        stroke: ink.stroke(width: lineWidth, points: points), colour: colour)
                }
        }
    }

    /// The page for the vector renderers.
    static var drawing: BoardDrawing { BoardDrawing(width: width, height: height, strokes: strokes) }

    /// The strokes of the hand, whose line of writing begins at a place.
    private static func hand(at start: Vector) -> [[StrokePoint]] {
        var strokes: [[StrokePoint]] = []
        var word = SpecimenPen(scale: 25, origin: start)
        strokes.append(word.write(Self.word))
        strokes.append(word.write(Self.crossbar))
        var flourish = SpecimenPen(scale: 25, origin: start + Vector(202, 0))
        strokes.append(flourish.write(Self.flourish))
        // A pencil laid on its side, back and forth.
        var shading = SpecimenPen(scale: 25, origin: start + Vector(318, 4), altitude: 0.3, force: 0.3)
        strokes.append(shading.write(Self.shading))
        // One, two and three points.
        let short = start + Vector(408, 0)
        strokes.append([StrokePoint(x: short.x + 10, y: short.y - 46)])
        strokes.append([(0.0, -22.0), (24, -30)].map { StrokePoint(x: short.x + $0.0, y: short.y + $0.1) })
        strokes.append([(0.0, 4.0), (12, -14), (26, 2)].map { StrokePoint(x: short.x + $0.0, y: short.y + $0.1) })
        return strokes
    }

    /// "lectern" without the bar of its t: places the pen passes, in heights of a small letter above the line.
    private static let word: [(Double, Double)] = [
        // l
        (0.0, 0.12), (0.4, 0.62), (0.82, 1.5), (0.86, 2.12), (0.62, 2.2), (0.46, 1.6), (0.44, 0.6), (0.58, 0.06),
        (0.9, 0.1),
        // e
        (1.28, 0.46), (1.5, 0.82), (1.4, 1.03), (1.16, 0.86), (1.06, 0.4), (1.26, 0.02), (1.62, 0.1),
        // c
        (1.98, 0.6), (2.3, 0.98), (2.5, 0.88), (2.3, 1.02), (1.98, 0.78), (1.92, 0.3), (2.16, 0.0), (2.52, 0.14),
        // t
        (2.86, 0.72), (3.1, 1.36), (3.18, 1.7), (3.1, 1.3), (3.0, 0.6), (3.06, 0.1), (3.32, 0.06),
        // e
        (3.7, 0.46), (3.92, 0.82), (3.82, 1.03), (3.58, 0.86), (3.48, 0.4), (3.68, 0.02), (4.04, 0.1),
        // r
        (4.34, 0.62), (4.46, 1.06), (4.56, 0.94), (4.76, 0.9), (4.84, 0.76), (4.78, 0.3), (4.92, 0.02), (5.16, 0.14),
        // n
        (5.4, 0.66), (5.52, 0.96), (5.56, 0.6), (5.52, 0.04), (5.62, 0.5), (5.9, 0.96), (6.14, 0.9), (6.16, 0.46),
        (6.2, 0.08), (6.46, 0.02), (6.86, 0.3), (7.2, 0.62),
    ]
    private static let crossbar: [(Double, Double)] = [(2.78, 1.14), (3.1, 1.2), (3.5, 1.22), (3.78, 1.3)]
    /// A fast loop that swings out to the right.
    private static let flourish: [(Double, Double)] = [
        (0.0, 0.9), (0.5, 1.9), (1.3, 2.1), (1.7, 1.3), (1.2, 0.2), (0.4, -0.3), (0.3, 0.3), (1.2, 0.8), (2.4, 0.9),
        (3.3, 1.5), (3.5, 2.2), (3.0, 2.3), (2.7, 1.6), (3.1, 0.5), (4.0, 0.1), (4.3, 0.5),
    ]
    private static let shading: [(Double, Double)] = [
        (0.0, 0.3), (0.5, 1.2), (0.9, 2.1), (0.9, 1.7), (0.6, 0.8), (0.5, 0.1), (0.7, 0.4), (1.3, 1.4), (1.6, 2.1),
        (1.6, 1.7), (1.3, 0.8), (1.2, 0.1), (1.4, 0.4), (2.0, 1.4), (2.3, 2.1), (2.3, 1.7), (2.0, 0.8), (1.9, 0.1),
        (2.1, 0.4), (2.6, 1.2), (2.9, 1.9),
    ]
}

struct SpecimenInk {
    let name: String
    let style: InkStyle
    var tip = InkTip.round

    /// Tips with an edge are shown wider.
    private var part: Double {
        switch tip {
        case .round: 1
        case .square: 1.4
        case .marker: 1.6
        case .highlighter: 2.4
        }
    }

    /// Every style, and `stamp` with every tip.
    static let all = InkStyle.allCases.flatMap { style in
        (style == .stamp ? InkTip.allCases : [.round]).map { tip in
            SpecimenInk(name: style.name(tip: tip), style: style, tip: tip)
        }
    }

    func stroke(width: Double, points: [StrokePoint]) -> InkStroke {
        InkStroke(element: .freehand, style: style, width: width * part, points: points, tip: tip)
    }
}

/// A made-up hand: it passes through given places, fast on long ways and slow in tight turns, and presses on the way down.
private struct SpecimenPen {
    let scale: Double
    let origin: Vector
    var altitude = 1.0
    /// What the pen presses on the way down.
    var force = 0.5

    private static let samplesPerPlace = 6
    private static let millisecondsPerSample = 14.0

    mutating func write(_ places: [(Double, Double)]) -> [StrokePoint] {
        let corners = places.map { origin + Vector($0.0, -$0.1) * scale }
        var points: [StrokePoint] = []
        var pressed = force * 0.3
        for index in corners.indices.dropLast() {
            let (from, to) = (corners[index], corners[index + 1])
            let curve = InterpolatingCubic(
                index > 0 ? corners[index - 1] : from, from, to,
                index + 2 < corners.count ? corners[index + 2] : to)
            for step in 0..<Self.samplesPerPlace {
                let t = Double(step) / Double(Self.samplesPerPlace)
                let place = Self.place(from, curve.control1, curve.control2, to, at: t)
                let down = points.last.map { place.y > $0.y } ?? false
                pressed += ((down ? force : force * 0.35) - pressed) * 0.16
                points.append(point(place, pressed, points.count))
            }
        }
        if let last = corners.last { points.append(point(last, pressed * 0.6, points.count)) }
        return points
    }

    private func point(_ place: Vector, _ force: Double, _ index: Int) -> StrokePoint {
        StrokePoint(
            x: place.x, y: place.y, force: force, altitude: altitude, azimuth: 0.75 + 0.002 * Double(index),
            milliseconds: Double(index) * Self.millisecondsPerSample)
    }

    private static func place(_ a: Vector, _ b: Vector, _ c: Vector, _ d: Vector, at t: Double) -> Vector {
        let ab = a.interpolated(to: b, at: t)
        let bc = b.interpolated(to: c, at: t)
        let cd = c.interpolated(to: d, at: t)
        return ab.interpolated(to: bc, at: t).interpolated(to: bc.interpolated(to: cd, at: t), at: t)
    }
}

/// Small letters made of strokes, for the names on the page: a line's pixels and paths, without a font.
private enum StrokeLetters {
    private static let colour = RGB(0x8A_8F98)

    /// The strokes of a text whose upper left corner is at a place; `height` is that of a letter without ascender.
    static func strokes(of text: String, at corner: Vector, height: Double) -> [PaintedStroke] {
        var x = 0.0
        var strokes: [PaintedStroke] = []
        for letter in text {
            guard let (advance, lines) = letters[letter] else {
                x += 0.7
                continue
            }
            for line in lines {
                let points = line.map { place in
                    StrokePoint(x: corner.x + (x + place.0) * height, y: corner.y + (1 - place.1) * height, force: 1)
                }
                strokes.append(
                    PaintedStroke(
                        stroke: InkStroke(element: .freehand, style: .pen, width: height * 0.17, points: points),
                        colour: colour))
            }
            x += advance
        }
        return strokes
    }

    private typealias Line = [(Double, Double)]
    private static let bowl: Line = [
        (0.7, 0.7), (0.56, 0.95), (0.3, 0.98), (0.06, 0.74), (0.04, 0.3), (0.26, 0.02), (0.54, 0.06), (0.7, 0.3),
    ]
    private static let mirrored: Line = bowl.map { (0.74 - $0.0, $0.1) }
    private static let arch: Line = [(0.04, 0.6), (0.16, 0.88), (0.38, 1), (0.6, 0.84), (0.64, 0.56), (0.64, 0)]

    /// Of each letter its advance and its lines, in heights of a small letter above the line.
    private static let letters: [Character: (Double, [Line])] = [
        "a": (1.0, [bowl, [(0.7, 1), (0.7, 0)]]),
        "b": (1.0, [[(0.04, 1.55), (0.04, 0)], mirrored]),
        "c": (0.88, [[(0.66, 0.82), (0.4, 1), (0.12, 0.84), (0.03, 0.5), (0.12, 0.14), (0.4, 0), (0.66, 0.18)]]),
        "d": (1.0, [bowl, [(0.7, 1.55), (0.7, 0)]]),
        "e": (
            0.96,
            [
                [(0.05, 0.52), (0.7, 0.52)],
                [
                    (0.7, 0.52), (0.62, 0.84), (0.37, 1), (0.1, 0.84), (0.03, 0.5), (0.12, 0.15), (0.4, 0),
                    (0.66, 0.15),
                ],
            ]
        ),
        "g": (1.0, [bowl, [(0.7, 1), (0.7, -0.1), (0.58, -0.38), (0.32, -0.44), (0.08, -0.32)]]),
        "h": (0.96, [[(0.04, 1.55), (0.04, 0)], arch]),
        "i": (0.4, [[(0.08, 1), (0.08, 0)], [(0.08, 1.38)]]),
        "k": (0.88, [[(0.04, 1.55), (0.04, 0)], [(0.56, 1), (0.05, 0.4)], [(0.24, 0.62), (0.62, 0)]]),
        "l": (0.4, [[(0.08, 1.55), (0.08, 0)]]),
        "m": (
            1.5,
            [[(0.04, 1), (0.04, 0)], arch, arch.map { ($0.0 + 0.6, $0.1) }]
        ),
        "n": (0.96, [[(0.04, 1), (0.04, 0)], arch]),
        "o": (
            1.0,
            [
                [
                    (0.37, 1), (0.1, 0.84), (0.03, 0.5), (0.1, 0.16), (0.37, 0), (0.64, 0.16), (0.71, 0.5),
                    (0.64, 0.84),
                    (0.37, 1),
                ]
            ]
        ),
        "p": (1.0, [[(0.04, 1), (0.04, -0.45)], mirrored]),
        "q": (1.0, [bowl, [(0.7, 1), (0.7, -0.45)]]),
        "r": (0.66, [[(0.04, 1), (0.04, 0)], [(0.04, 0.56), (0.14, 0.84), (0.3, 0.98), (0.48, 0.96)]]),
        "s": (
            0.8,
            [
                [
                    (0.55, 0.86), (0.32, 1), (0.08, 0.84), (0.16, 0.6), (0.42, 0.46), (0.58, 0.24), (0.36, 0.01),
                    (0.05, 0.14),
                ]
            ]
        ),
        "t": (0.7, [[(0.22, 1.4), (0.22, 0.2), (0.32, 0.02), (0.5, 0.04)], [(0, 1), (0.48, 1)]]),
        "u": (
            0.96,
            [[(0.04, 1), (0.04, 0.4), (0.12, 0.12), (0.32, 0), (0.54, 0.14), (0.64, 0.4)], [(0.64, 1), (0.64, 0)]]
        ),
        "-": (0.8, [[(0.1, 0.5), (0.55, 0.5)]]),
        "y": (0.88, [[(0.03, 1), (0.34, 0.04)], [(0.64, 1), (0.34, 0.04), (0.2, -0.34), (0, -0.42)]]),
    ]
}
