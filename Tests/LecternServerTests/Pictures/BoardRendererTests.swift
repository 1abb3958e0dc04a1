// Pictures of boards and who waits for them, mostly from a `DrawnRoom` without a server; the PNG files are read by the
// decoder of the tests.

import Dispatch
import Locking
import Raster
import StrokeWire
import TestSupport
import Testing
import VectorGraphics

@testable import LecternServer
@testable import Whiteboard

@Suite struct BoardRendererTests {
    private let start = Instant(nanoseconds: 0)

    @Test func `of an erased room nothing is kept, of others everything`() throws {
        let room = try DrawnRoom(strokes: 30)
        let renderer = BoardRenderer.test()
        for name in ["erased", "other"] { _ = try renderer.picture(of: room.board, in: name) }
        let both = renderer.memory.usage.total
        renderer.memory.forget(try RoomID.test("erased"))
        #expect(renderer.memory.usage.total == both / 2)
        renderer.memory.forget(try RoomID.test("other"))
        #expect(renderer.memory.isEmpty)
    }

    @Test func `an evicted canvas is rendered again with the same pixels`() throws {
        let room = try DrawnRoom(strokes: 30)
        let renderer = BoardRenderer.test()
        let before = try renderer.picture(of: room.board)
        renderer.memory.evict(unusedSince: start)
        #expect(!renderer.memory.isEmpty, "it was used just then")
        renderer.memory.evict(unusedSince: start + .seconds(1))
        #expect(renderer.memory.isEmpty)
        #expect(renderer.memory.usage.total == 0)
        #expect(try renderer.picture(of: room.board, at: start + .seconds(2)) == before)
    }

    @Test func `all rooms together stay within the byte limit`() throws {
        let limit = 4 << 20
        let renderer = BoardRenderer.test(limit)
        let room = try DrawnRoom(strokes: 10)
        var first: [UInt8] = []
        for number in 0..<15 {
            let file = try renderer.picture(of: room.board, in: "room\(number)", at: start + .seconds(number))
            if number == 0 { first = file }
            #expect(renderer.memory.usage.total <= limit, "\(number)")
        }
        #expect(renderer.memory.usage.total > limit / 4, "nothing is evicted while there is space")
        let drawn = renderer.memory.strokesDrawn
        _ = try renderer.picture(of: room.board, in: "room14", at: start + .seconds(15))
        #expect(renderer.memory.strokesDrawn == drawn, "the newest room was kept")
        #expect(try renderer.picture(of: room.board, in: "room0", at: start + .seconds(16)) == first)
    }

    @Test func `canvases that no cursor can come back to add one canvas a room at most`() throws {
        // 20 × 12 tiles.
        let canvas = 20 * 12 * 64 * 64 * 4
        let renderer = BoardRenderer.test(512 << 20)
        var rooms = (0..<3).map { _ in DrawnRoom() }
        var drawn = 0
        for picture in 0..<13 {
            for number in rooms.indices {
                var behind = rooms[number].board
                for stroke in 0..<60 {
                    if stroke == 40 { behind = rooms[number].board }
                    try rooms[number].drawLarge()
                }
                for (board, width) in [(behind, 320), (rooms[number].board, 1280)] {
                    _ = try renderer.picture(
                        of: board, slowest: behind.index, in: "room\(number)", PictureForm(width: width),
                        at: start + .seconds(picture))
                }
                drawn += 60
            }
            // Of each room the two boards that cursors are at, which share tiles, and those for undo.
            #expect(renderer.memory.usage[.tiles] <= rooms.count * 3 * canvas, "\(picture)")
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
        let renderer = BoardRenderer.test()
        func picture(_ board: Board, _ form: PictureForm) throws -> [UInt8] { try renderer.picture(of: board, form) }
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
        let renderer = BoardRenderer.test()
        let first = try renderer.picture(of: room.board)
        let interest = BoardRenderer.Interest(isWanted: {
            Issue.record("there was nothing to draw")
            return true
        })
        let again = try renderer.picture(of: room.board, while: interest)
        #expect(renderer.memory.strokesDrawn == 5)
        func place(_ file: [UInt8]) -> UnsafeRawPointer? { file.withUnsafeBytes { $0.baseAddress } }
        #expect(place(again) == place(first))
    }

    @Test func `undo draws no stroke, and another width all that are seen`() throws {
        var room = try DrawnRoom(strokes: 4)
        let renderer = BoardRenderer.test()
        let before = try renderer.picture(of: room.board)
        try room.draw()
        _ = try renderer.picture(of: room.board)
        try room.undo()
        #expect(try renderer.picture(of: room.board) == before)
        #expect(renderer.memory.strokesDrawn == 5)
        _ = try renderer.picture(of: room.board, PictureForm(width: 100))
        #expect(renderer.memory.strokesDrawn == 5 + 4)
    }

    @Test func `a cancelled rendering stops at the next stroke, and can be continued`() throws {
        let room = try DrawnRoom(strokes: 12)
        let renderer = BoardRenderer.test()
        var left = 7
        #expect(throws: DrawingStopped.unwanted) {
            let interest = BoardRenderer.Interest(isWanted: {
                left -= 1
                return left >= 0
            })
            _ = try renderer.picture(of: room.board, while: interest)
        }
        #expect(renderer.memory.strokesDrawn == 7)
        let file = try renderer.picture(of: room.board)
        #expect(renderer.memory.strokesDrawn == 12)
        #expect(try file == BoardRenderer.test().picture(of: room.board))
    }

