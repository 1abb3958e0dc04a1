import Ink
import Locking
import Raster
import StrokeWire
import TestSupport
import Testing
import VectorGraphics

@testable import LecternServer
@testable import Whiteboard

/// Pictures of pages with images and lassos.
@Suite(.timeLimit(.minutes(5))) struct LassoPictureTests {
    /// A renderer, and the lassos that it has skipped. A quarter of its bytes is for what lassos make.
    private func rendererOfFewParts() -> (BoardRenderer, skipped: Locked<Int>) {
        let skipped = Locked(0)
        let renderer = BoardRenderer(ServerConfiguration(), byteLimit: 4 << 20) { count in
            skipped.withLock { $0 += count }
        }
        return (renderer, skipped)
    }

    /// Each of its lassos makes twice as many parts.
    private func roomOfManyParts() throws -> DrawnRoom {
        var room = try DrawnRoom(strokes: 4)
        for _ in 0..<8 {
            try room.send(
                #""e":6,"k":1,"w":400,"h":300,"m":[1,0,0,1,1,1],"d":[{"x":0,"y":0},{"x":400,"y":0},{"x":400,"y":300},{"x":0,"y":300}]"#
            )
        }
        return room
    }

    /// The images of a board, those of some assets missing.
    private func images(
        of board: Board, by renderer: BoardRenderer, without missing: Set<Character> = []
    ) -> PageImageSet {
        let keys = renderer.images(of: board, PictureForm())
        var there: [PageImageCache.Key: ImagePixels] = [:]
        for key in keys where !missing.contains(key.source.asset.description.first ?? "0") {
            there[key] = Self.pixels(key)
        }
        return PageImageSet(keys, there)
    }

    /// Stripes, other ones for each asset.
    private static func pixels(_ key: PageImageCache.Key) -> ImagePixels? {
        let shade = UInt8(truncatingIfNeeded: key.source.asset.description.utf8.first ?? 0)
        let bytes = (0..<48 * 32).flatMap { pixel -> [UInt8] in
            pixel / 6 % 2 == 0 ? [shade, 40, 200, 255] : [20, 100, 0, 128]
        }
        return ImagePixels(width: 48, height: 32, bytes: bytes)
    }

    @Test func `a picture made step by step is the one made at once, whatever comes, goes and returns`() throws {
        for var random in TestSeed.generators(3) {
            let style = random.pick(InkStyle.allCases)
            let renderer = BoardRenderer.test { $0.style = style }
            var room = DrawnRoom()
            var earlier: [Board] = []
            for step in 0..<24 {
                // An undo where there is nothing to be undone is refused.
                try? room.send(RandomPage.message(&random, mayUndo: step > 0))
                // Not every board is drawn, and cohorts look at earlier ones.
                if random.chance(1, in: 3) { continue }
                earlier.append(room.board)
                let board = random.chance(1, in: 4) ? random.pick(earlier) : room.board
                let missing: Set<Character> = random.chance(1, in: 4) ? ["a"] : []
                let images = images(of: board, by: renderer, without: missing)
                let once = try BoardRenderer.test { $0.style = style }.picture(of: board, images: images)
                let picture = try renderer.picture(of: board, images: images)
                #expect(picture == once, "seed \(random.seed), step \(step), \(style)")
            }
        }
    }

    @Test func `a new stroke above lassos draws one layer, and the undo of a lasso none`() throws {
        var room = try DrawnRoom(strokes: 6)
        let renderer = BoardRenderer.test()
        func png() throws -> [UInt8] { try renderer.picture(of: room.board) }
        let before = try png()
        let drawn = renderer.memory.strokesDrawn
        try room.send(
            #""e":6,"w":400,"h":300,"m":[1,0,0,1,30,20],"d":[{"x":0,"y":0},{"x":90,"y":0},{"x":90,"y":90},{"x":0,"y":90}]"#
        )
        let moved = try png()
        #expect(moved != before)
        try room.draw()
        let above = renderer.memory.strokesDrawn
        #expect(above > drawn)
        _ = try png()
        #expect(renderer.memory.strokesDrawn == above + 1)
        try room.undo()
        #expect(try png() == moved)
        try room.undo()
        #expect(try png() == before)
        #expect(renderer.memory.strokesDrawn == above + 1)
    }

    @Test func `lassos beyond the limits are counted when a page is cut, and not again`() throws {
        let (renderer, skipped) = rendererOfFewParts()
        var room = try roomOfManyParts()
        _ = try renderer.picture(of: room.board)
        let first = skipped.withLock { $0 }
        #expect(first > 0 && first < 8)
        try room.draw()
        _ = try renderer.picture(of: room.board)
        #expect(skipped.withLock { $0 } == first)
        // Canvases of other sizes, parts and documents have what is cut already.
        let part = try #require(BoardPart(x: 100, y: 100, width: 50, height: 50))
        let forms = [PictureForm(width: 123), PictureForm(part: part)]
        for form in forms + [PictureForm(format: .svg), PictureForm(format: .pdf)] {
            _ = try renderer.picture(of: room.board, form)
            #expect(skipped.withLock { $0 } == first, "\(form)")
        }
    }

    @Test func `pieces cut for a document serve the next one and a canvas, until they are evicted`() throws {
        let (renderer, skipped) = rendererOfFewParts()
        let room = try roomOfManyParts()
        func picture(_ form: PictureForm) throws { _ = try renderer.picture(of: room.board, form) }
        try picture(PictureForm(format: .svg))
        let first = skipped.withLock { $0 }
        #expect(first > 0)
        try picture(PictureForm(format: .svg, width: 200))
        try picture(PictureForm())
        #expect(skipped.withLock { $0 } == first)
        #expect(renderer.memory.usage[.scenes] > 0)
        renderer.memory.evict(unusedSince: Instant(nanoseconds: 1))
        #expect(renderer.memory.isEmpty)
        try picture(PictureForm())
        #expect(skipped.withLock { $0 } == 2 * first)
    }

    @Test func `documents reserve memory for what erasers and lassos cut, and InkML for none`() throws {
        let renderer = DocumentRenderer(
            strokes: StrokeSource(ServerConfiguration()), bounds: PictureBounds(byteLimit: 64 << 20, scale: 1))
        func bytes(_ messages: [String], _ format: PictureFormat) throws -> Int {
            var room = DrawnRoom()
            try room.draw(3)
            for message in messages { try room.send(message) }
            return renderer.bytesToRender(room.board, pages: [0], images: 0, format)
        }
        let points = #""w":400,"h":300,"d":[{"x":0,"y":0},{"x":90,"y":0},{"x":90,"y":90}]"#
        let (line, eraser, lasso) = (#""e":1,\#(points)"#, #""e":4,\#(points)"#, #""e":6,\#(points)"#)
        for format in [PictureFormat.svg, .pdf] {
            let plain = try bytes([line], format)
            #expect(try bytes([eraser], format) > plain + 1 << 20)
            #expect(try bytes([lasso], format) > plain + 1 << 20)
            #expect(try bytes([eraser, #""a":2"#], format) < plain)
        }
        #expect(try bytes([eraser], .inkml) == bytes([line], .inkml))
    }

    @Test func `a lasso of hardly any size ends no picture`() throws {
        for size in ["1e-305", "1e-308"] {
            for format in [PictureFormat.png, .svg, .pdf] {
                var room = DrawnRoom()
                try room.send(#""e":0,"w":400,"h":300,"d":[{"x":0,"y":0},{"x":100,"y":100}]"#)
                let form = PictureForm(format: format)
                let before = try BoardRenderer.test().picture(of: room.board, form)
                try room.send(
                    #""e":6,"w":400,"h":300,"m":[1,0,0,1,5,5],"d":[{"x":\#(size),"y":0},{"x":0,"y":\#(size)},{"x":0,"y":0}]"#
                )
                #expect(try BoardRenderer.test().picture(of: room.board, form) == before)
            }
        }
    }

    @Test func `a lasso is in the units of its sender, as strokes are`() throws {
        func board(_ scale: Int) throws -> Board {
            func point(_ x: Int, _ y: Int) -> String { #"{"x":\#(x * scale),"y":\#(y * scale * 2)}"# }
            let size = #""w":\#(400 * scale),"h":\#(300 * scale * 2)"#
            var room = try DrawnRoom(strokes: 2)
            // A quarter turn about the middle, in units that are twice as high as they are wide.
            try room.send(
                #""e":6,\#(size),"m":[0,2,-0.5,0,\#(350 * scale),\#(-100 * scale)],"d":[\#(point(50, 50)),\#(point(350, 50)),\#(point(200, 250))]"#
            )
            return room.board
        }
        let one = try BoardRenderer.test().picture(of: board(1))
        #expect(try BoardRenderer.test().picture(of: board(3)) == one)
        var plain = try DrawnRoom(strokes: 2)
        try plain.send(
            #""e":6,"w":400,"h":300,"m":[0,1,-1,0,350,-50],"d":[{"x":50,"y":50},{"x":350,"y":50},{"x":200,"y":250}]"#)
        #expect(try BoardRenderer.test().picture(of: plain.board) == one)
    }

    @Test func `an image is asked for once, at the width that it needs`() throws {
        var room = DrawnRoom()
        let (a, b) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
        func place(_ asset: String, page: Int, from: Int, to: Int) throws {
            try room.send(
                #""e":5,"i":"\#(asset)","p":\#(page),"w":1024,"h":768,"d":[{"x":\#(from),"y":0},{"x":\#(to),"y":90}]"#)
        }
        try place(a, page: 0, from: 0, to: 100)
        try place(b, page: 3, from: 10, to: 40)
        try place(a, page: 0, from: 900, to: 200)
        let keys = BoardRenderer.test().images(of: room.board, PictureForm())
        #expect(keys.map(\.width) == [768, 64])
        #expect(keys.map(\.source.page) == [0, 3])
        #expect(BoardRenderer.test().images(of: room.board, PictureForm(format: .svg)).map(\.width) == [1536, 64])
        #expect(BoardRenderer.test().images(of: room.board, PictureForm(format: .inkml)).isEmpty)
    }

    @Test func `many images are asked for at widths that fit the memory together`() throws {
        var room = DrawnRoom()
        let count = 40
        for page in 0..<count {
            try room.send(
                #""e":5,"i":"\#(String(repeating: "a", count: 64))","p":\#(page),"w":1024,"h":768,"d":[{"x":0,"y":0},{"x":1024,"y":768}]"#
            )
        }
        let limit = 64 << 20
        for format in [PictureFormat.png, .pdf] {
            let keys = BoardRenderer.test(limit).images(of: room.board, PictureForm(format: format))
            let widths = Set(keys.map(\.width))
            #expect(keys.count == count && widths == [256])
            #expect(keys.reduce(0) { $0 + 4 * $1.width * $1.width * 3 / 4 } <= limit / 4)
        }
    }

    @Test func `documents hold the images that are there, and frames for the others`() throws {
        var room = DrawnRoom()
        for (digit, x) in [("a", 10), ("b", 200)] {
            try room.send(
                #""e":5,"i":"\#(String(repeating: digit, count: 64))","w":400,"h":300,"d":[{"x":\#(x),"y":10},{"x":\#(x + 100),"y":90}]"#
            )
        }
        let renderer = BoardRenderer.test()
        let images = images(of: room.board, by: renderer, without: ["b"])
        #expect(images.isIncomplete)
        func text(_ format: PictureFormat) throws -> String {
            let file = try renderer.picture(of: room.board, PictureForm(format: format), images: images)
            return String(decoding: file, as: UTF8.self)
        }
        let svg = try text(.svg)
        #expect(svg.ranges(of: "<image ").count == 1 && svg.ranges(of: "#b0b0b0").count == 1)
        // The pixels and their transparency.
        #expect(try text(.pdf).matches(of: /\/Subtype \/Image/).count == 2)
    }
}

/// Messages of a page with all there is, on a board of 400 × 300.
enum RandomPage {
    static func message(_ random: inout SeededGenerator, mayUndo: Bool) -> String {
        switch random.int(0..<12) {
        case 0 where mayUndo, 1 where mayUndo: return #""a":2"#
        case 2 where mayUndo: return #""a":3"#
        case 3, 4: return #""e":6,\#(map(&random))"w":400,"h":300,"d":[\#(points(random.int(3...9), &random))]"#
        case 5:
            let asset = String(repeating: random.pick(["a", "b"]), count: 64)
            return #""e":5,"i":"\#(asset)","w":400,"h":300,"d":[\#(points(2, &random))]"#
        case 6: return #""e":4,"l":24,"w":400,"h":300,"d":[\#(points(6, &random))]"#
        case 7: return #""e":\#(random.int(1...3)),"l":6,"w":400,"h":300,"d":[\#(points(2, &random))]"#
        default:
            let style = #""c":\#(random.int(0...7)),"l":\#(random.int(2...16))"#
            return #"\#(style),"w":400,"h":300,"d":[\#(points(random.int(1...12), &random))]"#
        }
    }

    private static func map(_ random: inout SeededGenerator) -> String {
        let keeps = random.chance(1, in: 3) ? "\"k\":1," : ""
        let (x, y) = (random.int(-150...150), random.int(-100...100))
        switch random.int(0..<4) {
        case 0: return keeps.isEmpty ? "" : keeps
        case 1: return #"\#(keeps)"m":[1,0,0,1,\#(x),\#(y)],"#
        case 2: return #"\#(keeps)"m":[-0.8,0.3,0.2,1.1,\#(x + 200),\#(y)],"#
        default: return #"\#(keeps)"m":[0.6,0.5,-0.5,0.6,\#(x + 100),\#(y)],"#
        }
    }

    private static func points(_ count: Int, _ random: inout SeededGenerator) -> String {
        (0..<count).map { _ in
            #"{"x":\#(random.int(-40...440)),"y":\#(random.int(-40...340)),"f":0.\#(random.int(1...9))}"#
        }.joined(separator: ",")
    }
}
