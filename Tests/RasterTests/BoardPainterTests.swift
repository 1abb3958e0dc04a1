import StrokeWire
import TestSupport
import Testing

@testable import Raster

@Suite("Painting a board")
struct BoardPainterTests {
    @Test("draws one stroke for a new one, and nothing for undo and redo of the newest")
    func drawsLittle() {
        var random = SeededGenerator(seed: 7)
        var board = PaintedBoard()
        var painter = BoardPainter(width: 400, height: 300)
        var pictures: [UInt64] = []
        for id in 1...50 as ClosedRange<UInt64> {
            board.strokes[id] = PaintedBoard.randomStroke(&random)
            board.visible.append(id)
            pictures.append(painter.canvas(of: board.layers) { board.stroke($0) }.fingerprint)
            #expect(painter.strokesDrawn == Int(id))
        }
        for depth in 1...40 {
            board.visible.removeLast()
            let canvas = painter.canvas(of: board.layers) { board.stroke($0) }
            #expect(canvas.fingerprint == pictures[board.visible.count - 1])
            #expect(painter.strokesDrawn == 50, "undo \(depth)")
        }
        for id in 11...50 as ClosedRange<UInt64> {
            board.visible.append(id)
            let canvas = painter.canvas(of: board.layers) { board.stroke($0) }
            #expect(canvas.fingerprint == pictures[board.visible.count - 1])
            #expect(painter.strokesDrawn == 50, "redo of \(id)")
        }
    }

    @Test("redraws only the tiles of a removed stroke, and the strokes on them")
    func patches() {
        var board = PaintedBoard()
        for id in 0..<40 as Range<UInt64> {
            board.strokes[id] = PaintedBoard.dash(Int(id), 0)
            board.visible.append(id)
        }
        // A second stroke on the tile of the fourth.
        board.strokes[40] = PaintedBoard.dash(3, 0, colour: 0xD92020)
        board.visible.append(40)
        var painter = BoardPainter(width: 64 * 40, height: 128)
        let before = painter.canvas(of: board.layers) { board.stroke($0) }
        let drawn = painter.strokesDrawn
        board.visible.remove(at: 3)
        let after = painter.canvas(of: board.layers) { board.stroke($0) }
        #expect(painter.strokesDrawn - drawn == 1)
        #expect(after.unsharedByteCount(with: before) == Tile.byteCount)
        #expect(after.fingerprint == board.drawn(width: 64 * 40, height: 128).fingerprint)
    }

    @Test("lets cursors at different places of the log share all tiles but those that changed between them")
    func cursorsShareTiles() {
        var board = PaintedBoard()
        for id in 0..<60 as Range<UInt64> {
            board.strokes[id] = PaintedBoard.dash(Int(id) % 10, Int(id) / 10)
            board.visible.append(id)
        }
        var painter = BoardPainter(width: 640, height: 640)
        func canvas(through count: Int) -> Canvas {
            var behind = board
            behind.visible = Array(board.visible.prefix(count))
            return painter.canvas(of: behind.layers) { behind.stroke($0) }
        }
        // The one farthest behind asks first, as it happens when all of them follow the log.
        let cohorts = [40, 50, 60].map(canvas(through:))
        let tiles = Set(cohorts.flatMap { $0.tiles.filter { !$0.isAbsent }.map(\.identity) })
        #expect(cohorts.map(\.tileCount) == [40, 50, 60])
        #expect(tiles.count == 60)
        #expect(painter.strokesDrawn == 60)
    }

    @Test("keeps a version at the cost of the tiles that changed")
    func sharing() {
        var painter = StrokePainter(canvasWidth: 640, canvasHeight: 640)
        var canvas = Canvas(width: 640, height: 640)
        for column in 0..<10 { painter.draw(PaintedBoard.dash(column, 0), on: &canvas) }
        #expect(canvas.tileCount == 10)
        let version = canvas
        painter.draw(PaintedBoard.dash(0, 0), on: &canvas)
        #expect(canvas.unsharedByteCount(with: version) == 64 * 64 * 4)
        painter.draw(PaintedBoard.dash(0, 1), on: &canvas)
        #expect(canvas.unsharedByteCount(with: version) == 2 * 64 * 64 * 4)
        #expect(version.tileCount == 10)
    }

    private struct Enough: Error {}

    @Test("goes on from where it was told to stop")
    func stops() throws {
        var random = SeededGenerator(seed: 9)
        var board = PaintedBoard()
        for id in 1...100 as ClosedRange<UInt64> {
            board.strokes[id] = PaintedBoard.randomStroke(&random)
            board.visible.append(id)
        }
        var painter = BoardPainter(width: 400, height: 300)
        for end in [30, 31, 70] {
            #expect(throws: Enough.self) {
                try painter.canvas(of: board.layers) { (place) throws(Enough) in
                    if place == end { throw Enough() }
                    return board.stroke(place)
                }
            }
            #expect(painter.strokesDrawn == end)
        }
        let canvas = painter.canvas(of: board.layers) { board.stroke($0) }
        #expect(painter.strokesDrawn == 100)
        #expect(canvas.fingerprint == board.drawn(width: 400, height: 300).fingerprint)
    }
}
