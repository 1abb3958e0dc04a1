public import Ink

/// A stroke with its colour: what the painter asks for when it has to draw a layer.
public struct PaintedStroke: Sendable, Equatable {
    /// The geometry, in board units.
    public var stroke: InkStroke
    /// The colour; an eraser ignores it.
    public var colour: RGB

    /// Makes a stroke with a colour.
    @inlinable
    public init(stroke: InkStroke, colour: RGB) {
        self.stroke = stroke
        self.colour = colour
    }
}

/// An opaque colour, eight bits a channel.
public struct RGB: Sendable, Hashable {
    /// The red channel, 0 … 255.
    public var red: UInt8
    /// The green channel, 0 … 255.
    public var green: UInt8
    /// The blue channel, 0 … 255.
    public var blue: UInt8

    /// Makes a colour of its channels.
    @inlinable
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Makes a colour of `0xRRGGBB`; higher bits are ignored.
    @inlinable
    public init(_ value: UInt32) {
        self.init(
            red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
            blue: UInt8(truncatingIfNeeded: value))
    }

    /// The opaque pixel of this colour, as tiles keep it.
    var pixel: UInt32 { UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000 }
}

/// Draws strokes, areas and images on canvases of one size, with scratch memory that is kept from one to the next.
///
/// The pixels depend on what is drawn and on those below it alone, not on what was drawn with this painter before. Use one
/// painter a thread. Its memory is bounded by the canvas (six bytes a pixel, one more where ink varies in opacity, and six
/// more for pixels near edges where strokes come near themselves), and by a few megabytes however long a stroke is. An area
/// takes up to 40 MB more for its lines, and above that some 80 bytes for each of its segments in one row of pixels; an
/// image that is made smaller up to a quarter of its own bytes, which are kept with the image until another one is drawn.
public struct StrokePainter: Sendable {
    /// The number of visited pixels between two questions whether the stroke is still wanted.
    static let pixelsBetweenChecks = 1 << 22

    /// The largest distance of a centre line from its parabolas, in pixels. At 0.007 the mean error of pixels at edges would
    /// be above 0.004 for some styles.
    private static let curveTolerance = 0.005

    let scale: Double
    private var fitter: ParabolaFitter
    var mask = CoverageMask()
    var scratch = CoverageMask()
    private var alpha = CoverageMask()
    var accumulation: AccumulationBuffer
    let kernels: Kernels
    private var merge = CoverageMerge()
    private var stamps = StampRasterizer()
    var areas = AreaRasterizer()
    /// The means of the last image that was made smaller.
    var imageLevel: ImageLevel?

    /// The cost of the last stroke on any machine: an upper bound of the number of pixels that were visited, each as often
    /// as it was. An even stroke that covers the whole canvas costs none.
    public internal(set) var visitedPixels = 0

    /// Makes a painter for canvases of the given size; `scale` is pixels a board unit, above 0.
    public init(canvasWidth: Int, canvasHeight: Int, scale: Double = 1) {
        self.init(canvasWidth: canvasWidth, canvasHeight: canvasHeight, scale: scale, kernels: .fastest)
    }

    package init(canvasWidth: Int, canvasHeight: Int, scale: Double, kernels: Kernels) {
        fitter = ParabolaFitter(scale: scale, canvasWidth: canvasWidth, canvasHeight: canvasHeight)
        accumulation = AccumulationBuffer(kernels: kernels)
        self.kernels = kernels
        self.scale = scale
    }

    /// Draws a stroke on top; an eraser removes paint.
    ///
    /// The stroke is composited as a whole: it never darkens itself where it crosses itself.
    public mutating func draw(_ painted: PaintedStroke, on canvas: inout Canvas) {
        draw(painted, on: &canvas, within: nil) { true }
    }

    /// Draws a stroke on some of the tiles only. Returns the box of the pixels that the whole stroke may touch.
    ///
    /// - Parameter isWanted: asked some hundred times a second while a stroke takes long, not at all for most strokes.
    ///   When it is false the canvas stays as it was, and `nil` is returned.
    @discardableResult
    mutating func draw(
        _ painted: PaintedStroke, on canvas: inout Canvas, within part: TileSet?,
        while isWanted: () -> Bool
    ) -> PixelBox? {
        visitedPixels = 0
        let source = painted.stroke.isErasing ? 0 : painted.colour.pixel
        let box =
            painted.stroke.isStamped
            ? stamp(painted.stroke, source, on: &canvas, within: part, while: isWanted)
            : rasterize(painted.stroke, source, on: &canvas, within: part, while: isWanted)
        if box == nil { discardSurfaces() }
        return box
    }

