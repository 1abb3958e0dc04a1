import Ink
import Raster
import StrokeWire
import Testing

@Suite("Painting a board")
struct BoardPainterTests {
    /// A visible list with the strokes to draw.
    private struct Board {
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
    }

    private static func randomStroke(_ random: inout SeededGenerator) -> PaintedStroke {
        var x = Double.random(in: -20...420, using: &random)
        var y = Double.random(in: -20...320, using: &random)
        let points = (0..<Int.random(in: 1...20, using: &random)).map { _ in
            x += Double.random(in: -15...15, using: &random)
            y += Double.random(in: -15...15, using: &random)
            return StrokePoint(x: x, y: y)
        }
        return PaintedStroke(
            stroke: InkStroke(
                element: [.freehand, .freehand, .freehand, .eraser, .ellipse].randomElement(using: &random) ?? .line,
                style: .smooth, width: Double.random(in: 1...12, using: &random), points: points),
            colour: RGB(UInt32.random(in: 0...0xFFFFFF, using: &random)))
    }

    @Test(
        "gives the pixels of a drawing from nothing after any undo, redo, removal and clear", arguments: [0, 1 << 20])
    func sameAsRedrawn(versionBytes: Int) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var board = Board()
        var undone: [UInt64] = []
        var painter = BoardPainter(width: 300, height: 200, versionBytes: versionBytes)
        for id in 1...120 as ClosedRange<UInt64> {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9:
                board.strokes[id] = Self.randomStroke(&random)
                board.visible.append(id)
                undone = []
            case 9..<12: if let last = board.visible.popLast() { undone.append(last) }
            case 12..<15: if let last = undone.popLast() { board.visible.append(last) }
            case 15..<18:
                if let place = board.visible.indices.randomElement(using: &random) { board.visible.remove(at: place) }
            case 18:
                // Somebody else's cursor, far behind.
                var behind = board
                behind.visible = Array(board.visible.prefix(board.visible.count / 2))
                _ = painter.canvas(of: behind.layers) { behind.stroke($0) }
            default: if Int.random(in: 0..<4, using: &random) == 0 { board.visible = [] }
            }
            let canvas = painter.canvas(of: board.layers) { board.stroke($0) }
            var scratch = StrokePainter(canvasWidth: 300, canvasHeight: 200)
            var redrawn = Canvas(width: 300, height: 200)
            for place in board.visible.indices { scratch.draw(board.stroke(place), on: &redrawn) }
            #expect(canvas.fingerprint == redrawn.fingerprint, "seed \(seed), step \(id)")
            #expect(painter.versionBytes <= versionBytes || painter.versionCount == 1, "seed \(seed), step \(id)")
        }
    }

    @Test("draws one stroke for a new one, and nothing for undo and redo of the newest")
    func drawsLittle() {
        var random = SeededGenerator(seed: 7)
        var board = Board()
        var painter = BoardPainter(width: 400, height: 300)
        for id in 1...50 as ClosedRange<UInt64> {
            board.strokes[id] = Self.randomStroke(&random)
            board.visible.append(id)
            _ = painter.canvas(of: board.layers) { board.stroke($0) }
            #expect(painter.strokesDrawn == Int(id))
        }
        for depth in 1...40 {
            board.visible.removeLast()
            _ = painter.canvas(of: board.layers) { board.stroke($0) }
            #expect(painter.strokesDrawn == 50, "undo \(depth)")
        }
    }

    @Test("redraws only what touches the tiles of a removed stroke")
    func patches() {
        var board = Board()
        for id in 0..<40 as Range<UInt64> {
            let x = Double(id) * 100 + 50
            let points = [StrokePoint(x: x, y: 50), StrokePoint(x: x + 10, y: 60)]
            board.strokes[id] = PaintedStroke(
                stroke: InkStroke(element: .line, style: .smooth, width: 3, points: points), colour: RGB(0))
            board.visible.append(id)
        }
        var painter = BoardPainter(width: 4100, height: 128)
        _ = painter.canvas(of: board.layers) { board.stroke($0) }
        let drawn = painter.strokesDrawn
        board.visible.remove(at: 3)
        _ = painter.canvas(of: board.layers) { board.stroke($0) }
        #expect(painter.strokesDrawn - drawn <= 2)
    }

    @Test("keeps a version at the cost of the tiles that changed")
    func sharing() {
        var painter = StrokePainter(canvasWidth: 640, canvasHeight: 640)
        var canvas = Canvas(width: 640, height: 640)
        func line(_ x: Double, _ y: Double) -> PaintedStroke {
            let points = [StrokePoint(x: x, y: y), StrokePoint(x: x + 8, y: y + 8)]
            return PaintedStroke(
                stroke: InkStroke(element: .line, style: .smooth, width: 3, points: points), colour: RGB(0))
        }
        for place in 0..<10 { painter.draw(line(Double(place) * 64 + 20, 20), on: &canvas) }
        #expect(canvas.tileCount == 10)
        let version = canvas
        painter.draw(line(20, 20), on: &canvas)
        #expect(canvas.unsharedByteCount(with: version) == 64 * 64 * 4)
        painter.draw(line(20, 84), on: &canvas)
        #expect(canvas.unsharedByteCount(with: version) == 2 * 64 * 64 * 4)
        #expect(version.tileCount == 10)
    }
}
