/// A part of a segment along which neither x nor y turns. It does not cross itself, its box is that of its ends, and it
/// goes away from its start all the time.
struct MonotoneCurve {
    var cubic: Cubic
    let isLine: Bool

    init(_ segment: Segment, from low: Double, to high: Double) {
        cubic = segment.subsegment(from: low, to: high).cubic
        if case .line = segment { isLine = true } else { isLine = false }
    }

    init(line start: Point, _ end: Point) {
        // A line is never asked for its controls.
        cubic = Cubic(start, start, end, end)
        isLine = true
    }

    var segment: Segment {
        isLine ? .line(cubic.p0, cubic.p3) : .cubic(cubic.p0, control1: cubic.p1, control2: cubic.p2, cubic.p3)
    }

    var start: Point { cubic.p0 }
    var end: Point { cubic.p3 }

    var box: Box { Box(lower: lesser(start, end), upper: greater(start, end)) }

    func point(at t: Double) -> Point {
        if t <= 0 { return start }
        if t >= 1 { return end }
        return isLine ? start.interpolated(to: end, at: t) : cubic.point(at: t)
    }

    /// The same curve with ends moved a little, and the controls with them.
    func pinned(_ newStart: Point, _ newEnd: Point) -> MonotoneCurve {
        var copy = self
        copy.cubic.p1 += newStart - start
        copy.cubic.p2 += newEnd - end
        copy.cubic.p0 = newStart
        copy.cubic.p3 = newEnd
        return copy
    }

    /// The signs of the way in x and y: their sum along the curve, the progress, only grows.
    private var way: Point {
        let step = end - start
        return Point(step.x > 0 ? 1 : step.x < 0 ? -1 : 0, step.y > 0 ? 1 : step.y < 0 ? -1 : 0)
    }

    /// The parameter at which the progress is that of a place; for a place on the curve, its parameter. For one beside the
    /// curve a point at most 2.5 times as far away as the nearest one.
    func parameter(of place: Point) -> Double {
        let way = way
        return solve(way.dot(cubic.p0), way.dot(cubic.p1), way.dot(cubic.p2), way.dot(cubic.p3), way.dot(place))
    }

    func parameter(axis: Int, value: Double) -> Double {
        let (low, high) = (start[axis], end[axis])
        if low <= high { return solve(low, cubic.p1[axis], cubic.p2[axis], high, value) }
        return solve(-low, -cubic.p1[axis], -cubic.p2[axis], -high, -value)
    }

    /// Where a Bernstein polynomial that only grows has a value: Newton's method within halved bounds, at most 64 steps.
    private func solve(_ a: Double, _ b: Double, _ c: Double, _ d: Double, _ value: Double) -> Double {
        if value <= a { return 0 }
        if value >= d { return 1 }
        var t = (value - a) / (d - a)
        if isLine { return t }
        var (low, high) = (0.0, 1.0)
        for _ in 0..<64 {
            let s = 1 - t
            let excess = (a * s + b * (3 * t)) * (s * s) + (c * (3 * s) + d * t) * (t * t) - value
            if excess == 0 { return t }
            if excess > 0 { high = t } else { low = t }
            let slope = ((b - a) * (s * s) + (c - b) * (2 * s * t) + (d - c) * (t * t)) * 3
            let next = t - excess / slope
            let last = t
            t = next > low && next < high ? next : (low + high) / 2
            if abs(t - last) <= 1e-16 { return t }
        }
        return t
    }

    /// How the curve crosses a ray from a place to greater coordinates: of x for axis 1 (that of the coordinate which is the
    /// same along the ray), of y for axis 0. The direction is 1 where the curve leads around the place from +x to +y, −1
    /// where it leads the other way, 0 where it does not cross; the distance from the place to the crossing of the whole
    /// line is at least 0, infinite where there is none. Ends count once: the lower one does, the upper one does not.
    @inline(__always)
    func crossing(rightOf place: Point, axis: Int) -> (direction: Int, distance: Double) {
        let (from, to, at) = (start[axis], end[axis], place[axis])
        guard (from <= at) != (to <= at) else { return (0, .infinity) }
        let other = 1 - axis
        let value = place[other]
        // A ray to +y is one to +x of the plane turned back by a right angle, where up is −x.
        let direction = (to > from) == (axis == 1) ? 1 : -1
        if min(start[other], end[other]) > value { return (direction, min(start[other], end[other]) - value) }
        if max(start[other], end[other]) < value { return (0, value - max(start[other], end[other])) }
        let crossing = point(at: parameter(axis: axis, value: at))[other]
        return (crossing > value ? direction : 0, abs(crossing - value))
    }
}

/// Finds where two monotone curves meet.
///
/// Lines meet by formula. Curves are halved as long as their boxes overlap and neither lies beside the fat line of the other
/// (Sederberg and Nishita, 1990, Curve intersection using Bézier clipping); where both are flat, Newton's method makes
/// the meeting exact. Ends on the other curve are found first, and tell whether a stretch is common to both. Of curves side
/// by side many halves overlap: those that are as good as the same are not halved further but meet at their ends. After
/// ``maxPairs`` pairs of halves, the rest are taken for flat.
struct CurveIntersector {
    struct Meeting {
        var first, second: Double
        var place: Point
    }

