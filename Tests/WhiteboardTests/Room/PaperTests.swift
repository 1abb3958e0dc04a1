import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// What lies under the ink of pages: rulings and slides.
@Suite struct `The paper of a page` {
    private var probe = RoomProbe()

    private static let asset = String(repeating: "ab", count: 32)

    private func ruled(_ number: Int64, _ ruling: Int, _ more: String = "") -> String {
        #"{"n":\#(number),"a":7,"p":\#(ruling)\#(more)}"#
    }

    private func slide(_ number: Int64, page: Int = 0, _ more: String = "") -> String {
        #"{"n":\#(number),"a":7,"i":"\#(Self.asset)","p":\#(page),"d":[{"x":0,"y":0},{"x":64,"y":48}]\#(more)}"#
    }

    @Test mutating func `is no entry: undo, redo, clear and digest pass over it`() {
        probe.send(draw(1), undo(2))
        let digest = probe.room.head.digest
        probe.send(slide(3))
        #expect(probe.room.head.digest == digest)
        probe.send(redo(4))
        #expect(probe.visible == [1], "a paper does not empty the redo stack")
        probe.send(undo(5), undo(6))
        #expect(probe.takeTold().contains { $0.contains("nothing-to-undo") })
        probe.send(clear(7))
        #expect(probe.room.head.pages.paper(of: 0)?.slide?.page == 0)
        #expect(probe.room.head.index == 6)
    }

    @Test mutating func `is that of the page named, or of the page shown, and replaces the one before`() throws {
        probe.send(ruled(1, 2, #","l":16"#), ruled(2, 1, #","g":4"#))
        #expect(probe.room.head.pages.order == [0, 4], "a page never seen before comes last")
        #expect(probe.room.head.pages.paper(of: 0)?.kind == .ruled(.squares, distance: 16))
        #expect(probe.room.head.pages.paper(of: 4)?.kind == .ruled(.lines, distance: 32))
        probe.send(slide(3, page: 7, #","g":4,"k":3"#))
        #expect(probe.room.head.pages.paper(of: 4)?.slide?.quarters == 3)
        probe.send(ruled(4, 0, #","g":4"#))
        #expect(probe.room.head.pages.papers.map(\.page) == [0], "blank paper is none")
    }

    @Test func `is refused where its numbers make no sense, and changes nothing`() {
        let asset = Self.asset
        for (text, code) in [
            (ruled(1, 5), "out-of-range p"), (ruled(1, 1, #","l":7.5"#), "out-of-range l"),
            (ruled(1, 1, #","l":257"#), "out-of-range l"),
            (#"{"n":1,"a":7,"i":"abc"}"#, "out-of-range i"), (#"{"n":1,"a":7,"i":"\#(asset)"}"#, "missing-field d"),
            (#"{"n":1,"a":7,"i":"\#(asset)","d":[{"x":1,"y":2}]}"#, "out-of-range d"),
            (#"{"n":1,"a":7,"i":"\#(asset)","d":[{"x":1,"y":2},{"x":1}]}"#, "missing-field d[1].y"),
            (#"{"n":1,"a":7,"i":"\#(asset)","k":4,"d":[{"x":1,"y":2},{"x":3,"y":4}]}"#, "out-of-range k"),
            (#"{"n":1,"a":7,"i":"\#(asset)","p":500,"d":[{"x":1,"y":2},{"x":3,"y":4}]}"#, "out-of-range p"),
        ] {
            #expect(fault(of: text) == code, "\(text)")
        }
    }

    @Test(arguments: [BoardFeatures.all.subtracting(.paper), BoardFeatures.all.subtracting(.pages)])
    func `is an unknown action where the room has no papers or no pages`(_ features: BoardFeatures) {
        #expect(throws: MalformedMessage.self) {
            try StrokeMessage(decoding: Array(ruled(1, 1).utf8), limits: WireLimits(features: features))
        }
    }

    @Test mutating func `names assets as images do, until it is replaced`() throws {
        probe.send(slide(1, page: 3))
        let asset = try #require(AssetID(hexadecimal: Self.asset))
        #expect(probe.room.head.hasImage(ImageSource(asset: asset, page: 3)))
        #expect(!probe.room.head.hasImage(ImageSource(asset: asset, page: 2)))
        #expect(probe.room.checkpoint().assets == [asset])
        probe.send(ruled(2, 0))
        #expect(!probe.room.head.hasImage(ImageSource(asset: asset, page: 3)))
        #expect(probe.room.checkpoint().assets == [asset], "the log has it still")
    }

    @Test mutating func `comes to those who join, in either form, and to those who follow`() throws {
        probe.send(draw(1), ruled(2, 3, #","l":40.5,"g":2"#), slide(3, page: 9, #","w":2048"#))
        probe.clock(1e7, .main, #","d":true"#)
        let catchUp = try #require(probe.room.catchUp(JoinRequest(), cohort: .main))
        let json = try catchUp.reply(.json)
        let binary = try catchUp.reply(.binary)
        #expect(json.pages == probe.room.head.pages && binary.pages == json.pages)
        #expect(try FollowedBoard(json).board.pages == json.pages)
        var follower = FollowedBoard()
        for operation in probe.applied {
            let change = try follower.follow(operation)
            #expect((change.paper != nil) == (operation.action == .paper))
        }
        #expect(follower.board.pages == probe.room.head.pages && follower.digest == probe.room.head.digest)
    }
}
