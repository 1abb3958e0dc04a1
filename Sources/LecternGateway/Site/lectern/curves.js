/**
 * The centre line of a stroke: Bézier segments, with a width and an opacity at the end of each.
 *
 * The same curves as the server's, style by style; all numbers are board units. A sink has the methods
 * `begin(x, y, width, opacity)`, `line(x, y, …)`, `quadratic(cx, cy, x, y, …)` and
 * `cubic(ax, ay, bx, by, x, y, …)`, each ending with the width and the opacity there; both change linearly with the
 * parameter of a segment. Where `quadratic` gets one more number, the width at the control point, the width is quadratic,
 * too. A marker, whose ink is even, has the direction of its edge in place of the opacity, in radians.
 *
 * @module
 */

/** What is drawn: the values of a message's `e`. */
export const Element = Object.freeze({ freehand: 0, line: 1, ellipse: 2, rectangle: 3, eraser: 4, image: 5, lasso: 6 });

/** The names of the ink styles that can be drawn. */
export const styles = Object.freeze(["smooth", "quadratic", "bspline", "calligraphy", "pen", "stamp", "pencil",
    "stamp-square", "stamp-marker", "stamp-highlighter"]);

/** 4/3 · (√2 − 1): a cubic with such handles meets a quarter of a circle in its middle as well. */
const quadrantHandle = 0.5522847498307934;

/**
 * Sends the whole centre line of a stroke to a sink. A stroke is one `begin` and any number of segments; a `begin` alone
 * is a dot. No points: nothing is sent.
 *
 * @param {{element: number, width: number, points: {x: number, y: number, f?: number, m?: number}[]}} stroke
 * @param {string} style one of {@link styles}; an unknown one is drawn as `smooth`
 * @param {object} sink receives the segments
 * @param {number} [unit] a 1024th of the board's longer side, in board units: what `calligraphy` and `pencil` measure speeds in
 */
export function trace(stroke, style, sink, unit = 1) {
    const { element, width, points } = stroke;
    // A kind that came after this client is not drawn; it counts in the digest all the same.
    if (points.length === 0 || !(element >= Element.freehand && element <= Element.eraser)) return;
    switch (element) {
        case Element.line:
        case Element.ellipse:
        case Element.rectangle:
            return traceShape(element, width, points[0], points[points.length - 1], sink);
    }
    switch (style) {
        case "quadratic":
            return traceMidpoints(points.map((point) => sample(point, width, 1)), sink);
        case "bspline":
            return traceBSpline(points, width, sink);
        case "calligraphy":
            return traceCalligraphy(points, width, unit, sink);
        case "pen":
        case "stamp":
        case "stamp-square":
            // An eraser has to remove everything, so it is opaque.
            return tracePen(points, ballPen(width, element === Element.eraser ? 1 : 0.7), width, sink);
        case "stamp-marker":
        case "stamp-highlighter":
            // An eraser is an even line.
            if (element === Element.eraser) return tracePen(points, ballPen(width, 1), width, sink);
            return tracePen(points, feltTip(width, style === "stamp-marker"), width, sink);
        case "pencil":
            return tracePen(points, pencilLead(width, unit, element === Element.eraser), width, sink);
        default:
            return traceSmooth(points, width, sink);
    }
}

function sample(point, width, opacity) {
    return { x: point.x, y: point.y, width, opacity };
}

function distance(a, b) {
    const [x, y] = [b.x - a.x, b.y - a.y];
    return Math.sqrt(x * x + y * y);
}

/** Lines, rectangles and ellipses: the first and the last point alone count. */
function traceShape(element, width, first, last, sink) {
    if (first.x === last.x && first.y === last.y) return sink.begin(first.x, first.y, width, 1);
    if (element === Element.ellipse) return traceEllipse(width, first, last, sink);
    sink.begin(first.x, first.y, width, 1);
    if (element === Element.line) return sink.line(last.x, last.y, width, 1);
    sink.line(last.x, first.y, width, 1);
    sink.line(last.x, last.y, width, 1);
    sink.line(first.x, last.y, width, 1);
    sink.line(first.x, first.y, width, 1);
}

