import Ink
import StrokeWire
import TestSupport
import Testing

@testable import Raster

@Suite struct `Painting a board` {
    private var board = PaintedBoard()

    @Test func `goes back and forth on a long list from kept beginnings of it, within their bytes`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var board = PaintedBoard.random(2000, using: &random)
        let all = board.visible
        for prefixBytes in [0, 2 << 20, 64 << 20] {
            // Kept pictures of the newest boards alone do not help.
            var painter = BoardPainter(width: 300, height: 200, versionBytes: 0, prefixBytes: prefixBytes)
            board.visible = all
            _ = painter.canvas(of: board)
            let most = prefixBytes == 0 ? 2000 : prefixBytes == 64 << 20 ? 255 : 1023
            var drawn: [Int] = []
            for _ in 0..<12 {
                board.visible = Array(all.prefix(random.int(1...1999)))
                let before = painter.layersDrawn
                let canvas = painter.canvas(of: board)
                drawn.append(painter.layersDrawn - before)
                var fresh = BoardPainter(width: 300, height: 200)
                #expect(canvas.fingerprint == fresh.canvas(of: board).fingerprint)
            }
            #expect(drawn.allSatisfy { $0 <= most }, "seed \(random.seed): \(drawn)")
            #expect(prefixBytes > 0 || drawn.contains { $0 > 255 })
            #expect(painter.byteCount - painter.versionBytes - 64 * 2000 <= prefixBytes)
        }
    }

    @Test func `draws one stroke for a new one, and nothing for undo and redo of the newest`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var board = PaintedBoard()
        var painter = BoardPainter(width: 400, height: 300)
        var pictures: [UInt64] = []
        for id in 1...50 as ClosedRange<UInt64> {
            board.add(id, PaintedBoard.randomStroke(&random))
            pictures.append(painter.canvas(of: board).fingerprint)
            #expect(painter.layersDrawn == Int(id))
        }
        for depth in 1...40 {
            board.visible.removeLast()
            let canvas = painter.canvas(of: board)
            #expect(canvas.fingerprint == pictures[board.visible.count - 1])
            #expect(painter.layersDrawn == 50, "undo \(depth)")
        }
        for id in 11...50 as ClosedRange<UInt64> {
            board.visible.append(id)
            let canvas = painter.canvas(of: board)
            #expect(canvas.fingerprint == pictures[board.visible.count - 1])
            #expect(painter.layersDrawn == 50, "redo of \(id)")
        }
    }

    @Test mutating func `redraws only the tiles of a removed stroke, and the strokes on them`() {
        for id in 0..<40 as Range<UInt64> { board.add(id, PaintedBoard.dash(Int(id), 0)) }
        // A second stroke on the tile of the fourth.
        board.add(40, PaintedBoard.dash(3, 0, colour: 0xD92020))
        var painter = BoardPainter(width: 64 * 40, height: 128)
        let before = painter.canvas(of: board)
        let drawn = painter.layersDrawn
        board.visible.remove(at: 3)
        let after = painter.canvas(of: board)
        #expect(painter.layersDrawn - drawn == 1)
        #expect(after.unsharedByteCount(with: before) == Tile.byteCount)
        #expect(after.fingerprint == board.drawn(width: 64 * 40, height: 128).fingerprint)
    }

    @Test
    mutating func `lets cursors at different places of the log share all tiles but those that changed between them`() {
        for id in 0..<60 as Range<UInt64> { board.add(id, PaintedBoard.dash(Int(id) % 10, Int(id) / 10)) }
        var painter = BoardPainter(width: 640, height: 640)
        func canvas(through count: Int) -> Canvas {
            var behind = board
            behind.visible = Array(board.visible.prefix(count))
            return painter.canvas(of: behind)
        }
        // The one farthest behind asks first, as it happens when all of them follow the log.
        let cohorts = [40, 50, 60].map(canvas(through:))
        let tiles = Set(cohorts.flatMap { $0.tiles.filter { !$0.isAbsent }.map(\.identity) })
        #expect(cohorts.map(\.tileCount) == [40, 50, 60])
        #expect(tiles.count == 60)
        #expect(painter.layersDrawn == 60)
    }

    @Test
    mutating func `keeps versions that cursors can come to, and at most one canvas of those that all have passed`() {
        var painter = BoardPainter(width: 640, height: 640)
        let canvasBytes = 100 * Tile.byteCount
        func picture(through count: Int, slowest: Int) -> Canvas {
            var behind = board
            behind.visible = Array(board.visible.prefix(count))
            return painter.canvas(of: behind, at: BoardPosition(index: UInt64(count), slowest: UInt64(slowest)))
        }
        // Each stroke touches all tiles.
        for id in 0..<40 as Range<UInt64> {
            let points = (0..<40).map {
                StrokePoint(x: $0.isMultiple(of: 2) ? 0 : 640, y: Double($0 * 16 + Int(id % 8)))
            }
            board.add(
                id,
                PaintedStroke(
                    stroke: InkStroke(element: .freehand, style: .smooth, width: 20, points: points),
                    colour: RGB(UInt32(id))))
        }
        for count in 1...20 { _ = picture(through: count, slowest: 1) }
        #expect(painter.versions.count == 20, "the slowest cursor can come to each of them")
        let drawn = painter.layersDrawn
        for count in 2...20 { _ = picture(through: count, slowest: count) }
        #expect(painter.layersDrawn == drawn)
        #expect(painter.tileBytes <= 2 * canvasBytes)
        _ = picture(through: 40, slowest: 30)
        #expect(painter.layersDrawn == drawn + 20, "the last picture below the slowest cursor was kept to begin with")
        #expect(painter.tileBytes <= 3 * canvasBytes)
        _ = picture(through: 40, slowest: 40)
        #expect(painter.tileBytes <= 2 * canvasBytes)
        #expect(painter.versions.count > 1, "one is kept for an undo")
    }

    @Test func `counts each tile of its versions once, whatever is used, passed or discarded`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var painter = StrokePainter(canvasWidth: 640, canvasHeight: 640)
        var cache = VersionCache(byteLimit: 150 * Tile.byteCount, countLimit: 20, pastByteLimit: 40 * Tile.byteCount)
        var made: [UInt64: Canvas] = [:]
        var canvas = Canvas(width: 640, height: 640)
        for step in 1...500 as ClosedRange<UInt64> {
            painter.draw(PaintedBoard.dash(random.int(0...9), random.int(0...9)), on: &canvas)
            if random.int(0...30) == 0 { canvas = Canvas(width: 640, height: 640) }
            let position = BoardPosition(page: random.int(0...1), index: step, slowest: 0)
            made[step] = canvas
            cache.keep(canvas, digest: step, at: random.int(0...2) == 0 ? nil : position)
            _ = cache.version(UInt64(random.int(1...Int(step))), at: random.int(0...1) == 0 ? nil : position)
            if random.int(0...2) == 0 {
                cache.discardPast(slowest: step - min(step, UInt64(random.int(0...10))))
                #expect(
                    cache.pastByteCount <= 40 * Tile.byteCount || cache.count == 1, "seed \(random.seed), step \(step)")
            }
            let kept = made.filter { cache.contains($0.key) }
            let tiles = Set(kept.values.flatMap { $0.tiles.filter { !$0.isAbsent }.map(\.identity) })
            #expect(cache.count == kept.count && cache.count <= 20, "seed \(random.seed), step \(step)")
            #expect(cache.tileByteCount == tiles.count * Tile.byteCount, "seed \(random.seed), step \(step)")
        }
    }

    @Test func `keeps the last version of every page`() {
        var boards = (0..<8).map { _ in PaintedBoard() }
        var painter = BoardPainter(width: 640, height: 640)
        for round in 1...20 as ClosedRange<UInt64> {
            for page in boards.indices {
                let id = UInt64(page) * 100 + round
                boards[page].add(id, PaintedBoard.dash(Int(round) % 10, page))
                let index = round * 10 + UInt64(page)
                _ = painter.canvas(of: boards[page], at: BoardPosition(page: page, index: index, slowest: index))
            }
        }
        #expect(painter.layersDrawn == 160, "each picture begins with the one before it of the same page")
    }

    private struct Enough: Error {}

    @Test func `keeps no version of a drawing that was told to stop until another picture is drawn`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var board = PaintedBoard()
        func add(_ id: UInt64) { board.add(id, PaintedBoard.randomStroke(&random)) }
        for id in 1...60 as ClosedRange<UInt64> { add(id) }
        var painter = BoardPainter(width: 400, height: 300)
        func drawOne() {
            var isFirst = true
            _ = try? painter.canvas(of: board.layers) { (place) throws(Enough) in
                guard isFirst else { throw Enough() }
                isFirst = false
                return board.content(place)
            }
        }
        for count in 1...40 {
            drawOne()
            #expect(painter.shownCount == count)
            #expect(painter.versions.count == 0 && painter.byteCount > 0, "each version would copy all tiles")
        }
        add(61)
        drawOne()
        #expect(painter.versions.count == 1 && painter.layersDrawn == 41)
        let canvas = painter.canvas(of: board)
        #expect(painter.layersDrawn == 61)
        #expect(canvas.fingerprint == board.drawn(width: 400, height: 300).fingerprint)
    }
}

