// Pictures of boards and who waits for them, mostly from a `DrawnRoom` without a server; the PNG files are read by the
// decoder of the tests.

import Dispatch
import Locking
import Raster
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer
@testable import Whiteboard

@Suite struct BoardRendererTests {
    private let start = Instant(nanoseconds: 0)

    private func life(_ room: String = "room") throws -> RoomIncarnation {
        guard let id = RoomID(room) else { throw Unexpected("not a room: \(room)") }
        return RoomIncarnation(room: id, incarnation: "test")
    }

    private func renderer(_ byteLimit: Int = 64 << 20) -> BoardRenderer {
        BoardRenderer(ServerConfiguration(), byteLimit: byteLimit)
    }

    @Test func `of an erased room nothing is kept, of others everything`() throws {
        let room = try DrawnRoom(strokes: 30)
        let renderer = renderer()
        let (erased, other) = (try life("erased"), try life("other"))
        for life in [erased, other] { _ = try renderer.png(of: room.board, life, at: start) }
        let both = renderer.memory.usage.total
        renderer.memory.forget(erased.room)
        #expect(renderer.memory.usage.total == both / 2)
        renderer.memory.forget(other.room)
        #expect(renderer.memory.isEmpty)
    }

    @Test func `an evicted canvas is rendered again with the same pixels`() throws {
        let room = try DrawnRoom(strokes: 30)
        let renderer = renderer()
        let before = try renderer.png(of: room.board, life(), at: start)
        renderer.memory.evict(unusedSince: start)
        #expect(!renderer.memory.isEmpty, "it was used just then")
        renderer.memory.evict(unusedSince: start + .seconds(1))
        #expect(renderer.memory.isEmpty)
        #expect(renderer.memory.usage.total == 0)
        #expect(try renderer.png(of: room.board, life(), at: start + .seconds(2)) == before)
    }

    @Test func `all rooms together stay within the byte limit`() throws {
        let limit = 4 << 20
        let renderer = renderer(limit)
        let room = try DrawnRoom(strokes: 10)
        var first: [UInt8] = []
        for number in 0..<15 {
            let file = try renderer.png(of: room.board, life("room\(number)"), at: start + .seconds(number))
            if number == 0 { first = file }
            #expect(renderer.memory.usage.total <= limit, "\(number)")
        }
        #expect(renderer.memory.usage.total > limit / 4, "nothing is evicted while there is space")
        let drawn = renderer.memory.strokesDrawn
        _ = try renderer.png(of: room.board, life("room14"), at: start + .seconds(15))
        #expect(renderer.memory.strokesDrawn == drawn, "the newest room was kept")
        #expect(try renderer.png(of: room.board, life("room0"), at: start + .seconds(16)) == first)
    }

    @Test func `canvases that no cursor can come back to add one canvas a room at most`() throws {
        // 20 × 12 tiles.
        let canvas = 20 * 12 * 64 * 64 * 4
        let renderer = renderer(512 << 20)
        var rooms = (0..<3).map { _ in DrawnRoom() }
        var drawn = 0
        for picture in 0..<13 {
            for number in rooms.indices {
                var behind = rooms[number].board
                for stroke in 0..<60 {
                    if stroke == 40 { behind = rooms[number].board }
                    try rooms[number].drawLarge()
                }
                let life = try life("room\(number)")
                for (board, width) in [(behind, 320), (rooms[number].board, 1280)] {
                    _ = try renderer.picture(
                        of: board, slowest: behind.index, life, PictureForm(width: width),
                        at: start + .seconds(picture))
                }
                drawn += 60
            }
            // Of each room the two boards that cursors are at, which share tiles, and those for undo.
            #expect(renderer.memory.usage.tiles <= rooms.count * 3 * canvas, "\(picture)")
        }
        print("39 pictures of 3 rooms keep \(renderer.memory.usage)")
        // Each width has a canvas of its own.
        #expect(renderer.memory.strokesDrawn < drawn * 9 / 4, "a picture begins with the one before it")
    }

    @Test func `a picture shows the page shown or the one asked for, a PDF all pages in order`() throws {
        var room = try DrawnRoom(strokes: 3)
        let first = room.board
        try room.turn(to: 1)
        let blank = room.board
        try room.draw(2)
        let renderer = renderer()
        func picture(_ board: Board, _ form: PictureForm) throws -> [UInt8] {
            try renderer.picture(of: board, life(), form, at: start)
        }
        for format in [PictureFormat.png, .svg] {
            let old = try picture(first, PictureForm(format: format))
            let shown = try picture(room.board, PictureForm(format: format))
            #expect(shown != old)
            #expect(try picture(room.board, PictureForm(format: format, page: 0)) == old)
            #expect(try picture(room.board, PictureForm(format: format, page: 1)) == shown)
            let empty = try picture(blank, PictureForm(format: format))
            #expect(empty != old && empty != shown)
            #expect(try picture(room.board, PictureForm(format: format, page: 9)) == empty)
        }
        func pages(_ pdf: [UInt8]) -> Int {
            String(decoding: pdf, as: UTF8.self).matches(of: /\/Type \/Page\b[^s]/).count
        }
        #expect(pages(try picture(room.board, PictureForm(format: .pdf))) == 2)
        #expect(pages(try picture(room.board, PictureForm(format: .pdf, page: 1))) == 1)
    }

