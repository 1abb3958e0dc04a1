import CoreTrial
import Raster
import Scene
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

/// A student's page: a playout, and the pixels that a shell would have.
private struct Page {
    var playout = BoardPlayout(followsPlayer: true)
    var painter = PlayoutPainter()
    var picture = Picture()
    private(set) var pixels: [UInt32] = []
    private(set) var repaints = 0

    mutating func perform(_ actions: [PlayoutAction]) {
        if painter.perform(actions, of: &playout, on: picture) { repaints += 1 }
    }

    mutating func view(_ page: Int?) { _ = painter.view(page, of: &playout, on: picture) }
    mutating func resize(_ width: Int) { _ = painter.resize(width, of: &playout, on: picture) }

    mutating func draw() -> [UInt32] {
        _ = picture.draw { true }
        let (width, height) = (picture.size.width, picture.size.height)
        if pixels.count != width * height {
            pixels = Array(repeating: 0, count: width * height)
            picture.presentAll()
        }
        picture.takeBoxes(onto: &pixels, width: width)
        return pixels
    }
}

@Suite struct `A student's board as it is seen` {
    /// The page of a board that knows nothing else: with what is veiled left out, wet ink on top and its paper below.
    private func expected(_ page: Page, width: Int) -> [UInt32] {
        let board = page.playout.board
        let number = page.painter.page(of: page.playout)
        var fresh = Page()
        let entries = board.visible(on: number).filter { !page.playout.veiled.contains($0.index) }.map {
            Picture.Entry(id: $0.index, message: $0.message.bytes)
        }
        let strokes = page.playout.wetInk.strokes.filter { $0.page == number && !$0.points.isEmpty }
        let wet = strokes.enumerated().map { place, stroke in
            Picture.Entry(id: 1 << 61 + UInt64(place), points: Array(stroke.points), style: stroke.style)
        }
        fresh.picture.show(
            entries, width: board.size.width, height: board.size.height, pixels: width,
            decoder: EntryDecoder(named: "smooth".utf8, palette: .standard))
        fresh.picture.showLive(wet)
        fresh.picture.lay(board.paper(of: number))
        return fresh.draw()
    }

    @Test(arguments: [true, false])
    func `in a room whose messages have colours, not places in a palette, draws these colours`(isRGB: Bool) {
        var page = Page()
        let writer = JoinReplyWriter(
            room: "r", index: 0, digest: .empty, palette: .standard, style: "smooth", features: isRGB ? .rgbColours : []
        )
        let board = writer.board(
            width: 100, height: 100, isProvisional: false, visible: EmptyCollection<JoinedOperation>(),
            redo: EmptyCollection<JoinedOperation>())
        page.resize(100)
        page.perform(page.playout.receive(.board, board, player: nil, at: .zero))
        // Blue in the palette is 2; as a colour that is nearly black. The other is no place in the palette.
        for (place, colour) in [2, 0x12_34_56].enumerated() {
            let line = "\"d\":[{\"x\":0,\"y\":\(30 + 40 * place)},{\"x\":100,\"y\":\(30 + 40 * place)}]"
            let message = "{\"n\":\(place),\"w\":100,\"h\":100,\"l\":9,\"c\":\(colour),\(line)}"
            let event = GatewayEvent.operation(UInt64(place + 1), message)
            page.perform(page.playout.receive(.operation, event, player: nil, at: .zero))
        }
        let pixels = page.draw()
        // Red, green and blue, the least byte first.
        #expect(pixels[30 * 100 + 50] == (isRGB ? 0xff_02_00_00 : 0xff_d8_4f_1f))
        #expect(pixels[70 * 100 + 50] == (isRGB ? 0xff_56_34_12 : 0xff_00_00_00))
    }

    @Test(
        "has the page's pixels drawn at once, whatever comes, is undone, turned, veiled or grows",
        arguments: TestSeed.choose(4))
    func pixels(seed: UInt64) throws {
        var service = RandomRoom(RandomRoom.history(seed), seed: seed)
        for _ in 0..<40 { service.act() }
        var random = SeededGenerator(seed: seed)
        var page = Page()
        var (now, player, width) = (0, 0, 300)
        var strokes: [Int: (page: Int, start: Int)] = [:]
        func time() -> MediaTime { MediaTime(milliseconds: Int64(player)) }
        page.perform(page.playout.receive(.board, service.replyBytes(), player: time(), at: .zero))
        page.resize(width)
        for step in 0..<250 {
            service.act()
            while page.playout.received < service.room.head.index {
                let next = GatewayEvent.operation(service.operations[Int(page.playout.received)])
                page.perform(page.playout.receive(.operation, next, player: time(), at: .milliseconds(now)))
            }
            if random.chance(1, in: 3) {
                let number = step / 20
                if strokes[number] == nil { strokes[number] = (page.playout.board.pages.shown, player) }
                let (onPage, start) = strokes[number] ?? (0, 0)
                let points = (0...random.int(1...6)).map { place in
                    #"{"x":\#(place * 40),"y":\#(random.int(0...700)),"m":\#(place * 100)}"#
                }
                let members = #""n":\#(number),"k":0,"page":\#(onPage),"t":\#(start)"#
                let wet = #"{"author":"dan",\#(members),"c":1,"l":3,"e":0,"d":[\#(points.joined(separator: ","))]}"#
                page.perform(page.playout.receive(.wet, Array(wet.utf8), player: time(), at: .milliseconds(now)))
            }
            now += random.int(0...40)
            player += random.pick([0, 100, 400, 900])
            page.perform(page.playout.look(time(), at: .milliseconds(now)))
            if random.chance(1, in: 9) { page.view(random.pick([nil, 0, 1])) }
            // As a shell does after each frame, and when another page is viewed.
            let number = page.painter.page(of: page.playout)
            page.perform(page.playout.grow(time(), on: number, at: .milliseconds(now)).actions)
            if random.chance(1, in: 40) {
                width = random.pick([300, 220])
                page.resize(width)
            }
            guard step % 10 == 9 else { continue }
            let isSame = page.draw() == expected(page, width: width)
            #expect(isSame, "step \(step)")
        }
        // A new board in place of that one.
        page.perform(page.playout.receive(.board, service.replyBytes(), player: nil, at: .milliseconds(now)))
        let isSame = page.draw() == expected(page, width: width)
        #expect(isSame)
    }

    @Test func `one more stroke draws one more layer`() throws {
        var page = Page()
        page.playout = BoardPlayout(followsPlayer: false)
        page.perform(page.playout.receive(.board, GatewayEvent.emptyBoard, player: nil, at: .zero))
        page.resize(200)
        for index in 1...50 as ClosedRange<UInt64> {
            let stroke =
                "{\"n\":\(index),\"w\":1024,\"h\":768,\"d\":[{\"x\":\(index * 10),\"y\":1},{\"x\":300,\"y\":400}]}"
            page.perform(
                page.playout.receive(.operation, GatewayEvent.operation(index, stroke), player: nil, at: .zero))
            _ = page.draw()
        }
        #expect(page.picture.layersDrawn == 50 && page.repaints == 0)
        let undo = GatewayEvent.operation(51, reference: 50, "{\"n\":51,\"a\":2}")
        page.perform(page.playout.receive(.operation, undo, player: nil, at: .zero))
        _ = page.draw()
        #expect(page.picture.layersDrawn == 50, "an undo draws nothing")
    }
}