    /// Discards a stroke that is half drawn.
    private mutating func discardSurfaces() {
        mask = CoverageMask()
        scratch = CoverageMask()
        alpha = CoverageMask()
        accumulation = AccumulationBuffer(kernels: kernels)
    }

    private mutating func rasterize(
        _ stroke: InkStroke, _ source: UInt32, on canvas: inout Canvas, within part: TileSet?,
        while isWanted: () -> Bool
    ) -> PixelBox? {
        let tolerance = fitter.tolerance
        fitter.tolerance = Self.curveTolerance
        defer { fitter.tolerance = tolerance }
        guard let bounds = bounds(of: stroke, while: isWanted) else { return nil }
        let whole = PixelBox(minX: 0, minY: 0, maxX: canvas.width, maxY: canvas.height)
        let isFull = fitter.coversCanvas
        if isFull, fitter.opacities.least == fitter.opacities.most {
            fill(fitter.opacities.most, source, on: &canvas, within: part)
            return whole
        }
        let box = isFull ? whole : bounds.box(on: canvas)
        guard !box.isEmpty else { return box }
        if !isFull, !stroke.isLong { canvas.prefetch(around: fitter.samples) }
        let isTranslucent = fitter.isTranslucent
        let origin = SIMD2(Float(box.minX), Float(box.minY))
        let isUnclipped = bounds.isInside(canvas)
        return mask.withRows(width: box.width, height: box.height) { rows in
            if isFull { rows.fill() }
            let isCovered = scratch.withRows(width: box.width, height: box.height) { scratch in
                accumulation.withRows(width: box.width, height: box.height, isUnclipped: isUnclipped) { accumulation in
                    let alphaBox = isTranslucent ? box : PixelBox(minX: 0, minY: 0, maxX: 1, maxY: 1)
                    return alpha.withRows(width: alphaBox.width, height: alphaBox.height) { alpha in
                        let surfaces = StrokeRasterizer.Surfaces(
                            stroke: rows, scratch: scratch, accumulation: accumulation,
                            alpha: isTranslucent ? AlphaMask(rows: alpha) : nil)
                        var rasterizer = StrokeRasterizer(surfaces, isFull: isFull)
                        defer { visitedPixels = rasterizer.visited }
                        let isAtEnd: Bool
                        if stroke.isLong {
                            fitter.reset()
                            fitter.origin = origin
                            isAtEnd = stroke.traceInChunks(into: &fitter) { samples in
                                rasterizer.add(samples, &merge, while: isWanted) && isWanted()
                            }
                        } else {
                            fitter.moveSamples(left: origin.x, up: origin.y)
                            isAtEnd = fitter.samples.withUnsafeBufferPointer { samples in
                                rasterizer.add(samples, &merge, while: isWanted)
                            }
                        }
                        if isAtEnd { rasterizer.finish(&merge) }
                        return isAtEnd
                    }
                }
            }
            guard isCovered else { return nil }
            canvas.composite(source, rows: rows, box: box, within: part, kernels: kernels)
            return box
        }
    }

    /// Traces a stroke; the samples of a short one stay in the fitter.
    private mutating func bounds(of stroke: InkStroke, while isWanted: () -> Bool) -> StrokeBounds? {
        fitter.reset()
        var bounds = StrokeBounds()
        let isTraced = stroke.traceInChunks(into: &fitter) { samples in
            bounds.add(samples)
            return !stroke.isLong || isWanted()
        }
        return isTraced ? bounds : nil
    }

    /// The box of the pixels that a stroke may touch, without drawing it.
    mutating func box(of stroke: InkStroke, on canvas: Canvas) -> PixelBox {
        let tolerance = fitter.tolerance
        if !stroke.isStamped { fitter.tolerance = Self.curveTolerance }
        defer { fitter.tolerance = tolerance }
        let bounds = bounds(of: stroke) { true } ?? StrokeBounds()
        let isFull = fitter.coversCanvas && !stroke.isStamped
        return isFull ? PixelBox(minX: 0, minY: 0, maxX: canvas.width, maxY: canvas.height) : bounds.box(on: canvas)
    }