    @Test func `a picture is rendered and encoded once`() throws {
        let room = try DrawnRoom(strokes: 5)
        let renderer = renderer()
        let first = try renderer.png(of: room.board, life(), at: start)
        let interest = BoardRenderer.Interest(isWanted: {
            Issue.record("there was nothing to draw")
            return true
        })
        let again = try renderer.png(of: room.board, life(), at: start, while: interest)
        #expect(renderer.memory.strokesDrawn == 5)
        func place(_ file: [UInt8]) -> UnsafeRawPointer? { file.withUnsafeBytes { $0.baseAddress } }
        #expect(place(again) == place(first))
    }

    @Test func `undo draws no stroke, and another width all that are seen`() throws {
        var room = try DrawnRoom(strokes: 4)
        let renderer = renderer()
        let before = try renderer.png(of: room.board, life(), at: start)
        try room.draw()
        _ = try renderer.png(of: room.board, life(), at: start)
        try room.undo()
        #expect(try renderer.png(of: room.board, life(), at: start) == before)
        #expect(renderer.memory.strokesDrawn == 5)
        _ = try renderer.png(of: room.board, life(), width: 100, at: start)
        #expect(renderer.memory.strokesDrawn == 5 + 4)
    }

    @Test func `a cancelled rendering stops at the next stroke, and can be continued`() throws {
        let room = try DrawnRoom(strokes: 12)
        let renderer = renderer()
        var left = 7
        #expect(throws: BoardRenderer.Failure.cancelled) {
            let interest = BoardRenderer.Interest(isWanted: {
                left -= 1
                return left >= 0
            })
            _ = try renderer.png(of: room.board, life(), at: start, while: interest)
        }
        #expect(renderer.memory.strokesDrawn == 7)
        let file = try renderer.png(of: room.board, life(), at: start)
        #expect(renderer.memory.strokesDrawn == 12)
        #expect(try file == self.renderer().png(of: room.board, life(), at: start))
    }

    @Test func `a picture has the size of the board, also if one was requested before the first stroke`() throws {
        var room = DrawnRoom()
        let renderer = renderer()
        #expect(try size(of: renderer.png(of: room.board, life(), at: start)) == [1024, 768])
        try room.draw()
        #expect(try size(of: renderer.png(of: room.board, life(), at: start)) == [400, 300])
        try room.clear()
        #expect(try size(of: renderer.png(of: room.board, life(), at: start)) == [400, 300])
    }

    @Test func `a rendering cancelled within a stroke keeps the strokes below`() throws {
        var room = try DrawnRoom(strokes: 2)
        try room.drawLong()
        let renderer = renderer()
        var asked: [UInt64] = []
        #expect(throws: BoardRenderer.Failure.cancelled) {
            let interest = BoardRenderer.Interest(isStrokeWanted: { stroke in
                asked.append(stroke)
                return asked.count < 3
            })
            _ = try renderer.png(of: room.board, life(), at: start, while: interest)
        }
        #expect(asked == [3, 3, 3])
        #expect(renderer.memory.strokesDrawn == 2)
        let file = try renderer.png(of: room.board, life(), at: start)
        #expect(try file == self.renderer().png(of: room.board, life(), at: start))
    }

    @Test func `renderings under way and caches together stay within the byte limit`() async throws {
        let limit = 6 << 20
        let renderer = renderer(limit)
        let drawn = try DrawnRoom(strokes: 8)
        let room = drawn
        let expected = try self.renderer().png(of: room.board, life(), at: start)
        // One rendering takes more than half of the limit: the others wait.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for thread in 0..<3 {
                group.addTask {
                    try (0..<3).allSatisfy { number in
                        let life = try life("room\(thread)x\(number)")
                        return try renderer.png(of: room.board, life, at: start + .seconds(number)) == expected
                    }
                }
            }
            for try await areRight in group { #expect(areRight) }
        }
        #expect(renderer.memory.mostBytes <= limit)
        #expect(renderer.memory.mostBytes > limit / 2)
    }

    @Test func `of renderings that wait for memory none passes one that came before it`() async throws {
        let room = try DrawnRoom(strokes: 1)
        let small = room.board
        let wide = try DrawnRoom(width: 1200, height: 300)
        let large = wide.board
        let renderer = renderer(10 << 20)
        let order = Locked<[String]>([])
        let held = DispatchSemaphore(value: 0)
        @Sendable func draw(_ board: Board, _ name: String, isHeld: Bool = false) throws {
            var isFirst = true
            let interest = BoardRenderer.Interest(isWanted: {
                if isFirst { order.withLock { $0.append(name) } }
                if isFirst, isHeld { held.wait() }
                isFirst = false
                return true
            })
            _ = try renderer.png(of: board, life(name), at: start, while: interest)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Each on a thread of its own, as it blocks it.
            func start(_ board: Board, _ name: String, isHeld: Bool = false) {
                group.addTask {
                    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                        DispatchQueue(label: name).async {
                            continuation.resume(with: Result { try draw(board, name, isHeld: isHeld) })
                        }
                    }
                }
            }
            start(small, "first", isHeld: true)
            try await eventually("the first is drawn") { order.withLock { $0.isEmpty } ? nil : () }
            start(large, "large")
            try await eventually("the large one waits", is: renderer.memory.waitingCount == 1)
            start(small, "small")
            // There is memory for it beside the first.
            try await eventually("the small one waits behind it") {
                #expect(order.withLock { $0 } == ["first"])
                return renderer.memory.waitingCount == 2 || order.withLock { $0.count } > 1 ? () : nil
            }
            held.signal()
            try await group.waitForAll()
        }
        #expect(order.withLock { $0 } == ["first", "large", "small"])
    }

    @Test func `a large board with images and a lasso stays within the byte limit, too`() throws {
        let limit = 16 << 20
        let asset = String(repeating: "a", count: 64)
        var room = try DrawnRoom(width: 2000, height: 1000)
        try room.send(##""e":5,"i":"\##(asset)","d":[{"x":0,"y":0},{"x":2000,"y":1000}]"##)
        for number in 0..<300 {
            let (far, near) = (number * 5, number % 300)
            try room.send(##""l":3,"d":[{"x":\##(near),"y":0},{"x":\##(far),"y":900},{"x":3,"y":\##(near)}]"##)
        }
        let loop = ##"{"x":100,"y":100},{"x":900,"y":100},{"x":500,"y":900}"##
        try room.send(##""e":6,"m":[1,0,0,1,300,50],"k":1,"d":[\##(loop)]"##)
        let source = ImageSource(asset: try #require(AssetID(hexadecimal: asset)), page: 0)
        let key = PageImageCache.Key(source: source, width: 1024)
        let pixels = try #require(
            ImagePixels(width: 1024, height: 1024, bytes: [UInt8](repeating: 200, count: 4 << 20)))
        let renderer = renderer(limit)
        let file = try renderer.picture(
            of: room.board, life(), PictureForm(width: nil), images: PageImageSet([key], [key: pixels]), at: start)
        let side = size(of: file)
        #expect(side[0] * side[1] > 50_000 && abs(Double(side[0]) / Double(side[1]) - 2) < 0.1)
        #expect(renderer.memory.mostBytes <= limit)
    }

    @Test func `a board too large for the memory or for a canvas is rendered smaller, as a whole`() throws {
        let room = try DrawnRoom(width: 10_000, height: 50)
        var configuration = ServerConfiguration()
        configuration.canvasScale = 2
        let roomy = BoardRenderer(configuration, byteLimit: 1 << 30)
        #expect(try size(of: roomy.png(of: room.board, life(), at: start)) == [16_384, 82])
        let narrow = BoardRenderer(configuration, byteLimit: 16 << 20)
        let size = try size(of: narrow.png(of: room.board, life(), at: start))
        #expect(size[0] * size[1] <= (1 << 19) + 16_384 && size[0] > 3000)
        #expect(abs(Double(size[0]) / Double(size[1]) - 200) < 5)
        #expect(narrow.memory.mostBytes <= 16 << 20)
        let scaled = try self.size(of: narrow.png(of: room.board, life(), width: 640, at: start))
        #expect(scaled[0] == 640 && 3...4 ~= scaled[1])
    }

    @Test func `a part of a board has the pixels of the whole at its scale, and ends with the board`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let room = try DrawnRoom(strokes: 30)
        let renderer = renderer()
        for scale in [1, 2, 3] {
            let whole = try PNGReader(renderer.png(of: room.board, life(), width: 400 * scale, at: start))
            for _ in 0..<10 {
                let (x, y) = (random.int(0..<400), random.int(0..<300))
                let (width, height) = (random.int(1...500), random.int(1...400))
                let part = BoardPart(x: x, y: y, width: width, height: height)
                let form = PictureForm(width: width * scale, part: part)
                let file = try PNGReader(renderer.picture(of: room.board, life(), form, at: start))
                #expect(file.width == min(width, 400 - x) * scale && file.height == min(height, 300 - y) * scale)
                let expected = (0..<file.height).flatMap { row in
                    let first = (y * scale + row) * whole.width + x * scale
                    return whole.pixels[first..<first + file.width]
                }
                #expect(file.pixels == expected, "\(String(describing: part)) at \(scale)")
            }
        }
    }

    @Test func `a part that is asked for enlarged beyond the memory is smaller, and its canvas is not kept`() throws {
        let room = try DrawnRoom(strokes: 30)
        let limit = 16 << 20
        let renderer = renderer(limit)
        let form = PictureForm(width: 4096, part: BoardPart(x: 100, y: 100, width: 40, height: 20))
        let file = try renderer.picture(of: room.board, life(), form, at: start)
        let size = size(of: file)
        #expect(40...4095 ~= size[0] && abs(Double(size[0]) / Double(size[1]) - 2) < 0.1)
        #expect(renderer.memory.mostBytes <= limit)
        #expect(renderer.memory.usage.total == file.count)
    }

    private func size(of file: [UInt8]) -> [Int] {
        [16, 20].map { place in file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    }
}

extension BoardRenderer {
    func png(
        of board: Board, _ life: RoomIncarnation, width: Int? = nil, at now: Instant,
        while interest: Interest = Interest()
    ) throws(Failure) -> [UInt8] { try picture(of: board, life, PictureForm(width: width), at: now, while: interest) }
}

/// A room with one author, without a server, in virtual time.
struct DrawnRoom {
    private var room = Room(configuration: RoomConfiguration(), at: Instant(nanoseconds: 0))
    private var effects = RoomEffects()
    private var number = 0

    /// The board as it is now.
    var board: Board { room.head }

    /// The snapshot for a student who joins now.
    var catchUp: CatchUp {
        CatchUp(
            incarnation: "test", index: board.index, digest: board.digest, knownPages: board.pages,
            hasPages: board.hasPages, content: .board(board))
    }

    init() {}

    /// A room with so many strokes of ``draw()``.
    init(strokes: Int) throws { try draw(strokes) }

    /// A room with a diagonal across a board of that size.
    init(width: Int, height: Int) throws { try draw(width: width, height: height) }

    /// Draws a stroke across a board of 400 × 300, a different one each time.
    mutating func draw() throws {
        let points = (0..<12).map { #"{"x":\#(($0 * 37 + number * 7) % 400),"y":\#(($0 * 53 + number * 11) % 300)}"# }
        try send(#""l":4,"w":400,"h":300,"d":[\#(points.joined(separator: ","))]"#)
    }

    /// Shows a page.
    mutating func turn(to page: Int) throws { try send(#""a":5,"g":\#(page)"#) }

    /// Draws a diagonal across a board of that size.
    mutating func draw(width: Int, height: Int) throws {
        try send(#""l":4,"w":\#(width),"h":\#(height),"d":[{"x":0,"y":0},{"x":\#(width),"y":\#(height)}]"#)
    }

    /// Draws one of many words on a board of 1280 × 720.
    mutating func drawLarge() throws {
        let (left, top) = (number * 97 % 1100, number * 61 % 640)
        let points = (0..<24).map { #"{"x":\#(left + $0 * 7),"y":\#(top + $0 * 29 % 60)}"# }
        try send(#""l":4,"w":1280,"h":720,"d":[\#(points.joined(separator: ","))]"#)
    }

    /// Draws a thin zigzag of so many segments that rendering takes long.
    mutating func drawLong() throws {
        let points = (0..<1500).map { #"{"x":\#($0 % 2 * 390),"y":\#($0 * 53 % 300)}"# }
        try send(#""l":0.1,"w":400,"h":300,"d":[\#(points.joined(separator: ","))]"#)
    }

    mutating func draw(_ count: Int) throws {
        for _ in 0..<count { try draw() }
    }

    mutating func undo() throws { try send(#""a":2"#) }

    mutating func clear() throws { try send(#""a":4"#) }

    /// Sends a message with these members, which has to be accepted.
    mutating func send(_ members: String) throws {
        guard let author = AuthorID("anna") else { throw Unexpected("not an author") }
        number += 1
        // A minute apart: below the limits on the rate of messages.
        let now = Instant(nanoseconds: 0) + .seconds(60 * number)
        let bytes = Array(#"{"n":\#(number),"t":0,\#(members)}"#.utf8)
        let incoming = IncomingMessage(author: author, session: nil, bytes: bytes, loggedAt: now)
        let before = board.index
        room.receive(incoming, incarnation: { "test" }, at: now, into: &effects)
        effects.removeAll()
        guard board.index == before + 1 else { throw Unexpected("message \(number) was not accepted") }
    }
}