    private static let maxPairs = 32768
    /// After how many pairs it is looked whether halves are the same.
    private static let fewPairs = 128
    private static let maxMeetings = 512

    /// How near an end must be to the other curve. Along common stretches curves are twice as near, and where they cross four
    /// times: so whatever ends on one of two curves with a common stretch is on the other one, too.
    let tolerance: Double
    private(set) var meetings: [Meeting] = []
    /// How many pairs of halves the last two curves took.
    private(set) var comparedHalves = 0

    private struct Pair {
        var a, b: Cubic
        var aLow, aHigh, bLow, bHigh: Double
    }
    private var stack: [Pair] = []

    init(tolerance: Double) { self.tolerance = tolerance }

    /// Leaves the meetings of two curves in `meetings`. A common stretch is left as the meetings at its ends.
    mutating func intersect(_ a: MonotoneCurve, _ b: MonotoneCurve) {
        meetings.removeAll(keepingCapacity: true)
        comparedHalves = 0
        let (aBox, bBox) = (a.box, b.box)
        guard aBox.inset(by: -tolerance).intersects(bBox) else { return }
        meetAtEnds(a, aBox, b, bBox)
        let shared = lesser(aBox.upper, bBox.upper) - greater(aBox.lower, bBox.lower)
        // Boxes that touch in a corner, as those of neighbours on a contour mostly do.
        if !meetings.isEmpty, shared.x <= tolerance, shared.y <= tolerance { return }
        if meetings.count >= 2, isCommon(a, b) { return }
        if a.isLine, b.isLine {
            meetLines(a, b)
        } else {
            meetCurves(a, b)
            dropInnerMeetings(a, b)
        }
    }

    private mutating func meetAtEnds(_ a: MonotoneCurve, _ aBox: Box, _ b: MonotoneCurve, _ bBox: Box) {
        let (aReach, bReach) = (aBox.inset(by: -tolerance), bBox.inset(by: -tolerance))
        for (place, t) in [(a.start, 0.0), (a.end, 1.0)] where bReach.contains(place) {
            let u = b.parameter(of: place)
            if (b.point(at: u) - place).length <= tolerance { add(Meeting(first: t, second: u, place: place)) }
        }
        for (place, u) in [(b.start, 0.0), (b.end, 1.0)] where aReach.contains(place) {
            let t = a.parameter(of: place)
            if (a.point(at: t) - place).length <= tolerance { add(Meeting(first: t, second: u, place: place)) }
        }
    }

    private mutating func add(_ meeting: Meeting) {
        guard meetings.count < Self.maxMeetings else { return }
        for known in meetings where (known.place - meeting.place).length <= tolerance { return }
        meetings.append(meeting)
    }

    /// Whether the curves stay together between the meetings at their ends.
    private func isCommon(_ a: MonotoneCurve, _ b: MonotoneCurve) -> Bool {
        let low = meetings.map { $0.first }.min() ?? 0
        let high = meetings.map { $0.first }.max() ?? 0
        return isCommon(a, b, from: low, to: high, within: tolerance / 2)
    }

    private func isCommon(
        _ a: MonotoneCurve, _ b: MonotoneCurve, from low: Double, to high: Double, within distance: Double
    ) -> Bool {
        [0.5, 0.21, 0.79].allSatisfy { isNear(a, b, at: low + (high - low) * $0, within: distance) }
    }

    private func isNear(_ a: MonotoneCurve, _ b: MonotoneCurve, at t: Double, within distance: Double) -> Bool {
        let place = a.point(at: t)
        return (b.point(at: b.parameter(of: place)) - place).length <= distance
    }

    /// Leaves the ends alone of stretches along which curves are nearer than the tolerance, as next to where they touch.
    private mutating func dropInnerMeetings(_ a: MonotoneCurve, _ b: MonotoneCurve) {
        guard meetings.count > 2 else { return }
        meetings.sort { $0.first < $1.first }
        var kept = [meetings[0]]
        for index in 1..<meetings.count {
            if index + 1 < meetings.count,
                isCommon(
                    a, b, from: kept[kept.count - 1].first, to: meetings[index + 1].first, within: tolerance / 2)
            {
                continue
            }
            kept.append(meetings[index])
        }
        meetings = kept
    }

    private mutating func meetLines(_ a: MonotoneCurve, _ b: MonotoneCurve) {
        let (d, e) = (a.end - a.start, b.end - b.start)
        let turn = d.cross(e)
        guard turn != 0 else { return }
        let between = b.start - a.start
        let (t, u) = (between.cross(e) / turn, between.cross(d) / turn)
        guard t >= 0, t <= 1, u >= 0, u <= 1 else { return }
        add(Meeting(first: t, second: u, place: a.point(at: t)))
    }

