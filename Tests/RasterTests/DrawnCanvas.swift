import Ink
import PathGeometry
import StrokeWire
import TestSupport

@testable import Raster

extension Canvas {
    /// Layers on nothing.
    init(
        width: Int, height: Int, scale: Double = 1, kernels: Kernels = .fastest, drawing layers: [LayerContent]
    ) {
        self.init(width: width, height: height)
        var painter = StrokePainter(canvasWidth: width, canvasHeight: height, scale: scale, kernels: kernels)
        for layer in layers { painter.draw(layer, on: &self) }
    }

    /// A stroke on nothing.
    init(
        width: Int, height: Int, scale: Double = 1, kernels: Kernels = .fastest, drawing stroke: InkStroke,
        _ colour: UInt32 = 0
    ) {
        let layers = [LayerContent.stroke(PaintedStroke(stroke: stroke, colour: RGB(colour)))]
        self.init(width: width, height: height, scale: scale, kernels: kernels, drawing: layers)
    }

    /// All pixels, row by row.
    var allPixels: [UInt32] { (0..<height).flatMap { y in (0..<width).map { pixel(x: $0, y: y) } } }

    var isBlank: Bool { allPixels.allSatisfy { $0 == 0 } }

    /// The greatest difference of alpha from another canvas of the same size.
    func alphaDifference(from other: Canvas) -> Int {
        zip(allPixels, other.allPixels).reduce(0) { max($0, abs(Int($1.0 >> 24) - Int($1.1 >> 24))) }
    }
}

/// A visible list of layers, with what they show.
struct PaintedBoard {
    private(set) var contents: [UInt64: LayerContent] = [:]
    var visible: [UInt64] = []
    private var next: UInt64 = 1

    /// A board of random strokes.
    static func random(_ count: UInt64, using random: inout SeededGenerator) -> PaintedBoard {
        var board = PaintedBoard()
        for id in 1...count { board.add(id, randomStroke(&random)) }
        return board
    }

    /// Puts a stroke on top.
    mutating func add(_ id: UInt64, _ stroke: PaintedStroke) {
        contents[id] = .stroke(stroke)
        visible.append(id)
    }

    /// Puts a layer on top, with an id that no other one has had.
    mutating func add(_ content: LayerContent) { visible.append(insert(content)) }

    /// Shows another layer in the place of one.
    mutating func replace(_ place: Int, by content: LayerContent) { visible[place] = insert(content) }

    private mutating func insert(_ content: LayerContent) -> UInt64 {
        defer { next += 1 }
        contents[next] = content
        return next
    }

    func content(_ place: Int) -> LayerContent {
        contents[visible[place]] ?? .area(PaintedArea(path: Path(), colour: RGB(0)))
    }

    var layers: [BoardLayer] {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        return visible.map { id in
            digest = (digest ^ id) &* 0x100_0000_01B3
            return BoardLayer(id: id, digest: digest)
        }
    }

    /// The board as a painter draws it that knows nothing of any other.
    func drawn(width: Int, height: Int) -> Canvas {
        Canvas(width: width, height: height, drawing: visible.indices.map { content($0) })
    }

    /// A stroke somewhere on 400 × 300 or a little beside, of any style and element.
    static func randomStroke(_ random: inout SeededGenerator) -> PaintedStroke {
        var x = Double.random(in: -20...420, using: &random)
        var y = Double.random(in: -20...320, using: &random)
        let points = (0..<Int.random(in: 1...20, using: &random)).map { number in
            x += Double.random(in: -15...15, using: &random)
            y += Double.random(in: -15...15, using: &random)
            return StrokePoint(x: x, y: y, milliseconds: Double(number * 8))
        }
        let elements: [Element] = [.freehand, .freehand, .freehand, .freehand, .eraser, .ellipse, .rectangle, .line]
        return PaintedStroke(
            stroke: InkStroke(
                element: elements.randomElement(using: &random) ?? .line,
                style: InkStyle.allCases.randomElement(using: &random) ?? .smooth,
                width: Double.random(in: 1...12, using: &random), points: points),
            colour: RGB(UInt32.random(in: 0...0xFFFFFF, using: &random)))
    }

    /// A short stroke that stays within the tile at a column and a row.
    static func dash(_ column: Int, _ row: Int, colour: UInt32 = 0) -> PaintedStroke {
        let x = Double(column * 64 + 20)
        let y = Double(row * 64 + 20)
        let points = [StrokePoint(x: x, y: y), StrokePoint(x: x + 10, y: y + 10)]
        return PaintedStroke(
            stroke: InkStroke(element: .line, style: .smooth, width: 3, points: points), colour: RGB(colour))
    }
}

extension BoardPainter {
    /// The picture of a board.
    mutating func canvas(of board: PaintedBoard, at position: BoardPosition = BoardPosition()) -> Canvas {
        canvas(of: board.layers, at: position) { board.content($0) }
    }
}
