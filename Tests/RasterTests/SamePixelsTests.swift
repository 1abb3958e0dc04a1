import StrokeWire
import TestSupport
import Testing

@testable import Raster

/// The pixels of a board depend on its visible strokes alone, on nothing that was drawn before, with or without memory
/// to keep versions in, in one go or interrupted, on whatever thread.
@Suite("The same board has the same pixels")
struct SamePixelsTests {
    /// A board that is drawn on, undone, redone, cleared, and of which strokes below others are removed.
    private struct Lesson {
        var board = PaintedBoard()
        private var undone: [UInt64] = []
        private var next: UInt64 = 1

        mutating func step(_ random: inout SeededGenerator) {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<10:
                board.strokes[next] = PaintedBoard.randomStroke(&random)
                board.visible.append(next)
                next += 1
                undone = []
            case 10..<13: if let last = board.visible.popLast() { undone.append(last) }
            case 13..<16: if let last = undone.popLast() { board.visible.append(last) }
            case 16..<19:
                if let place = board.visible.indices.randomElement(using: &random) { board.visible.remove(at: place) }
            default: if Int.random(in: 0..<4, using: &random) == 0 { board.visible = [] }
            }
        }
    }

    private struct Interrupted: Error {}

    @Test("after any history, with any memory", arguments: [0, 1 << 20, 64 << 20])
    func anyHistory(versionBytes: Int) {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        var lesson = Lesson()
        var painter = BoardPainter(width: 300, height: 200, versionBytes: versionBytes)
        for step in 1...90 {
            // Batches: not every board is asked for.
            for _ in 0..<Int.random(in: 1...4, using: &random) { lesson.step(&random) }
            var board = lesson.board
            // Now and then it is another cursor's turn, far behind.
            if Int.random(in: 0..<6, using: &random) == 0 { board.visible.removeLast(board.visible.count / 2) }
            if Int.random(in: 0..<3, using: &random) == 0 {
                let most = Int.random(in: 0..<3, using: &random)
                var asked = 0
                _ = try? painter.canvas(of: board.layers) { (place) throws(Interrupted) in
                    asked += 1
                    guard asked <= most else { throw Interrupted() }
                    return board.stroke(place)
                }
            }
            let canvas = painter.canvas(of: board.layers) { board.stroke($0) }
            let anew = board.drawn(width: 300, height: 200)
            #expect(canvas.fingerprint == anew.fingerprint, "seed \(seed), step \(step)")
            #expect(painter.versionBytes <= versionBytes || painter.versionCount == 1, "seed \(seed), step \(step)")
            #expect(painter.versionBytes >= painter.versions.distinctByteCount(), "seed \(seed), step \(step)")
        }
    }

    @Test("on several threads, each of which begins at another place of the log")
    func threads() async {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        var lesson = Lesson()
        var boards: [PaintedBoard] = []
        for _ in 0..<80 {
            lesson.step(&random)
            boards.append(lesson.board)
        }
        let log = boards
        let pictures = await withTaskGroup(of: [UInt64].self) { group in
            for start in stride(from: 0, to: 80, by: 20) {
                group.addTask {
                    // As after a restart: all there is, is the board.
                    var painter = BoardPainter(width: 300, height: 200)
                    for board in log[start...] { _ = painter.canvas(of: board.layers) { board.stroke($0) } }
                    return log.suffix(20).map { board in
                        painter.canvas(of: board.layers) { board.stroke($0) }.fingerprint
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let anew = log.suffix(20).map { $0.drawn(width: 300, height: 200).fingerprint }
        for picture in pictures { #expect(picture == anew, "seed \(seed)") }
    }
}
