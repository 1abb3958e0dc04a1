internal import Ink

#if canImport(Glibc)
internal import Glibc  // links the C library's mathematics, which a square root may need
#elseif canImport(Musl)
internal import Musl
#endif

#if canImport(Glibc)
internal import Glibc  // links the C library's mathematics, which a square root may need
#elseif canImport(Musl)
internal import Musl
#endif

/// Walks along a centre line and covers the pixels of a mask with it.
///
/// Gentle bends need nothing but pieces that reach a little beyond their ends; sharp corners and the ends of the
/// stroke get a disc. The walk is cut into runs that never turn back, so that no run crosses itself; ``RunUnion`` joins
/// them.
struct StrokeCoverage {
    /// Bends with a smaller cosine than this (53°) are corners.
    private static let cornerCosine: Float = 0.6
    /// A mitre may stick out of the round joint by this many pixels.
    private static let mitre: Float = 0.06
    /// Pieces whose radius changes faster than this, in pixels a pixel, are not strips.
    private static let steepest: Float = 0.12

    /// A run ends where the direction is farther than this (as a cosine) from that of its first piece.
    private static let runCosine: Float = 0

    /// The mask of the whole stroke.
    private let stroke: CoverageRows
    /// The mask of the current run; for the first run that of the stroke.
    private var rows: CoverageRows
    private let scratch: CoverageRows
    private let translucent: Bool
    private var top = Float.infinity
    private var bottom = -Float.infinity
    /// Where the current run continues a smooth curve.
    private var seam: RunUnion.Seam?

    /// Covers the pixels of the mask `stroke`; the samples are relative to its box. `scratch` is a clear mask of the
    /// same box and clear again afterwards.
    static func raise(
        _ stroke: CoverageRows, scratch: CoverageRows, union: inout RunUnion,
        samples: UnsafeBufferPointer<CentreSample>, translucent: Bool
    ) {
        var coverage = StrokeCoverage(stroke: stroke, rows: stroke, scratch: scratch, translucent: translucent)
        coverage.walk(samples, &union)
    }

    private mutating func walk(_ samples: UnsafeBufferPointer<CentreSample>, _ union: inout RunUnion) {
        guard let first = samples.first else { return }
        disc(first)
        var before = Joint.disc
        var pending: CapsuleCoverage?
        var runStart: CapsuleCoverage?
        var from = first
        var index = 1
        while index < samples.count {
            let to = samples[index]
            index &+= 1
            guard let piece = CapsuleCoverage(from: from, to: to) else {
                // One disc holds the other, or nearly so; the larger of them is drawn whichever it is.
                if let last = pending { raise(last, before, .disc) }
                pending = nil
                disc(from)
                disc(to)
                before = .disc
                from = to
                continue
            }
            var joint = Joint.disc
            if let last = pending {
                joint = Joint(cosine: last.cosine(to: piece), radius: from.radius)
                raise(last, before, joint)
                if joint.kind == .disc { disc(from) }
            }
            if let start = runStart, joint.kind == .disc || start.cosine(to: piece) < Self.runCosine, !translucent {
                endRun(at: joint.kind == .disc ? nil : from, &union)
                if joint.kind == .disc { disc(from) }
                runStart = piece
            }
            if runStart == nil { runStart = piece }
            before = joint
            pending = piece
            from = to
        }
        if let last = pending {
            raise(last, before, .disc)
            disc(from)
        }
        endRun(at: nil, &union)
    }

    /// Joins the run to the stroke and begins the next one; `seam` is where a smooth curve was cut.
    private mutating func endRun(at seam: CentreSample?, _ union: inout RunUnion) {
        if rows.bytes != stroke.bytes {
            union.join(rows, to: stroke, rows: rows.rows(from: top, to: bottom), seam: self.seam)
        }
        self.seam = seam.map { RunUnion.Seam(x: $0.x, y: $0.y, radius: $0.radius + 2) }
        rows = scratch
        top = .infinity
        bottom = -.infinity
    }

    /// What closes the outer side of a bend.
    private struct Joint {
        enum Kind { case mitre, round, disc }
        var kind: Kind
        /// How far both pieces reach beyond the joint: the bend opens a wedge, half of it belongs to each.
        var overlap: Float

        static let disc = Joint(kind: .disc, overlap: 0)

        @inline(__always)
        init(kind: Kind, overlap: Float) {
            self.kind = kind
            self.overlap = overlap
        }

        @inline(__always)
        init(cosine: Float, radius: Float) {
            guard cosine > StrokeCoverage.cornerCosine else {
                self = .disc
                return
            }
            let wedge = (1 - cosine).raised(to: 0) / (1 + cosine)
            kind = radius * wedge < StrokeCoverage.mitre * 2 ? .mitre : .round
            // A little more, so that no pixel falls between two pieces by rounding.
            overlap = (radius + CapsuleRows.fringe) * wedge.squareRoot() + 0.01
        }
    }

    @inline(__always)
    private mutating func raise(_ piece: CapsuleCoverage, _ before: Joint, _ after: Joint) {
        touch(piece.start)
        touch(piece.end)
        let start = piece.start.radius
        let end = piece.end.radius
        let isStrip =
            !translucent && before.kind != .round && after.kind != .round && (start < end ? start : end) >= 0.75
            && abs(start - end) < Self.steepest * piece.length
        if isStrip {
            StripCoverage(piece).raise(rows, before: before.overlap, after: after.overlap)
        } else {
            piece.raise(rows, before: before.overlap, after: after.overlap)
        }
    }

    /// Remembers which rows the run has come to.
    @inline(__always)
    private mutating func touch(_ sample: CentreSample) {
        let reach = sample.radius + 2
        top = top.lowered(to: sample.y - reach)
        bottom = bottom.raised(to: sample.y + reach)
    }

    private mutating func disc(_ sample: CentreSample) {
        touch(sample)
        DiscCoverage(sample: sample).raise(rows)
    }
}
