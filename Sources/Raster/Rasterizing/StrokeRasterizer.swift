internal import Ink

/// Covers a mask with a stroke: segments → outlines of runs → coverage of runs → coverage of the stroke.
///
/// A run ends where it has turned by three eighths of a full turn, so that no run crosses itself: the covered part of a pixel
/// is then the area within the outline of the run. ``CoverageMerge`` merges the runs. Where a smooth curve is cut, both
/// runs have butt caps that fit together; at corners both have round caps.
struct StrokeRasterizer {
    /// The cosine of the angle between the first tangent of a run and the one at which it ends: three eighths of a
    /// turn, beyond which the ends of a run would lead towards each other. Longer runs mean fewer to merge.
    private static let runCosine: Float = -0.7

    /// What a stroke is rasterized with: memory for one box, clear but for the mask of the stroke.
    struct Surfaces {
        let stroke: CoverageRows
        /// The mask of a run.
        let scratch: CoverageRows
        let accumulation: AccumulationRows
        /// Only for strokes whose opacity varies.
        let alpha: AlphaMask?
    }

    private let surfaces: Surfaces
    /// The mask of the current run: for the first run that of the stroke.
    private var rows: CoverageRows
    private var outliner: StrokeOutliner<AccumulationRows>
    private var alpha = AlphaPainter()
    /// Whether all of the mask is covered: then segments change the opacity alone.
    private var isFull: Bool
    /// The number of pixels that runs, and opacity, may have touched.
    private(set) var visited = 0
    private var visitedAtLastCheck = 0
    private var last: CentreSample?
    /// The tangent at the end of the last segment, unless the line is broken there.
    private var endTangent: SIMD2<Float>?
    /// The first tangent of the run.
    private var runStart = SIMD2<Float>.zero
    /// The rows of the run.
    private var top = Float.infinity
    private var bottom = -Float.infinity
    /// Where the run continues a smooth curve.
    private var seam: CoverageMerge.Seam?

    /// - Parameter isFull: whether all of the stroke's mask is covered beforehand.
    init(_ surfaces: Surfaces, isFull: Bool) {
        self.surfaces = surfaces
        self.isFull = isFull
        rows = surfaces.stroke
        outliner = StrokeOutliner(surfaces.accumulation)
    }

    /// Adds the next samples, relative to the box; the first one is the last one of those before. Returns whether all were
    /// added: `isWanted` is asked about every ``StrokePainter/pixelsBetweenChecks``, and ends the stroke where it is false.
    mutating func add(
        _ samples: UnsafeBufferPointer<CentreSample>, _ merge: inout CoverageMerge, while isWanted: () -> Bool
    ) -> Bool {
        guard let end = samples.last else { return true }
        last = end
        var index = 1
        while index < samples.count {
            let tangents = SegmentTangents.Four(samples, from: index)
            step(samples, index, tangents.first, &merge)
            step(samples, index &+ 1, tangents.second, &merge)
            step(samples, index &+ 2, tangents.third, &merge)
            step(samples, index &+ 3, tangents.fourth, &merge)
            index &+= 4
            if visited > visitedAtLastCheck &+ StrokePainter.pixelsBetweenChecks {
                visitedAtLastCheck = visited
                guard isWanted() else { return false }
            }
        }
        return true
    }

    /// Ends the stroke. All surfaces but its mask are clear again afterwards.
    mutating func finish(_ merge: inout CoverageMerge) {
        guard let last else { return }
        finish(at: last, &merge)
        if let mask = surfaces.alpha { alpha.multiply(surfaces.stroke, by: mask) }
    }

    /// Adds the segment that ends at a sample, if there are so many samples.
    private mutating func step(
        _ samples: UnsafeBufferPointer<CentreSample>, _ index: Int, _ tangents: SegmentTangents,
        _ merge: inout CoverageMerge
    ) {
        guard index < samples.count, !isFull || surfaces.alpha != nil else { return }
        let (from, to) = (samples[index &- 1], samples[index])
        if let segment = StrokeSegment(from: from, to: to, tangents) {
            add(segment, &merge)
        } else if from.radius != to.radius || from.opacity != to.opacity {
            // One disc contains the other, or nearly.
            finish(at: from, &merge)
        }
    }

    private mutating func add(_ segment: StrokeSegment, _ merge: inout CoverageMerge) {
        if !isFull { outline(segment, &merge) }
        if let mask = surfaces.alpha { visited &+= alpha.add(segment, to: mask) }
        endTangent = segment.endTangent
    }

    /// Adds a segment to the run, or ends that and begins another.
    @inline(__always)
    private mutating func outline(_ segment: StrokeSegment, _ merge: inout CoverageMerge) {
        var startCap = LineCap.round
        if let endTangent {
            if endTangent.dot(segment.startTangent) < StrokeSegment.cornerCosine {
                endRun(.round, seam: nil, &merge)
            } else if runStart.dot(segment.startTangent) < Self.runCosine {
                startCap = .butt
                endRun(
                    .butt,
                    seam: CoverageMerge.Seam(at: outliner.middle, radius: segment.start.radius, along: endTangent),
                    &merge)
            }
            guard !isFull else { return }
        }
        if outliner.isEmpty { runStart = segment.startTangent }
        touch(segment.start, sag: segment.end.sagY)
        touch(segment.end, sag: segment.end.sagY)
        outliner.add(segment, startCap: startCap)
    }

    /// Breaks the line at a sample; without a segment that leads there it is a dot.
    private mutating func finish(at sample: CentreSample, _ merge: inout CoverageMerge) {
        if endTangent == nil {
            if !isFull {
                touch(sample, sag: 0)
                outliner.disc(sample)
            }
            if let mask = surfaces.alpha { visited &+= alpha.add(sample, to: mask) }
        }
        if let mask = surfaces.alpha { visited &+= alpha.finish(on: mask) }
        if top <= bottom { endRun(.round, seam: nil, &merge) }
        endTangent = nil
    }

    /// Resolves the run, merges it into the stroke and begins the next one; `seam` is where a smooth curve is cut.
    private mutating func endRun(_ cap: LineCap, seam: CoverageMerge.Seam?, _ merge: inout CoverageMerge) {
        outliner.finish(cap)
        let drawn = rows.rows(from: top, to: bottom)
        surfaces.accumulation.resolve(drawn, into: rows)
        if rows.bytes != surfaces.stroke.bytes {
            merge.merge(rows, into: surfaces.stroke, rows: drawn, seam: self.seam)
        }
        visited &+= drawn.count &* rows.width
        isFull = surfaces.stroke.isFull
        self.seam = seam
        rows = surfaces.scratch
        top = .infinity
        bottom = -.infinity
    }

    /// Extends the rows of the run to those of a disc at an end of a segment, and of one that is off by the sag.
    @inline(__always)
    private mutating func touch(_ sample: CentreSample, sag: Float) {
        let reach = sample.radius + abs(sag) + 2
        top = top.lowered(to: sample.y - reach)
        bottom = bottom.raised(to: sample.y + reach)
    }
}
