internal import Ink

/// Draws strokes on canvases of one size: the scratch memory that drawing needs, kept from stroke to stroke.
///
/// The pixels depend on the stroke and on what is below it alone, not on what was drawn with this painter before. Use
/// one painter a thread. Its memory is bounded by the canvas (six bytes a pixel, one more where ink varies in opacity,
/// and six more for pixels near edges where strokes come near themselves) and the longest stroke.
public struct StrokePainter: Sendable {
    private var fitter: ParabolaFitter
    private var mask = CoverageMask()
    private var scratch = CoverageMask()
    private var opacity = CoverageMask()
    private var area = AreaCells()
    private var union = RunUnion()
    private var placer: StampPlacer
    private var stamps = StampCoverage()

    /// How many pixels were visited to cover what the last stroke covers, at most and each as often as it was visited:
    /// what the stroke cost, whatever the machine. A stroke that holds the whole canvas costs none.
    public private(set) var visitedPixels = 0

    /// Makes a painter for canvases of the given size; `scale` is pixels a board unit, above 0.
    public init(canvasWidth: Int, canvasHeight: Int, scale: Double = 1) {
        fitter = ParabolaFitter(scale: scale, canvasWidth: canvasWidth, canvasHeight: canvasHeight)
        placer = StampPlacer(scale: scale, canvasWidth: canvasWidth, canvasHeight: canvasHeight)
    }

    /// Draws one stroke on top, or removes paint where it is an eraser's.
    ///
    /// The stroke is composited as a whole: it never darkens itself where it crosses itself.
    public mutating func draw(_ painted: PaintedStroke, on canvas: inout Canvas) {
        draw(painted, on: &canvas, within: nil)
    }

    /// The same, on some of the tiles only; returns the box of the pixels that the whole stroke may touch.
    @discardableResult
    mutating func draw(_ painted: PaintedStroke, on canvas: inout Canvas, within part: TileSet?) -> PixelBox {
        visitedPixels = 0
        let source = painted.stroke.isErasing ? 0 : painted.colour.pixel
        return painted.stroke.isStamped
            ? stamp(painted.stroke, source, on: &canvas, within: part)
            : sweep(painted.stroke, source, on: &canvas, within: part)
    }

    private mutating func sweep(
        _ stroke: InkStroke, _ source: UInt32, on canvas: inout Canvas, within part: TileSet?
    ) -> PixelBox {
        fitter.reset()
        stroke.trace(into: &fitter)
        if fitter.coveringOpacity > 0 { return fill(fitter.coveringOpacity, source, on: &canvas, within: part) }
        let (box, isWhole) = bounds(of: fitter.samples, on: canvas)
        guard !box.isEmpty else { return box }
        canvas.prefetch(around: fitter.samples)
        fitter.moveSamples(left: Float(box.minX), up: Float(box.minY))
        mask.withRows(width: box.width, height: box.height) { rows in
            scratch.withRows(width: box.width, height: box.height) { scratch in
                area.withRows(width: box.width, height: box.height, isWhole: isWhole) { area in
                    let faded = fitter.isTranslucent ? box : PixelBox(minX: 0, minY: 0, maxX: 1, maxY: 1)
                    opacity.withRows(width: faded.width, height: faded.height) { opacity in
                        let surfaces = StrokeCoverage.Surfaces(
                            stroke: rows, scratch: scratch, area: area,
                            opacity: fitter.isTranslucent ? OpacityRows(rows: opacity) : nil)
                        fitter.samples.withUnsafeBufferPointer { samples in
                            visitedPixels = StrokeCoverage.raise(surfaces, union: &union, samples: samples)
                        }
                    }
                }
            }
            canvas.composite(source, rows: rows, box: box, within: part)
        }
        return box
    }

    /// Paints the whole canvas: a disc of the stroke holds all of it.
    private mutating func fill(
        _ opacity: Float, _ source: UInt32, on canvas: inout Canvas, within part: TileSet?
    ) -> PixelBox {
        let box = PixelBox(minX: 0, minY: 0, maxX: canvas.width, maxY: canvas.height)
        mask.withRows(width: box.width, height: box.height) { rows in
            let coverage = UInt8(opacity.raised(to: 0).lowered(to: 1) * 255)
            for y in 0..<rows.height {
                rows.row(y).update(repeating: coverage, count: rows.width)
                rows.marks[y] = rows.blocks.bits(0..<rows.width)
            }
            canvas.composite(source, rows: rows, box: box, within: part)
        }
        return box
    }

    private mutating func stamp(
        _ stroke: InkStroke, _ source: UInt32, on canvas: inout Canvas, within part: TileSet?
    ) -> PixelBox {
        placer.reset()
        stroke.trace(into: &placer)
        let reach = placer.stamps.map { CentreSample(x: $0.x, y: $0.y, radius: $0.radius) }
        let box = bounds(of: reach, on: canvas).box
        guard !box.isEmpty else { return box }
        mask.withRows(width: box.width, height: box.height) { rows in
            visitedPixels = stamps.raise(rows, box: box, stamps: placer.stamps)
            canvas.composite(source, rows: rows, box: box, within: part)
        }
        return box
    }

    /// The pixels of the canvas that the fitted stroke can touch, from the left border of their first tile on, and
    /// whether it lies on the canvas as a whole.
    private func bounds(of samples: [CentreSample], on canvas: Canvas) -> (box: PixelBox, isWhole: Bool) {
        var low = SIMD2<Float>(repeating: .infinity)
        var high = SIMD2<Float>(repeating: -.infinity)
        for sample in samples {
            let place = SIMD2(sample.x, sample.y)
            let reach = sample.radius + abs(sample.sagX) + abs(sample.sagY) + PieceRows.fringe
            low = (place - reach).lowered(to: low)
            high = (place + reach).raised(to: high)
        }
        func clamped(_ value: Float, _ limit: Int) -> Int { Int(max(0, min(Float(limit), value))) }
        let box = PixelBox(
            minX: clamped(low.x, canvas.width) / Tile.side * Tile.side, minY: clamped(low.y, canvas.height),
            maxX: clamped(high.x + 1, canvas.width), maxY: clamped(high.y + 1, canvas.height))
        let isWhole =
            low.x >= 0 && low.y >= 0 && high.x <= Float(canvas.width) && high.y <= Float(canvas.height)
        return (box, isWhole)
    }
}
