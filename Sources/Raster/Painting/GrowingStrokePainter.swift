public import Ink
public import StrokeWire

/// Keeps the picture of a stroke that is being drawn up to date, above a canvas that stays as it is.
///
/// Only the tiles that the changed part of the stroke touches are painted again. The pixels are the same as those of the
/// whole stroke drawn at once by a ``StrokePainter``. A thumbnail is the same at a small scale, updated less often: what
/// came meanwhile is one change.
///
/// Takes the memory of a ``StrokePainter`` and of the path, and the tiles that differ from those below.
public struct GrowingStrokePainter: Sendable {
    /// The picture: the stroke as it was at the last update, on ``base``.
    public private(set) var canvas: Canvas
    /// What lies below the stroke.
    public let base: Canvas
    /// The centre line of the stroke.
    public private(set) var path: StrokePath
    /// The number of tiles painted so far, each as often as it was.
    public private(set) var paintedTiles = 0

    private let colour: RGB
    private let scale: Double
    private var painter: StrokePainter
    private var frame: StrokeFrame?
    /// The widest nib so far, also of what is gone: up to several line widths.
    private var widest: Double
    /// The pixels that the stroke may touch.
    private var box = PixelBox(minX: 0, minY: 0, maxX: 0, maxY: 0)

    /// Makes a painter for a stroke without points.
    /// - Parameters:
    ///   - base: what lies below the stroke.
    ///   - width: the line width in board units.
    ///   - unit: see `InkStroke.unit`.
    ///   - tip: see `InkStroke.tip`.
    ///   - scale: pixels a board unit, above 0.
    public init(
        on base: Canvas, element: Element, style: InkStyle, width: Double, unit: Double = 1,
        tip: InkTip = .round, colour: RGB, scale: Double = 1
    ) {
        self.base = base
        canvas = base
        path = StrokePath(element: element, style: style, width: width, unit: unit, tip: tip)
        self.colour = colour
        self.scale = scale
        widest = width
        painter = StrokePainter(canvasWidth: base.width, canvasHeight: base.height, scale: scale)
    }

    /// Goes on to the points that a model has now: always one and the same model.
    /// - Returns: whether the picture has changed, or may have.
    @discardableResult
    public mutating func update(to model: StrokeModel) -> Bool {
        guard let change = path.update(to: model) else { return false }
        for segment in path.segments[change.segments] {
            widest = max(widest, segment.nib.width, segment.swelling?.control.width ?? 0)
        }
        var tiles = TileSet(of: base)
        let opaquePart = pixels(of: change.tailBox, isOpaque: true)
        let translucentPart = pixels(of: change.tailBox, isOpaque: false)
        let last = frame
        frame = nil
        var fresh = base
        let drawn = painter.draw(
            PaintedStroke(stroke: path.stroke(of: model), colour: colour), on: &fresh,
            within: { now in
                frame = now
                // Sums run along the rows: what is added to a row may change the last bit of pixels to the right.
                if let last, now.isLike(last) {
                    tiles.insert(now.leastOpacity == 1 ? opaquePart : translucentPart)
                    tiles.extendToTheRight(of: now.box)
                } else {
                    tiles.insert(now.box)
                    tiles.insert(box)
                }
                return tiles
            }, while: { true })
        // Where nothing is drawn, nothing of what was drawn stays.
        if frame == nil { tiles.insert(box) }
        for index in tiles.indices { canvas.tiles[index] = fresh.tiles[index] }
        paintedTiles += tiles.count
        box = drawn ?? box
        return true
    }

    /// The pixels of the canvas that a part of the line may change: with soft edges, and those where coverages are merged
    /// by their slopes. The opacity of a segment reaches beyond its ends, and is cut there by that of the next one: by six
    /// radii where the nib widens as fast as a segment can, twice as far where the segment is bent as well.
    private func pixels(of part: BoundingBox, isOpaque: Bool) -> PixelBox {
        let margin = isOpaque ? 3 : 6 + 6 * widest * scale
        return PixelBox(from: part.low * scale - margin, to: part.high * scale + margin + 1, on: base)
    }
}