function traceEllipse(width, first, last, sink) {
    const x = (first.x + last.x) / 2;
    const y = (first.y + last.y) / 2;
    const across = [(last.x - first.x) / 2, 0];
    const down = [0, (last.y - first.y) / 2];
    const corners = [across, down, [-across[0], 0], [0, -down[1]], across];
    sink.begin(x + across[0], y, width, 1);
    for (let i = 0; i < 4; i++) {
        const [s, t] = [corners[i], corners[i + 1]];
        sink.cubic(
            x + s[0] + t[0] * quadrantHandle, y + s[1] + t[1] * quadrantHandle,
            x + t[0] + s[0] * quadrantHandle, y + t[1] + s[1] * quadrantHandle,
            x + t[0], y + t[1], width, 1);
    }
}

/** `smooth`: cubics over every fifth point, whose joints are midpoints; constant width. */
function traceSmooth(points, width, sink) {
    sink.begin(points[0].x, points[0].y, width, 1);
    let window = [points[0]];
    for (let i = 1; i < points.length; i++) {
        const point = points[i];
        if (window.length < 4) {
            window.push(point);
            continue;
        }
        const joint = { x: (window[2].x + point.x) / 2, y: (window[2].y + point.y) / 2 };
        sink.cubic(window[1].x, window[1].y, window[2].x, window[2].y, joint.x, joint.y, width, 1);
        window = [joint, point];
    }
    const [, a, b, c] = window;
    if (c) sink.cubic(a.x, a.y, b.x, b.y, c.x, c.y, width, 1);
    else if (b) sink.quadratic(a.x, a.y, b.x, b.y, width, 1);
    else if (a) sink.line(a.x, a.y, width, 1);
}

/** Quadratics between the midpoints of neighbouring samples, from the first sample to the last. */
function traceMidpoints(samples, sink, isSwelling = false) {
    const first = samples[0];
    const last = samples[samples.length - 1];
    sink.begin(first.x, first.y, first.width, first.opacity);
    if (samples.length === 2) sink.line(last.x, last.y, last.width, last.opacity);
    for (let i = 1; i < samples.length - 1; i++) {
        const [control, next] = [samples[i], samples[i + 1]];
        const controlWidth = isSwelling ? [control.width] : [];
        if (i === samples.length - 2) {
            sink.quadratic(control.x, control.y, next.x, next.y, next.width, next.opacity, ...controlWidth);
        } else {
            sink.quadratic(
                control.x, control.y, (control.x + next.x) / 2, (control.y + next.y) / 2,
                (control.width + next.width) / 2, (control.opacity + next.opacity) / 2, ...controlWidth);
        }
    }
}

/** `bspline`: a uniform cubic B-spline; the farther the points lie apart, the thinner the line. */
function traceBSpline(points, width, sink) {
    const samples = points.map((point, i) => {
        // The first point has the width of the second.
        const gap = i > 0 ? distance(points[i - 1], point) : points.length > 1 ? distance(point, points[1]) : null;
        return sample(point, gap === null ? width : width * (0.5 + (0.5 * 8) / (8 + gap)), 1);
    });
    const count = samples.length;
    sink.begin(samples[0].x, samples[0].y, samples[0].width, 1);
    if (count === 2) return sink.line(samples[1].x, samples[1].y, samples[1].width, 1);
    if (count === 3) return sink.quadratic(samples[1].x, samples[1].y, samples[2].x, samples[2].y, samples[2].width, 1);
    if (count === 1) return;
    // Both ends count three times, so that the curve reaches them.
    const at = (i) => samples[Math.min(Math.max(i, 0), count - 1)];
    for (let i = -2; i < count; i++) {
        if (i === count - 1) break;
        const [q0, q1, q2, q3] = [at(i), at(i + 1), at(i + 2), at(i + 3)];
        sink.cubic(
            q1.x + (q2.x - q1.x) / 3, q1.y + (q2.y - q1.y) / 3, q2.x + (q1.x - q2.x) / 3, q2.y + (q1.y - q2.y) / 3,
            q2.x + (q1.x - q2.x + (q3.x - q2.x)) / 6, q2.y + (q1.y - q2.y + (q3.y - q2.y)) / 6, q2.width, 1);
    }
}

