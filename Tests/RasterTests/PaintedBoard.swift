import Ink
import Raster
import StrokeWire
import TestSupport

/// A visible list with the strokes to draw.
struct PaintedBoard {
    var strokes: [UInt64: PaintedStroke] = [:]
    var visible: [UInt64] = []

    var layers: [BoardLayer] {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        return visible.map { id in
            digest = (digest ^ id) &* 0x100_0000_01B3
            return BoardLayer(id: id, digest: digest)
        }
    }

    func stroke(_ place: Int) -> PaintedStroke {
        strokes[visible[place]]
            ?? PaintedStroke(
                stroke: InkStroke(element: .line, style: .smooth, width: 1, points: []), colour: RGB(0))
    }

    /// The board as a painter draws it that knows nothing of any other.
    func drawn(width: Int, height: Int) -> Canvas {
        var painter = StrokePainter(canvasWidth: width, canvasHeight: height)
        var canvas = Canvas(width: width, height: height)
        for place in visible.indices { painter.draw(stroke(place), on: &canvas) }
        return canvas
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
