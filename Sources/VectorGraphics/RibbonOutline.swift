internal import Ink

/// Turns a flattened centre line of changing width into contours whose union, under nonzero winding, is the stroke.
///
/// A run of segments becomes one ribbon: along its left side, round the last disc, back along the right side, and round
/// the first disc. A gentle join has one corner on either side. At any other join the outer side goes round the disc,
/// and the inner side through its centre. Such a contour is a sum of quadrilaterals, sectors and half discs that are all
/// wound the same way, so nothing cancels out where the stroke turns back or crosses itself. A segment whose width
/// changes so fast that its sides are not parallel becomes a contour of its own.
struct RibbonOutline {
    /// The greatest distance between this outline and the true one, in board units.
    let tolerance: Double

    /// Sends the contours of a chain of discs; none for an empty chain.
    func trace(_ discs: [Disc], into sink: inout some ContourSink) {
        guard let first = discs.first else { return }
        guard discs.count > 1 else { return sink.disc(around: first.centre, radius: first.radius) }
        var run: [RibbonSegment] = []
        /// The last disc that is drawn already, or will be with the run.
        var covered: Disc?
        for (from, to) in zip(discs, discs.dropFirst()) {
            guard let segment = RibbonSegment(from: from, to: to) else {
                let larger = from.radius >= to.radius ? from : to
                if covered != larger { sink.disc(around: larger.centre, radius: larger.radius) }
                covered = larger
                trace(run, into: &sink)
                run.removeAll(keepingCapacity: true)
                continue
            }
            if let last = run.last, !isParallel(last) || !isParallel(segment) {
                trace(run, into: &sink)
                run.removeAll(keepingCapacity: true)
            }
            run.append(segment)
            covered = to
        }
        trace(run, into: &sink)
    }

    /// Whether the common tangents of both discs touch them at the ends of the diameter across, to within the tolerance.
    private func isParallel(_ segment: RibbonSegment) -> Bool {
        max(segment.from.radius, segment.to.radius) * segment.taper * segment.taper < 2 * tolerance
    }

    private func trace(_ run: [RibbonSegment], into sink: inout some ContourSink) {
        guard let first = run.first, let last = run.last else { return }
        if run.count == 1 { return capsule(first, into: &sink) }
        sink.move(to: first.from.centre + first.left * first.from.radius)
        for (segment, next) in zip(run, run.dropFirst()) {
            RibbonJoin(segment, next, tolerance).traceLeft(into: &sink)
        }
        sink.line(to: last.to.centre + last.left * last.to.radius)
        cap(last.to, from: last.left, over: last.forward, to: -last.left, into: &sink)
        for index in stride(from: run.count - 2, through: 0, by: -1) {
            RibbonJoin(run[index], run[index + 1], tolerance).traceRight(into: &sink)
        }
        sink.line(to: first.from.centre - first.left * first.from.radius)
        cap(first.from, from: -first.left, over: -first.forward, to: first.left, into: &sink)
        sink.close()
    }

    /// The convex hull of two discs: both common tangents, and a cap round either disc.
    private func capsule(_ segment: RibbonSegment, into sink: inout some ContourSink) {
        let along = segment.forward * segment.taper
        let side = segment.left * (1 - segment.taper * segment.taper).squareRoot()
        let left = along + side
        let right = along - side
        sink.move(to: segment.from.centre + left * segment.from.radius)
        sink.line(to: segment.to.centre + left * segment.to.radius)
        cap(segment.to, from: left, over: segment.forward, to: right, into: &sink)
        sink.line(to: segment.from.centre + right * segment.from.radius)
        cap(segment.from, from: right, over: -segment.forward, to: left, into: &sink)
        sink.close()
    }

    private func cap(
        _ disc: Disc, from start: Vector, over top: Vector, to end: Vector, into sink: inout some ContourSink
    ) {
        sink.arc(around: disc.centre, radius: disc.radius, from: start, to: top)
        sink.arc(around: disc.centre, radius: disc.radius, from: top, to: end)
    }
}

/// Two neighbouring discs of which neither contains the other.
struct RibbonSegment {
    let from: Disc
    let to: Disc
    /// Unit vector from the first centre to the second.
    let forward: Vector
    /// Distance of the centres in board units.
    let length: Double