/// The pixels of a board depend on its visible strokes alone, on nothing that was drawn before, with or without memory
/// to keep versions in, in one go or interrupted, on whatever thread.
@Suite struct `The same board has the same pixels` {
    /// A board that is drawn on, undone, redone, cleared, and of which strokes below others are removed.
    private struct Lesson {
        var board = PaintedBoard()
        private var undone: [UInt64] = []
        private var next: UInt64 = 1

        mutating func step(_ random: inout SeededGenerator) {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<10:
                board.add(next, PaintedBoard.randomStroke(&random))
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

    @Test(arguments: [0, 1 << 20, 64 << 20]) func `after any history, with any memory`(versionBytes: Int) {
        var random = SeededGenerator(seed: TestSeed.choose())
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
                    return board.content(place)
                }
            }
            let canvas = painter.canvas(of: board)
            let anew = board.drawn(width: 300, height: 200)
            #expect(canvas.fingerprint == anew.fingerprint, "seed \(random.seed), step \(step)")
            #expect(
                painter.versionBytes <= versionBytes || painter.versions.count == 1,
                "seed \(random.seed), step \(step)")
        }
    }

    @Test(arguments: [0, 64 << 20])
    func `after any number of stops, each at any place, while the board changes`(versionBytes: Int) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<12 {
            var lesson = Lesson()
            for _ in 0..<60 { lesson.step(&random) }
            var painter = BoardPainter(width: 300, height: 200, versionBytes: versionBytes)
            for step in 0..<40 {
                if Int.random(in: 0..<4, using: &random) == 0 { lesson.step(&random) }
                let board = lesson.board
                var left = Int.random(in: 0...5, using: &random)
                let canvas = try? painter.canvas(of: board.layers) { (place) throws(Interrupted) in
                    guard left > 0 else { throw Interrupted() }
                    left -= 1
                    return board.content(place)
                }
                guard let canvas else { continue }
                let anew = board.drawn(width: 300, height: 200)
                #expect(canvas.fingerprint == anew.fingerprint, "seed \(random.seed), round \(round), step \(step)")
            }
            let canvas = painter.canvas(of: lesson.board)
            let anew = lesson.board.drawn(width: 300, height: 200)
            #expect(canvas.fingerprint == anew.fingerprint, "seed \(random.seed), round \(round)")
        }
    }

    @Test(arguments: [InkStyle.smooth, .pen, .stamp])
    func `after a stroke that takes long was given up half drawn`(style: InkStyle) throws {
        let (width, height) = (1500, 1200)
        // One stroke to and fro, long enough that it is asked for twice whether it is wanted, and short ones around it.
        let count = style == .smooth ? 100 : 60
        let long = (0..<count).map { index in
            StrokePoint(
                x: index.isMultiple(of: 2) ? 10 : 1490, y: Double(index * 97 % height), force: Double(index % 7) / 6)
        }
        var board = PaintedBoard()
        board.add(1, PaintedBoard.dash(2, 2, colour: 0xFF))
        board.add(
            2,
            PaintedStroke(
                stroke: InkStroke(element: .freehand, style: style, width: 6, points: long), colour: RGB(0xFF00)))
        board.add(3, PaintedBoard.dash(3, 3))
        var painter = BoardPainter(width: width, height: height)
        for most in 0..<2 {
            var checks = 0
            #expect(throws: Interrupted.self) {
                _ = try painter.canvas(of: board.layers) { (place) throws(Interrupted) in
                    board.content(place)
                } check: { (place) throws(Interrupted) in
                    #expect(place == 1)
                    checks += 1
                    if checks > most { throw Interrupted() }
                }
            }
            #expect(checks == most + 1)
        }
        #expect(painter.layersDrawn == 1, "what was drawn before is kept, and nothing of the long stroke")
        let canvas = painter.canvas(of: board)
        #expect(canvas.fingerprint == board.drawn(width: width, height: height).fingerprint)
    }

    @Test func `on several threads, each of which begins at another place of the log`() async {
        var random = SeededGenerator(seed: TestSeed.choose())
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
                    for board in log[start...] { _ = painter.canvas(of: board) }
                    return log.suffix(20).map { board in
                        painter.canvas(of: board).fingerprint
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let anew = log.suffix(20).map { $0.drawn(width: 300, height: 200).fingerprint }
        for picture in pictures { #expect(picture == anew, "seed \(random.seed)") }
    }
}

@Suite struct `The size of a canvas` {
    @Test func `is exactly as wide as it is asked to be, and shows all of the board`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<3000 {
            let board = SIMD2(Double.random(in: 1...4000, using: &random), Double.random(in: 1...4000, using: &random))
            let width = random.int(1...4096)
            let size = CanvasSize(boardWidth: board.x, boardHeight: board.y, width: width)
            guard board.y * Double(width) / board.x <= 16_384 else { continue }
            #expect(size.width == width, "seed \(random.seed), round \(round)")
            #expect(abs(size.scale * board.x - Double(width)) < 1e-6, "seed \(random.seed), round \(round)")
            let missing = board.y * size.scale - Double(size.height)
            #expect(missing < 1e-6 && missing > -1, "seed \(random.seed), round \(round)")
        }
        for width in 1...4096 {
            #expect(CanvasSize(boardWidth: 1024, boardHeight: 768, width: width).width == width)
            #expect(CanvasSize(boardWidth: 1024, boardHeight: 768, width: width).height == (width * 3 + 3) / 4)
        }
    }

    @Test
    func `of boards that are too long, or have too many pixels, is smaller, of the same aspect and without a cut`() {
        let tall = CanvasSize(boardWidth: 100, boardHeight: 2000, width: 1200)
        #expect(tall == CanvasSize(boardWidth: 100, boardHeight: 2000, scale: 8.192))
        #expect(tall.width == 820 && tall.height == 16_384)
        let wide = CanvasSize(boardWidth: 10_000, boardHeight: 500, scale: 2)
        #expect(wide.width == 16_384 && wide.height == 820 && wide.scale == 1.6384)
        let large = CanvasSize(boardWidth: 3000, boardHeight: 2000, scale: 1, mostPixels: 1_500_000)
        #expect(large.width == 1500 && large.height == 1000 && large.scale == 0.5)
        let thin = CanvasSize(boardWidth: 1e9, boardHeight: 1e-3, scale: 1)
        #expect(thin.width == 16_384 && thin.height == 1)
        #expect(
            CanvasSize(boardWidth: 640, boardHeight: 480, scale: 1)
                == CanvasSize(boardWidth: 640, boardHeight: 480, width: 640))
    }
}