/** Speed from point to point, in board units a second; points without times count as 60 a second. */
class SpeedEstimator {
    #last = null;

    /** The speed from the last point to this one, null for the first. */
    speed(point) {
        const last = this.#last;
        this.#last = point;
        if (!last) return null;
        const seconds = (point.m - last.m) / 1000;
        return distance(last, point) / (seconds > 0 ? seconds : 1 / 60);
    }
}

/** `calligraphy`: the faster or harder the pen, the wider the line. Points closer than 1.5 are left out. */
function traceCalligraphy(points, width, unit, sink) {
    const estimator = new SpeedEstimator();
    const rawSize = (point, speed) =>
        point.f !== undefined ? 1 + 39 * point.f : Math.min(Math.max((speed ?? 0) / unit / 166, 1), 40);
    const widthOf = (size, point) => {
        const power = point.f !== undefined ? (size / 14) ** 2 : (size / 1.5) ** 10;
        return width * (1.6 - 1.2 / (1 + power));
    };
    const kept = [];
    let skipped = null;
    let size = 1;
    for (const point of points) {
        const last = kept[kept.length - 1];
        if (last && distance(last, point) < 1.5 * unit) {
            skipped = point;
            continue;
        }
        skipped = null;
        const raw = rawSize(point, estimator.speed(point));
        if (kept.length > 0) size = kept.length > 1 ? 0.2 * raw + 0.8 * size : raw;
        kept.push({ x: point.x, y: point.y, f: point.f, width: widthOf(size, point), opacity: 1 });
    }
    const [first, second] = kept;
    if (!second) {
        sink.begin(first.x, first.y, width, 1);
        if (skipped) sink.line(skipped.x, skipped.y, width, 1);
        return;
    }
    // The first point has no speed of its own.
    first.width = first.f !== undefined ? widthOf(rawSize(first, null), first) : second.width;
    if (skipped) kept.push(sample(skipped, kept[kept.length - 1].width, 1));
    traceMidpoints(kept, sink, true);
}

/** The pressure, 0 … 1, of a pen that does not tell its force. */
function pressureOf(speed) {
    return (3000 - Math.min(Math.max(speed, 20), 3000)) / (3000 - 20);
}

/** `pen`: the slower or harder the pen, the wider and darker the line. */
function ballPen(width, leastOpacity) {
    return ({ f }, speed) => {
        const pressure = f ?? pressureOf(speed);
        return [width * (0.5 + 0.5 * pressure), leastOpacity + pressure * (1 - leastOpacity)];
    };
}

/** The flat tips of `stamp`, of one width; the edge of a marker lies across the azimuth, or rises at 45° without one. */
function feltTip(width, isTurned) {
    let [turn, hasTurn] = [-Math.PI / 4, false];
    const nibAt = ({ z }) => {
        if (!isTurned) return [width, 1];
        if (z !== undefined) {
            const edge = (z % Math.PI) + Math.PI / 2;
            // An edge has no ends to tell apart: it turns by the lesser angle.
            turn = hasTurn ? edge + Math.round((turn - edge) / Math.PI) * Math.PI : edge;
            hasTurn = true;
        }
        return [width, turn];
    };
    return Object.assign(nibAt, { dot: nibAt });
}