    /// `nil` when one disc contains the other, or nearly: the larger one covers both.
    init?(from: Disc, to: Disc) {
        let way = to.centre - from.centre
        let length = way.length
        guard length * 0.999 > abs(to.radius - from.radius), length > 1e-9 else { return nil }
        self.from = from
        self.to = to
        self.length = length
        forward = way / length
    }

    /// Unit vector to the left of ``forward``, as seen on the screen.
    var left: Vector { Vector(forward.y, -forward.x) }

    /// Decrease of the radius a unit of length: the cosine of the angle between ``forward`` and the radii to the points
    /// where the common tangents touch.
    var taper: Double { (from.radius - to.radius) / length }
}

/// The join of two segments of a ribbon, on either side.
struct RibbonJoin {
    private let a: RibbonSegment
    private let b: RibbonSegment
    /// Whether one corner on either side, halfway between both, is within the tolerance.
    private let isGentle: Bool
    private let turnsRight: Bool

    /// - Parameter tolerance: the greatest distance of an outer corner from the disc's edge, in board units.
    init(_ a: RibbonSegment, _ b: RibbonSegment, _ tolerance: Double) {
        self.a = a
        self.b = b
        let radius = a.to.radius
        let cosine = a.forward.dot(b.forward)
        let sine = a.forward.cross(b.forward)
        turnsRight = sine >= 0
        // The corner is inside the disc by the sagitta of half the turn. The inner sides are shorter by its tangent, and
        // must not fold over.
        let sagitta = radius * (1 - (max(1 + cosine, 0) * 0.5).squareRoot())
        isGentle =
            cosine > 0 && sagitta < tolerance && radius * abs(sine) / (1 + cosine) < 0.45 * min(a.length, b.length)
    }

    /// Continues on the left side, from `a` to `b`.
    func traceLeft(into sink: inout some ContourSink) {
        trace(from: a.left, to: b.left, isOuter: turnsRight, into: &sink)
    }

    /// Continues on the right side, from `b` back to `a`.
    func traceRight(into sink: inout some ContourSink) {
        trace(from: -b.left, to: -a.left, isOuter: !turnsRight, into: &sink)
    }

    private func trace(from start: Vector, to end: Vector, isOuter: Bool, into sink: inout some ContourSink) {
        let centre = a.to.centre
        let radius = a.to.radius
        guard !isGentle else {
            let middle = start + end
            return sink.line(to: centre + middle * (radius / middle.length))
        }
        sink.line(to: centre + start * radius)
        if isOuter {
            // This points outwards even when the line turns right back and both sides are opposite.
            let outward = a.forward - b.forward
            let middle = outward / max(outward.length, 1e-9)
            sink.arc(around: centre, radius: radius, from: start, to: middle)
            sink.arc(around: centre, radius: radius, from: middle, to: end)
        } else {
            sink.line(to: centre)
            sink.line(to: centre + end * radius)
        }
    }
}

/// Receives closed contours, all wound clockwise on the screen.
protocol ContourSink {
    /// Begins a contour.
    mutating func move(to point: Vector)
    /// Draws a straight edge.
    mutating func line(to point: Vector)
    /// Draws an arc of a circle, clockwise on the screen, at most a quarter.
    mutating func arc(to point: Vector, around centre: Vector, radius: Double)
    /// Closes the contour.
    mutating func close()
}

extension ContourSink {
    /// Draws an arc, clockwise, from one direction to another that is less than half a turn away.
    mutating func arc(around centre: Vector, radius: Double, from start: Vector, to end: Vector) {
        if start.dot(end) < -1e-9 {
            let middle = start + end
            let length = middle.length
            guard length > 1e-9 else { return }
            arc(to: centre + middle * (radius / length), around: centre, radius: radius)
        }
        arc(to: centre + end * radius, around: centre, radius: radius)
    }

    /// Adds a whole disc as a contour.
    mutating func disc(around centre: Vector, radius: Double) {
        move(to: centre + Vector(radius, 0))
        arc(to: centre + Vector(0, radius), around: centre, radius: radius)
        arc(to: centre - Vector(radius, 0), around: centre, radius: radius)
        arc(to: centre - Vector(0, radius), around: centre, radius: radius)
        arc(to: centre + Vector(radius, 0), around: centre, radius: radius)
        close()
    }
}
