internal import Ink

/// Draws strokes on canvases of one size: the scratch memory that drawing needs, kept from stroke to stroke.
///
/// The pixels depend on the stroke and on what is below it alone, not on what was drawn with this painter before. Use
/// one painter a thread. Its memory is bounded by the canvas (two bytes a pixel at most) and the longest stroke.
public struct StrokePainter: Sendable {
    private var flattener: Flattener
    private var mask = CoverageMask()
    private var scratch = CoverageMask()
    private var union = RunUnion()

    /// Makes a painter for canvases of the given size; `scale` is pixels a board unit, above 0.
    public init(canvasWidth: Int, canvasHeight: Int, scale: Double = 1) {
        flattener = Flattener(scale: scale, canvasWidth: canvasWidth, canvasHeight: canvasHeight)
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
        flattener.reset()
        painted.stroke.trace(into: &flattener)
        let source = painted.stroke.isErasing ? 0 : painted.colour.pixel
        let translucent = flattener.isTranslucent
        let box = bounds(width: canvas.width, height: canvas.height)
        guard !box.isEmpty else { return box }
        mask.prepare(for: box)
        flattener.moveSamples(left: Float(box.minX), up: Float(box.minY))
        scratch.prepare(for: box)
        mask.withRows { rows in
            scratch.withRows { scratch in
                flattener.samples.withUnsafeBufferPointer { samples in
                    StrokeCoverage.raise(
                        rows, scratch: scratch, union: &union, samples: samples, translucent: translucent)
                }
            }
            canvas.composite(source, rows: rows, box: box, within: part)
        }
        mask.clear()
        return box
    }

    /// The pixels of the canvas that the flattened stroke can touch.
    private func bounds(width: Int, height: Int) -> PixelBox {
        var low = SIMD2<Float>(repeating: .infinity)
        var high = SIMD2<Float>(repeating: -.infinity)
        for sample in flattener.samples {
            let reach = sample.radius + 0.75
            low.x = min(low.x, sample.x - reach)
            low.y = min(low.y, sample.y - reach)
            high.x = max(high.x, sample.x + reach)
            high.y = max(high.y, sample.y + reach)
        }
        func clamped(_ value: Float, _ limit: Int) -> Int { Int(max(0, min(Float(limit), value))) }
        return PixelBox(
            minX: clamped(low.x, width), minY: clamped(low.y, height),
            maxX: clamped(high.x + 1, width), maxY: clamped(high.y + 1, height))
    }
}