    @Test func `a picture has the size of the board, also if one was requested before the first stroke`() throws {
        var room = DrawnRoom()
        let renderer = BoardRenderer.test()
        #expect(try size(of: renderer.picture(of: room.board)) == [1024, 768])
        try room.draw()
        #expect(try size(of: renderer.picture(of: room.board)) == [400, 300])
        try room.clear()
        #expect(try size(of: renderer.picture(of: room.board)) == [400, 300])
    }

    @Test func `a rendering cancelled within a stroke keeps the strokes below`() throws {
        var room = try DrawnRoom(strokes: 2)
        try room.drawLong()
        let renderer = BoardRenderer.test()
        var asked: [UInt64] = []
        #expect(throws: DrawingStopped.unwanted) {
            let interest = BoardRenderer.Interest(isStrokeWanted: { stroke in
                asked.append(stroke)
                return asked.count < 3
            })
            _ = try renderer.picture(of: room.board, while: interest)
        }
        #expect(asked == [3, 3, 3])
        #expect(renderer.memory.strokesDrawn == 2)
        let file = try renderer.picture(of: room.board)
        #expect(try file == BoardRenderer.test().picture(of: room.board))
    }

    @Test func `renderings under way and caches together stay within the byte limit`() async throws {
        let limit = 6 << 20
        let renderer = BoardRenderer.test(limit)
        let drawn = try DrawnRoom(strokes: 8)
        let room = drawn
        let expected = try BoardRenderer.test().picture(of: room.board)
        // One rendering takes more than half of the limit: the others wait.
        let areRight = try await concurrently(0..<3) { thread in
            try (0..<3).allSatisfy { number in
                try renderer.picture(
                    of: room.board, in: "room\(thread)x\(number)", at: start + .seconds(number)) == expected
            }
        }
        #expect(areRight == [true, true, true])
        #expect(renderer.memory.mostBytes <= limit)
        #expect(renderer.memory.mostBytes > limit / 2)
    }

    @Test func `of renderings that wait for memory none passes one that came before it`() async throws {
        let room = try DrawnRoom(strokes: 1)
        let small = room.board
        let wide = try DrawnRoom(width: 1200, height: 300)
        let large = wide.board
        let renderer = BoardRenderer.test(10 << 20)
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
            _ = try renderer.picture(of: board, in: name, while: interest)
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
        let renderer = BoardRenderer.test(limit)
        let file = try renderer.picture(of: room.board, images: PageImageSet([key], [key: pixels]))
        let side = size(of: file)
        #expect(side[0] * side[1] > 50_000 && abs(Double(side[0]) / Double(side[1]) - 2) < 0.1)
        #expect(renderer.memory.mostBytes <= limit)
    }

    @Test func `a board too large for the memory or for a canvas is rendered smaller, as a whole`() throws {
        let room = try DrawnRoom(width: 10_000, height: 50)
        let roomy = BoardRenderer.test(1 << 30) { $0.canvasScale = 2 }
        #expect(try size(of: roomy.picture(of: room.board)) == [16_384, 82])
        let narrow = BoardRenderer.test(16 << 20) { $0.canvasScale = 2 }
        let size = try size(of: narrow.picture(of: room.board))
        #expect(size[0] * size[1] <= (1 << 19) + 16_384 && size[0] > 3000)
        #expect(abs(Double(size[0]) / Double(size[1]) - 200) < 5)
        #expect(narrow.memory.mostBytes <= 16 << 20)
        let scaled = try self.size(of: narrow.picture(of: room.board, PictureForm(width: 640)))
        #expect(scaled[0] == 640 && 3...4 ~= scaled[1])
    }

    @Test func `a part of a board has the pixels of the whole at its scale, and ends with the board`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let room = try DrawnRoom(strokes: 30)
        let renderer = BoardRenderer.test()
        for scale in [1, 2, 3] {
            let whole = try PNGReader(renderer.picture(of: room.board, PictureForm(width: 400 * scale)))
            for _ in 0..<10 {
                let (x, y) = (random.int(0..<400), random.int(0..<300))
                let (width, height) = (random.int(1...500), random.int(1...400))
                let part = BoardPart(x: x, y: y, width: width, height: height)
                let form = PictureForm(width: width * scale, part: part)
                let file = try PNGReader(renderer.picture(of: room.board, form))
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
        let renderer = BoardRenderer.test(limit)
        let form = PictureForm(width: 4096, part: BoardPart(x: 100, y: 100, width: 40, height: 20))
        let file = try renderer.picture(of: room.board, form)
        let size = size(of: file)
        #expect(40...4095 ~= size[0] && abs(Double(size[0]) / Double(size[1]) - 2) < 0.1)
        #expect(renderer.memory.mostBytes <= limit)
        #expect(renderer.memory.usage.total == file.count)
    }

    private func size(of file: [UInt8]) -> [Int] {
        [16, 20].map { place in file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    }
}