    /// Paints the whole canvas evenly: a disc of the stroke covers all of it.
    private mutating func fill(_ opacity: Float, _ source: UInt32, on canvas: inout Canvas, within part: TileSet?) {
        let box = PixelBox(minX: 0, minY: 0, maxX: canvas.width, maxY: canvas.height)
        mask.withRows(width: box.width, height: box.height) { rows in
            rows.fill(UInt8(truncatingIfNeeded: (opacity.raised(to: 0).lowered(to: 1) * 255).roundedToInt))
            canvas.composite(source, rows: rows, box: box, within: part, kernels: kernels)
        }
    }

    private mutating func stamp(
        _ stroke: InkStroke, _ source: UInt32, on canvas: inout Canvas, within part: TileSet?,
        while isWanted: () -> Bool
    ) -> PixelBox? {
        guard let bounds = bounds(of: stroke, while: isWanted) else { return nil }
        let box = bounds.box(on: canvas)
        guard !box.isEmpty else { return box }
        stamps.begin(box, tip: stroke.tip, step: Float(StampPlacer.spacing * scale))
        defer { visitedPixels = stamps.visited }
        var placer = StampPlacer(scale: scale, canvasWidth: canvas.width, canvasHeight: canvas.height, tip: stroke.tip)
        var visitedAtLastCheck = 0
        var isStillWanted = true
        func add(_ stamp: Stamp) -> Bool {
            stamps.add(stamp)
            if stamps.visited > visitedAtLastCheck + Self.pixelsBetweenChecks {
                visitedAtLastCheck = stamps.visited
                isStillWanted = isWanted()
            }
            return isStillWanted && !stamps.isComplete
        }
        let isAtEnd: Bool
        if stroke.isLong {
            fitter.reset()
            isAtEnd = stroke.traceInChunks(into: &fitter) { samples in
                guard placer.add(samples, add) else { return false }
                isStillWanted = isWanted()
                return isStillWanted
            }
        } else {
            isAtEnd = fitter.samples.withUnsafeBufferPointer { placer.add($0, add) }
        }
        if isAtEnd { _ = placer.finish(add) }
        guard isStillWanted else { return nil }
        mask.withRows(width: box.width, height: box.height) { rows in
            stamps.finish(rows)
            canvas.composite(source, rows: rows, box: box, within: part, kernels: kernels)
        }
        return box
    }
}

/// The box around all pixels that a stroke can touch.
private struct StrokeBounds {
    private var low = SIMD2<Float>(repeating: .infinity)
    private var high = SIMD2<Float>(repeating: -.infinity)

    /// Adds samples of the centre line; the first one stands alone.
    mutating func add(_ samples: UnsafeBufferPointer<CentreSample>) {
        var lastLow = SIMD2<Float>(repeating: .infinity)
        var lastHigh = SIMD2<Float>(repeating: -.infinity)
        for sample in samples {
            let place = SIMD2(sample.x, sample.y)
            let reach = sample.radius + SegmentRows.fringe
            // Between two samples a disc is off the chord by the sag at most.
            let sag = SIMD2(abs(sample.sagX), abs(sample.sagY))
            let ownLow = place - reach
            let ownHigh = place + reach
            low = (ownLow.lowered(to: lastLow) - sag).lowered(to: low)
            high = (ownHigh.raised(to: lastHigh) + sag).raised(to: high)
            (lastLow, lastHigh) = (ownLow, ownHigh)
        }
    }

    /// The pixels of the canvas in the box, from the left border of a tile on.
    func box(on canvas: Canvas) -> PixelBox {
        PixelBox(from: SIMD2<Double>(low), to: SIMD2<Double>(high + 1), on: canvas).fromTile
    }

    /// Whether the whole box lies on the canvas.
    func isInside(_ canvas: Canvas) -> Bool {
        low.x >= 0 && low.y >= 0 && high.x <= Float(canvas.width) && high.y <= Float(canvas.height)
    }
}