    private mutating func meetCurves(_ a: MonotoneCurve, _ b: MonotoneCurve) {
        stack.removeAll(keepingCapacity: true)
        stack.append(Pair(a: a.cubic, b: b.cubic, aLow: 0, aHigh: 1, bLow: 0, bHigh: 1))
        let flat = tolerance / 16
        while let pair = stack.popLast() {
            comparedHalves += 1
            guard pair.a.bounds.intersects(pair.b.bounds), !liesBeside(pair.a, pair.b), !liesBeside(pair.b, pair.a)
            else { continue }
            let (aBend, bBend) = (pair.a.flatness, pair.b.flatness)
            if (aBend <= flat && bBend <= flat) || comparedHalves > Self.maxPairs {
                meetFlat(pair, a, b)
            } else if comparedHalves > Self.fewPairs, isNear(a, b, at: pair.aLow, within: tolerance / 4),
                isNear(a, b, at: pair.aHigh, within: tolerance / 4),
                isCommon(a, b, from: pair.aLow, to: pair.aHigh, within: tolerance / 4)
            {
                for t in [pair.aLow, pair.aHigh] {
                    let place = a.point(at: t)
                    add(Meeting(first: t, second: b.parameter(of: place), place: place))
                }
            } else if aBend > bBend {
                let (left, right) = pair.a.split()
                let middle = (pair.aLow + pair.aHigh) / 2
                stack.append(
                    Pair(a: left, b: pair.b, aLow: pair.aLow, aHigh: middle, bLow: pair.bLow, bHigh: pair.bHigh))
                stack.append(
                    Pair(a: right, b: pair.b, aLow: middle, aHigh: pair.aHigh, bLow: pair.bLow, bHigh: pair.bHigh))
            } else {
                let (left, right) = pair.b.split()
                let middle = (pair.bLow + pair.bHigh) / 2
                stack.append(
                    Pair(a: pair.a, b: left, aLow: pair.aLow, aHigh: pair.aHigh, bLow: pair.bLow, bHigh: middle))
                stack.append(
                    Pair(a: pair.a, b: right, aLow: pair.aLow, aHigh: pair.aHigh, bLow: middle, bHigh: pair.bHigh))
            }
        }
    }

    /// Whether a curve lies on one side of the fat line around the chord of another.
    private func liesBeside(_ a: Cubic, _ b: Cubic) -> Bool {
        let chord = b.p3 - b.p0
        let normal = Point(-chord.y, chord.x)
        let (b1, b2) = (normal.dot(b.p1 - b.p0), normal.dot(b.p2 - b.p0))
        let (low, high) = (min(0, b1, b2), max(0, b1, b2))
        let slack = tolerance / 16 * chord.length
        let (a0, a1) = (normal.dot(a.p0 - b.p0), normal.dot(a.p1 - b.p0))
        let (a2, a3) = (normal.dot(a.p2 - b.p0), normal.dot(a.p3 - b.p0))
        return min(min(a0, a1), min(a2, a3)) > high + slack || max(max(a0, a1), max(a2, a3)) < low - slack
    }

    /// Where two parts that are as good as lines meet, made exact on the whole curves; of parts side by side, where they are
    /// nearest.
    private mutating func meetFlat(_ pair: Pair, _ a: MonotoneCurve, _ b: MonotoneCurve) {
        let (d, e) = (pair.a.p3 - pair.a.p0, pair.b.p3 - pair.b.p0)
        let turn = d.cross(e)
        let between = pair.b.p0 - pair.a.p0
        var (x, y) = (0.5, 0.5)
        if abs(turn) > 1e-9 * d.length * e.length {
            (x, y) = (between.cross(e) / turn, between.cross(d) / turn)
        } else {
            // Parallel: opposite the middle.
            let square = e.dot(e)
            if square > 0 { y = min(max((pair.a.p0 + d * 0.5 - pair.b.p0).dot(e) / square, 0), 1) }
        }
        // Chords of nearly parallel curves cross far from where the curves do.
        var t = pair.aLow + (pair.aHigh - pair.aLow) * min(max(x, 0), 1)
        var u = pair.bLow + (pair.bHigh - pair.bLow) * min(max(y, 0), 1)
        for _ in 0..<8 {
            let gap = b.cubic.point(at: u) - a.cubic.point(at: t)
            let (v, w) = (a.cubic.derivative(at: t), b.cubic.derivative(at: u))
            let turn = v.cross(w)
            guard abs(turn) > 1e-12 * (v.dot(v) + w.dot(w)) else { break }
            let (nextT, nextU) = (t + gap.cross(w) / turn, u + gap.cross(v) / turn)
            let limitedT = min(max(nextT, max(pair.aLow - 0.01, 0)), min(pair.aHigh + 0.01, 1))
            let limitedU = min(max(nextU, max(pair.bLow - 0.01, 0)), min(pair.bHigh + 0.01, 1))
            let isDone = limitedT == t && limitedU == u
            (t, u) = (limitedT, limitedU)
            if isDone { break }
        }
        let (p, q) = (a.point(at: t), b.point(at: u))
        guard (p - q).length <= tolerance / 4 else { return }
        add(Meeting(first: t, second: u, place: p))
    }
}
