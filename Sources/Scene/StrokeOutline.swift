internal import Ink
package import PathGeometry
internal import Raster

/// The outline of a stroke, or of the darker parts of a pencil's line, filled under the nonzero rule.
///
/// Its contours are made one by one each time that they are asked for, from some points of the stroke at a time: a stroke of
/// 100,000 points can have gigabytes of them.
package struct StrokeOutline {
    /// What moves along the line.
    enum Pen {
        /// A disc, whose width is so many times that of the stroke.
        case round(part: Double)
        /// The rectangle of a stamp's tip.
        case tip(InkTip)
    }

    let stroke: InkStroke
    let window: StrokeWindow
    let pen: Pen
    /// The least mean opacity of the segments that are outlined; nil for all.
    var leastOpacity: Float?

    /// Calls with each contour. Unless all of the stroke is wanted, parts that cannot be seen are left out.
    /// - Throws: what `body` throws, which ends it.
    package func forEachContour<Failure: Error>(
        _ body: (Contour) throws(Failure) -> Void
    ) throws(Failure) {
        switch pen {
        case .round(let part):
            try trace(window.contours, scale: window.scale, part: Float(part), body)
        case .tip(let tip):
            let scale = window.fineness
            try trace(TipOutline(tip, scale: scale), scale: scale, part: 1, body)
        }
    }

    /// - Parameters:
    ///   - scale: pixels of the samples a board unit.
    ///   - part: the radius of samples is multiplied by it.
    private func trace<Failure: Error>(
        _ outliner: consuming some LineOutliner, scale: Double, part: Float,
        _ body: (Contour) throws(Failure) -> Void
    ) throws(Failure) {
        var runs = OutlineRuns(outliner, size: window.isWhole ? nil : SIMD2<Float>(window.size * scale), leastOpacity)
        var fitter = window.fitter(scale: scale)
        var failure: Failure?
        _ = stroke.traceInChunks(into: &fitter) { samples in
            do throws(Failure) {
                guard part != 1 else {
                    try runs.add(samples, body)
                    return true
                }
                let scaled = samples.map { sample in
                    var sample = sample
                    sample.radius *= part
                    return sample
                }
                try scaled.withUnsafeBufferPointer { (samples) throws(Failure) in try runs.add(samples, body) }
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        try runs.finish(body)
    }
}

/// The part of the plane of which strokes are outlined: from the origin on, in board units.
struct StrokeWindow {
    let size: Vector
    /// By how much finer outlines are than a hundredth of a board unit: above 1 on a board of fewer than 1024 units.
    let fineness: Double
    /// Whether all of a stroke is outlined, wherever it lies.
    let isWhole: Bool

    /// Pixels a board unit where centre lines are fitted.
    var scale: Double { 0.4 * fineness }

    var contours: StrokeContours { StrokeContours(scale: scale, tolerance: 0.05 / fineness) }

    func fitter(scale: Double) -> ParabolaFitter {
        let pixels = size * scale
        return ParabolaFitter(scale: scale, canvasWidth: Int(pixels.x) + 1, canvasHeight: Int(pixels.y) + 1)
    }
}

/// Makes contours of a line that comes in parts, of which each begins with the last sample of the one before. An open contour
/// is filled as if a line closed it.
protocol LineOutliner {
    mutating func add<Failure: Error>(
        _ samples: UnsafeBufferPointer<CentreSample>, _ body: (Contour) throws(Failure) -> Void
    ) throws(Failure)
    /// Ends the line; the next part begins another one.
    mutating func finish<Failure: Error>(_ body: (Contour) throws(Failure) -> Void) throws(Failure)
}

extension StrokeContours: LineOutliner {}

/// Cuts a line into the longest runs of segments that are outlined.
private struct OutlineRuns<Outliner: LineOutliner> {
    private var outliner: Outliner
    /// Of a canvas that segments must touch, in pixels; nil for all.
    private let size: SIMD2<Float>?
    private let leastOpacity: Float?
    /// Whether the last run goes to the end of the line so far.
    private var isOpen = false
    /// Where the line begins, until it has a segment.
    private var dot: CentreSample?
    private var hasSegments = false

    init(_ outliner: consuming Outliner, size: SIMD2<Float>?, _ leastOpacity: Float?) {
        (self.outliner, self.size, self.leastOpacity) = (outliner, size, leastOpacity)
    }

    mutating func add<Failure: Error>(
        _ samples: UnsafeBufferPointer<CentreSample>, _ body: (Contour) throws(Failure) -> Void
    ) throws(Failure) {
        guard let first = samples.first else { return }
        if !hasSegments { dot = first }
        hasSegments = hasSegments || samples.count > 1
        var start = isOpen ? 0 : nil as Int?
        for place in samples.indices.dropFirst() {
            if isOutlined(samples[place - 1], samples[place]) {
                if start == nil { start = place - 1 }
            } else if let begin = start {
                try outliner.add(UnsafeBufferPointer(rebasing: samples[begin..<place]), body)
                try outliner.finish(body)
                start = nil
            }
        }
        isOpen = start != nil
        if let start { try outliner.add(UnsafeBufferPointer(rebasing: samples[start...]), body) }
    }

    mutating func finish<Failure: Error>(_ body: (Contour) throws(Failure) -> Void) throws(Failure) {
        // A dot has no opacity of a segment.
        if !hasSegments, leastOpacity == nil, var dot {
            try withUnsafePointer(to: &dot) { (dot) throws(Failure) in
                try outliner.add(UnsafeBufferPointer(start: dot, count: 1), body)
            }
        }
        try outliner.finish(body)
    }

    private func isOutlined(_ from: CentreSample, _ to: CentreSample) -> Bool {
        if let leastOpacity, (from.opacity + to.opacity) * 0.5 < leastOpacity { return false }
        guard let size else { return true }
        let reach = SIMD2(abs(to.sagX), abs(to.sagY)) + (max(from.radius, to.radius) + 2)
        let low = pointwiseMin(SIMD2(from.x, from.y), SIMD2(to.x, to.y)) - reach
        let high = pointwiseMax(SIMD2(from.x, from.y), SIMD2(to.x, to.y)) + reach
        return !(any(high .< 0) || any(low .> size))
    }
}
