internal import Ink

#if canImport(Glibc)
internal import Glibc  // links the C library's mathematics, which a square root may need
#elseif canImport(Musl)
internal import Musl
#endif

/// Walks along a centre line and covers the pixels of a mask with it.
///
/// Pieces that go on smoothly need no more than to reach a little beyond their ends; corners and the ends of the stroke
/// get a disc. The walk is cut into runs that never turn back, so that no run crosses itself; ``RunUnion`` joins them.
struct StrokeCoverage {
    /// A run ends where the direction is farther than this (as a cosine) from that of its first piece.
    private static let runCosine: Float = 0
    /// The gap on the outer side of a bend may be this deep, in pixels, before it needs a disc.
    private static let mitre: Float = 0.06
    /// Pieces whose radius changes faster than this, in pixels a pixel, are not strips.
    private static let steepest: Float = 0.12
    /// Lines with a smaller radius than this, in pixels, are thin: both edges may fall into one pixel.
    private static let thin: Float = 0.75
    /// The bulge up to which an arc may be taken as straight, in pixels.
    private static let flat: Float = 0.03

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

    private var before = Joint.disc
    private var pending: CentrePiece?
    private var runStart: CentrePiece?

    /// Covers the pixels of the mask `stroke`; the samples are relative to its box. `scratch` is a clear mask of the
    /// same box and clear again afterwards.
    static func raise(
        _ stroke: CoverageRows, scratch: CoverageRows, union: inout RunUnion,
        samples: UnsafeBufferPointer<CentreSample>, translucent: Bool
    ) {
        var coverage = StrokeCoverage(stroke: stroke, rows: stroke, scratch: scratch, translucent: translucent)
        coverage.walk(samples, &union)
    }

    private init(stroke: CoverageRows, rows: CoverageRows, scratch: CoverageRows, translucent: Bool) {
        self.stroke = stroke
        self.rows = rows
        self.scratch = scratch
        self.translucent = translucent
    }

    private mutating func walk(_ samples: UnsafeBufferPointer<CentreSample>, _ union: inout RunUnion) {
        guard let first = samples.first else { return }
        disc(first)
        var from = first
        var index = 1
        while index < samples.count {
            step(from, samples[index], &union)
            from = samples[index]
            index &+= 1
        }
        if let last = pending {
            raise(last, .disc)
            disc(from)
        }
        endRun(at: nil, &union)
    }

    /// Goes to the next sample; arcs that no strip can follow are halved until they are straight.
    private mutating func step(_ from: CentreSample, _ to: CentreSample, _ union: inout RunUnion) {
        guard let piece = CentrePiece(from: from, to: to) else {
            // One disc holds the other, or nearly so; the larger of them is drawn whichever it is.
            if let last = pending { raise(last, .disc) }
            pending = nil
            disc(from)
            disc(to)
            before = .disc
            return
        }
        if to.bulge == 0 || canFollow(piece) {
            add(piece, &union)
        } else if abs(to.bulge) > Self.flat {
            let middle = piece.middle
            var end = to
            end.bulge = middle.bulge
            step(from, middle, &union)
            step(middle, end, &union)
        } else {
            var end = to
            end.bulge = 0
            step(from, end, &union)
        }
    }

    /// Whether an arc can be drawn as one. In a tight one discs cover what lies beyond the centre.
    @inline(__always)
    private func canFollow(_ piece: CentrePiece) -> Bool {
        isStrip(piece) && abs(piece.bulge) < 0.3 * piece.length
            && piece.arcRadius > piece.largestRadius + PieceRows.fringe
    }

    @inline(__always)
    private func isStrip(_ piece: CentrePiece) -> Bool {
        !translucent && piece.smallestRadius >= Self.thin && abs(piece.taper) < Self.steepest
    }

    private mutating func add(_ piece: CentrePiece, _ union: inout RunUnion) {
        var joint = Joint.disc
        if let last = pending {
            joint = Joint(cosine: last.cosine(to: piece), radius: piece.start.radius)
            raise(last, joint)
            if joint.isDisc { disc(piece.start) }
        }
        if let start = runStart, joint.isDisc || turnsBack(start, piece), !translucent {
            endRun(at: joint.isDisc ? nil : piece.start, &union)
            if joint.isDisc { disc(piece.start) }
            runStart = piece
        }
        if runStart == nil { runStart = piece }
        before = joint
        pending = piece
    }

    @inline(__always)
    private func turnsBack(_ start: CentrePiece, _ piece: CentrePiece) -> Bool {
        start.directionX * piece.directionX + start.directionY * piece.directionY < Self.runCosine
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
        var isDisc: Bool
        /// How far both pieces reach beyond the joint: the bend opens a wedge, half of it belongs to each.
        var overlap: Float

        static let disc = Joint(isDisc: true, overlap: 0)

        @inline(__always)
        private init(isDisc: Bool, overlap: Float) {
            self.isDisc = isDisc
            self.overlap = overlap
        }

        @inline(__always)
        init(cosine: Float, radius: Float) {
            // The square of the tangent of half the angle; the mitre sticks out by half of that times the radius.
            let wedge = (1 - cosine).raised(to: 0) / (1 + cosine).raised(to: 1e-6)
            guard radius * wedge < StrokeCoverage.mitre * 2 else {
                self = .disc
                return
            }
            // A little more, so that no pixel falls between two pieces by rounding.
            self.init(isDisc: false, overlap: (radius + PieceRows.fringe) * wedge.squareRoot() + 0.01)
        }
    }

    @inline(__always)
    private mutating func raise(_ piece: CentrePiece, _ after: Joint) {
        let overlap = before.overlap + after.overlap + piece.skew
        touch(piece.start, overlap)
        touch(piece.end, overlap)
        if !isStrip(piece) {
            CapsuleCoverage.raise(piece, rows, before: before.overlap, after: after.overlap)
        } else if piece.bulge != 0 {
            StripCoverage.raiseArc(piece, rows, before: before.overlap, after: after.overlap)
        } else {
            StripCoverage.raiseLine(piece, rows, before: before.overlap, after: after.overlap)
        }
    }

    /// Remembers which rows the run has come to.
    @inline(__always)
    private mutating func touch(_ sample: CentreSample, _ overlap: Float) {
        let reach = sample.radius + abs(sample.bulge) + overlap + 2
        top = top.lowered(to: sample.y - reach)
        bottom = bottom.raised(to: sample.y + reach)
    }

    private mutating func disc(_ sample: CentreSample) {
        touch(sample, 0)
        DiscCoverage(sample).raise(rows)
    }
}
