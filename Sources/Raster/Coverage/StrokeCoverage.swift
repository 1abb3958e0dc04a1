internal import Ink

/// Walks along a centre line and covers the pixels of a mask with it.
///
/// The walk is cut into runs that turn by a third at most, so that no run crosses itself: the covered part of a pixel is then
/// the area within the outline of the run. ``RunUnion`` joins the runs. Where a smooth curve is cut, both runs end
/// straight across the line and fit together; at corners both have round ends.
struct StrokeCoverage {
    /// A run ends where the direction is farther than this (as a cosine) from that of its first piece: a third of a
    /// turn, after which its ends still lead away from each other. Longer runs mean fewer to join.
    private static let runCosine: Float = -0.5
    /// A run ends at corners that are sharper than this (as a cosine).
    private static let cornerCosine: Float = 0.6

    private let surfaces: Surfaces
    /// The mask of the current run; for the first run that of the stroke.
    private var rows: CoverageRows
    private var outline: RunOutline
    private var opacity = LineOpacity()
    /// Whether all of the mask is covered: nothing can add to it.
    private var isFull = false
    /// How many pixels runs may have touched.
    private var visited = 0
    private var top = Float.infinity
    private var bottom = -Float.infinity
    /// Where the current run continues a smooth curve.
    private var seam: RunUnion.Seam?

    /// The direction in which the line goes on.
    private var arriving: SIMD2<Float>?
    private var runStart = SIMD2<Float>.zero

    /// What a stroke is drawn with: three masks of one box, of which all are clear but that of the stroke.
    struct Surfaces {
        let stroke: CoverageRows
        let scratch: CoverageRows
        let area: AreaRows
        /// Only for strokes whose opacity varies.
        let opacity: OpacityRows?
    }

    /// Covers the pixels of the stroke's mask; the samples are relative to its box. The other surfaces are clear again
    /// afterwards. Returns how many pixels were visited for it, at most.
    static func raise(
        _ surfaces: Surfaces, union: inout RunUnion, samples: UnsafeBufferPointer<CentreSample>
    ) -> Int {
        var coverage = StrokeCoverage(surfaces)
        coverage.walk(samples, &union)
        return coverage.visited
    }

    private init(_ surfaces: Surfaces) {
        self.surfaces = surfaces
        rows = surfaces.stroke
        outline = RunOutline(surfaces.area)
    }

    private mutating func walk(_ samples: UnsafeBufferPointer<CentreSample>, _ union: inout RunUnion) {
        guard let end = samples.last else { return }
        var index = 1
        while index < samples.count {
            let ways = CentreWays(samples, from: index)
            step(samples, index, ways.first, &union)
            step(samples, index &+ 1, ways.second, &union)
            step(samples, index &+ 2, ways.third, &union)
            step(samples, index &+ 3, ways.fourth, &union)
            index &+= 4
        }
        finish(at: end, &union)
        if let surface = surfaces.opacity { opacity.fade(surfaces.stroke, by: surface) }
    }

    /// Goes to a sample, if there are so many.
    private mutating func step(
        _ samples: UnsafeBufferPointer<CentreSample>, _ index: Int, _ way: CentreWays.Way, _ union: inout RunUnion
    ) {
        guard index < samples.count, !isFull else { return }
        let (from, to) = (samples[index &- 1], samples[index])
        if let piece = CentrePiece(from: from, to: to, way) {
            add(piece, &union)
        } else if from.radius != to.radius || from.opacity != to.opacity {
            // One disc holds the other, or nearly so.
            finish(at: from, &union)
        }
    }

    private mutating func add(_ piece: CentrePiece, _ union: inout RunUnion) {
        var begin = RunOutline.End.round
        if let arriving {
            if arriving.dot(piece.leaving) < Self.cornerCosine {
                endRun(.round, seam: nil, &union)
            } else if runStart.dot(piece.leaving) < Self.runCosine {
                begin = .cut
                endRun(
                    .cut, seam: RunUnion.Seam(at: outline.middle, radius: piece.start.radius, along: arriving),
                    &union)
            }
        }
        if outline.isEmpty {
            runStart = piece.leaving
            touch(piece.start)
        }
        touch(piece.end)
        outline.add(piece, begin: begin)
        if let surface = surfaces.opacity { opacity.add(piece, to: surface) }
        arriving = piece.arriving
    }

    /// Ends the line at a sample; without a piece that leads there it is a dot.
    private mutating func finish(at sample: CentreSample, _ union: inout RunUnion) {
        if arriving == nil {
            touch(sample)
            outline.disc(sample)
            if let surface = surfaces.opacity { opacity.add(sample, to: surface) }
        }
        if let surface = surfaces.opacity { opacity.finish(on: surface) }
        endRun(.round, seam: nil, &union)
        arriving = nil
    }

    /// Joins the run to the stroke and begins the next one; `seam` is where a smooth curve is cut.
    private mutating func endRun(
        _ end: RunOutline.End, seam: RunUnion.Seam?, _ union: inout RunUnion
    ) {
        outline.finish(end)
        let drawn = rows.rows(from: top, to: bottom)
        surfaces.area.sweep(drawn, into: rows)
        if rows.bytes != surfaces.stroke.bytes {
            union.join(rows, to: surfaces.stroke, rows: drawn, seam: self.seam)
        }
        visited &+= drawn.count &* rows.width
        isFull = surfaces.opacity == nil && surfaces.stroke.isFull
        self.seam = seam
        rows = surfaces.scratch
        top = .infinity
        bottom = -.infinity
    }

    /// Remembers which rows the run has come to.
    @inline(__always)
    private mutating func touch(_ sample: CentreSample) {
        let reach = sample.radius + abs(sample.sagX) + abs(sample.sagY) + 2
        top = top.lowered(to: sample.y - reach)
        bottom = bottom.raised(to: sample.y + reach)
    }
}
