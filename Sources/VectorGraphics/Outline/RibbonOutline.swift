internal import Ink

/// Turns a flattened centre line of changing width into contours whose union, under nonzero winding, is the stroke.
///
/// A run of discs becomes one ribbon: along its left side, round the last disc, back along the right side and round the
/// first one. Gentle bends have one corner on either side; at others the outer side goes round the disc and the inner one
/// by its centre. Such a contour is a sum of quadrilaterals, sectors and half discs that are all wound the same way, so
/// that nothing can cancel out however often the stroke turns back and crosses itself. Steps on which the width changes
/// so fast that the sides cannot be perpendicular to the ends are contours of their own.
struct RibbonOutline {
    /// How far the outline may be from the true one, in board units.
    let tolerance: Double

    /// Sends the contours of all discs, of which there is at least one.
    func trace(_ discs: [Disc], into sink: inout some ContourSink) {
        guard let first = discs.first else { return }
        guard discs.count > 1 else { return sink.disc(around: first.centre, radius: first.radius) }
        var run: [DiscStep] = []
        /// The disc up to which everything is drawn, or will be with the run.
        var covered: Disc?
        for (from, to) in zip(discs, discs.dropFirst()) {
            guard let step = DiscStep(from: from, to: to) else {
                let larger = from.radius >= to.radius ? from : to
                if covered != larger { sink.disc(around: larger.centre, radius: larger.radius) }
                covered = larger
                trace(run, into: &sink)
                run.removeAll(keepingCapacity: true)
                continue
            }
            if let last = run.last, !isParallel(last) || !isParallel(step) {
                trace(run, into: &sink)
                run.removeAll(keepingCapacity: true)
            }
            run.append(step)
            covered = to
        }
        trace(run, into: &sink)
    }

    /// Whether the common tangents of both discs touch them so near to the ends of the diameter across that no one
    /// sees the difference.
    private func isParallel(_ step: DiscStep) -> Bool {
        max(step.from.radius, step.to.radius) * step.taper * step.taper < 2 * tolerance
    }

    private func trace(_ run: [DiscStep], into sink: inout some ContourSink) {
        guard let first = run.first, let last = run.last else { return }
        if run.count == 1 { return capsule(first, into: &sink) }
        sink.move(to: first.from.centre + first.left * first.from.radius)
        for (step, next) in zip(run, run.dropFirst()) {
            Bend(step, next, tolerance).traceLeft(into: &sink)
        }
        sink.line(to: last.to.centre + last.left * last.to.radius)
        cap(last.to, from: last.left, over: last.forward, to: -last.left, into: &sink)
        for index in stride(from: run.count - 2, through: 0, by: -1) {
            Bend(run[index], run[index + 1], tolerance).traceRight(into: &sink)
        }
        sink.line(to: first.from.centre - first.left * first.from.radius)
        cap(first.from, from: -first.left, over: -first.forward, to: first.left, into: &sink)
        sink.close()
    }

    /// The convex hull of two discs: both common tangents and what lies beyond them of either disc.
    private func capsule(_ step: DiscStep, into sink: inout some ContourSink) {
        let along = step.forward * step.taper
        let side = step.left * (1 - step.taper * step.taper).squareRoot()
        let left = along + side
        let right = along - side
        sink.move(to: step.from.centre + left * step.from.radius)
        sink.line(to: step.to.centre + left * step.to.radius)
        cap(step.to, from: left, over: step.forward, to: right, into: &sink)
        sink.line(to: step.from.centre + right * step.from.radius)
        cap(step.from, from: right, over: -step.forward, to: left, into: &sink)
        sink.close()
    }

    private func cap(
        _ disc: Disc, from start: Vector, over top: Vector, to end: Vector, into sink: inout some ContourSink
    ) {
        sink.arc(around: disc.centre, radius: disc.radius, from: start, to: top)
        sink.arc(around: disc.centre, radius: disc.radius, from: top, to: end)
    }
}