/** `pencil`: the tip of a lead, or its side, wide and light, where the pencil is held flatter than 30°. */
function pencilLead(width, unit, isErasing) {
    const [shading, flat] = [Math.PI / 6, 0.25];
    let side = null;
    return ({ f, i, z }, speed, dx, dy) => {
        const effort = f !== undefined ? 3 * f : pressureOf(speed / unit);
        const lean = i !== undefined ? Math.min(Math.max((shading - i) / (shading - flat), 0), 1) : 0;
        const sine =
            z !== undefined ? Math.abs(dx * Math.sin(z) - dy * Math.cos(z)) / Math.sqrt(dx * dx + dy * dy) : 0.7;
        side = side === null ? lean * sine : 0.5 * lean * sine + 0.5 * side;
        const opacity = (0.5 + 0.4 * Math.min(effort, 1)) * (1 - 0.65 * lean);
        return [width * (Math.min(Math.max(effort, 0.4), 1.5) + 6 * side), isErasing ? 1 : opacity];
    };
}

/** A curve through all points; `nibAt` has the width and the opacity at each. */
function tracePen(points, nibAt, width, sink) {
    const estimator = new SpeedEstimator();
    const samples = [];
    let before = null;
    for (const point of points) {
        // A repeated position has no direction.
        if (before && before.x === point.x && before.y === point.y) continue;
        const speed = estimator.speed(point);
        if (before) {
            const [dx, dy] = [point.x - before.x, point.y - before.y];
            // The first point gets its speed and its direction from the second.
            if (samples.length === 0) samples.push(sample(before, ...nibAt(before, speed, dx, dy)));
            samples.push(sample(point, ...nibAt(point, speed, dx, dy)));
        }
        before = point;
    }
    const [first, second, third] = samples;
    if (!first) return sink.begin(before.x, before.y, ...(nibAt.dot?.(points[0]) ?? [width, 1]));
    sink.begin(first.x, first.y, first.width, first.opacity);
    if (!third) return sink.line(second.x, second.y, second.width, second.opacity);
    if (samples.length === 3) {
        // The quadratic through three points, cut at the one in the middle.
        const x = second.x * 2 - (first.x + third.x) / 2;
        const y = second.y * 2 - (first.y + third.y) / 2;
        sink.quadratic((first.x + x) / 2, (first.y + y) / 2, second.x, second.y, second.width, second.opacity);
        sink.quadratic((x + third.x) / 2, (y + third.y) / 2, third.x, third.y, third.width, third.opacity);
        return;
    }
    for (let i = 0; i < samples.length - 1; i++) {
        const [p1, p2] = [samples[i], samples[i + 1]];
        const [p0, p3] = [samples[i - 1] ?? p1, samples[i + 2] ?? p2];
        const [a, b] = interpolatingControls(p0, p1, p2, p3);
        sink.cubic(a.x, a.y, b.x, b.y, p2.x, p2.y, p2.width, p2.opacity);
    }
}

/** The controls of the cubic from p1 to p2 of a curve through all points (Anti-Grain Geometry, smoothing 0.7). */
function interpolatingControls(p0, p1, p2, p3) {
    const smoothing = 0.7;
    const [l1, l2, l3] = [distance(p0, p1), distance(p1, p2), distance(p2, p3)];
    if (l2 === 0) return [p1, p2];
    const k1 = l1 / (l1 + l2);
    const k2 = l2 / (l2 + l3);
    const along = (axis) => {
        const c1 = (p0[axis] + p1[axis]) / 2;
        const c2 = (p1[axis] + p2[axis]) / 2;
        const c3 = (p2[axis] + p3[axis]) / 2;
        const m1 = c1 + (c2 - c1) * k1;
        const m2 = c2 + (c3 - c2) * k2;
        return [p1[axis] + (c2 - m1) * smoothing, p2[axis] + (c2 - m2) * smoothing];
    };
    const [ax, bx] = along("x");
    const [ay, by] = along("y");
    return [{ x: ax, y: ay }, { x: bx, y: by }];
}
