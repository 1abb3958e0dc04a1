import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

private func text(_ number: Int64, _ value: String = "zwei\\nZeilen", _ more: String = "") -> String {
    #"{"n":\#(number),"e":8,"l":32,"x":"\#(value)"\#(more),"d":[{"x":10,"y":20},{"x":110,"y":52}]}"#
}

private func remove(_ number: Int64, _ index: Int) -> String { #"{"n":\#(number),"a":8,"v":[\#(index)]}"# }

@Suite struct `A text on a board` {
    private var probe = RoomProbe()

    private static let open = RoomConfiguration(
        cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none)), log: LogRetention(quiet: .seconds(60)))

    @Test mutating func `is an entry as a stroke is: undo, redo, removal, digest`() throws {
        probe.send(draw(1))
        let before = probe.room.head.digest
        probe.send(text(2, "a", #","g":0"#))
        let stroke = try #require(probe.room.head.visible.first { $0.index == 2 })
        #expect(stroke.kind == .text && stroke.text == "a" && stroke.page == 0)
        #expect(probe.room.head.content(of: 0).texts == 1 && probe.room.head.content(of: 0).images == 0)
        #expect(probe.room.head.digest != before)
        probe.send(undo(3))
        #expect(probe.room.head.digest == before && probe.room.head.content(of: 0).texts == 0)
        probe.send(redo(4))
        #expect(probe.visible == [1, 2])
        probe.send(remove(5, 2))
        #expect(probe.visible == [1] && probe.room.head.content(of: 0).texts == 0)
        probe.send(undo(6))
        #expect(probe.visible == [1, 2] && probe.room.head.content(of: 0).texts == 1)
        probe.send(clear(7))
        #expect(probe.visible.isEmpty)
    }

    @Test func `counts for the bytes of its message`() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(boardPoints: 100)))
        let long = String(repeating: "x", count: 1900)
        probe.send(text(1, long))
        #expect(probe.room.head.content(of: 0).points > 60)
        probe.send(text(2, long))
        #expect(probe.takeTold() == ["applied 1 as 1", "rejected 2 0 too-many-points d"])
    }

    @Test func `of many words pushes out none of the templates of handwriting`() {
        var probe = RoomProbe(Self.open)
        probe.send(draw(1, points: 40))
        for number in 2...60 as ClosedRange<Int64> {
            probe.send(text(number, String(repeating: "w\(number)", count: 300)))
        }
        #expect(probe.room.log.templates.count == 1)
        #expect(probe.room.head.visible.filter { $0.kind == .text }.allSatisfy { $0.message.template == nil })
    }

    @Test mutating func `may come in shards: what it says is that of the lowest`() throws {
        probe.send(shard(1, 1, of: 2, points: 5..<6, #","e":8,"l":20,"x":"b""#))
        probe.send(shard(1, 0, of: 2, points: 0..<1, #","e":8,"l":20,"x":"a""#))
        #expect(probe.takeTold().last == "applied 1 as 1")
        #expect(probe.room.head.visible.compactMap(\.text) == ["a"])
    }

    @Test func `is in a checkpoint of format 9, which nothing else makes`() throws {
        var probe = RoomProbe(Self.open)
        probe.send(draw(1), remove(2, 1))
        #expect(RoomCheckpoint.versions(of: probe.room.checkpoint().encoded())?.format == 8)
        probe.send(text(3, "אב", #","g":3"#), draw(4))
        let bytes = try probe.room.checkpoint().readBack(at: probe.now, logClockAhead: .zero)
        #expect(RoomCheckpoint.versions(of: bytes)?.format == 9)
        var restored = try probe.restored(bytes)
        #expect(restored.head.digest == probe.room.head.digest && restored.checkpoint().encoded() == bytes)
        #expect(restored.head.visible(on: 3).first?.text == "אב")
        #expect(restored.head.content(of: 3).texts == 1)
        // Also where only the operations have it, and where only the board does.
        probe.send(clear(5, #","g":3"#))
        #expect(RoomCheckpoint.versions(of: probe.room.checkpoint().encoded())?.format == 9)
        probe.wait(.seconds(61))
        #expect(RoomCheckpoint.versions(of: probe.room.checkpoint().encoded())?.format == 8)
        probe.send(text(6))
        probe.wait(.seconds(61))
        let rested = probe.room.checkpoint().encoded()
        #expect(RoomCheckpoint.versions(of: rested)?.format == 9)
        restored = try probe.restored(rested)
        #expect(restored.head.visible.compactMap(\.text) == ["zwei\nZeilen"])
        // The same bytes under the number of a format without texts are none.
        var older = rested
        older[3] = 8
        #expect(throws: CheckpointError.self) { try probe.restored(older) }
    }

    @Test
    func `waits in a checkpoint of the format that it needs, and so does all that is new to earlier releases`() throws {
        for (message, format) in [
            (text(3), 9), (remove(3, 1), 8), (#"{"n":3,"a":7,"p":1,"l":32}"#, 7),
            (#"{"n":3,"e":7,"d":[{"x":1,"y":2}]}"#, 5), (draw(3), 4),
        ] as [(String, UInt8)] {
            var probe = RoomProbe(Self.open)
            probe.send(draw(1), message)
            #expect(probe.room.head.index == 1, "it waits for the one before it")
            let bytes = try probe.room.checkpoint().readBack(at: probe.now, logClockAhead: .zero)
            #expect(RoomCheckpoint.versions(of: bytes)?.format == format, "\(message)")
        }
        var probe = RoomProbe(Self.open)
        probe.send(draw(1), remove(2, 9))
        #expect(probe.takeTold().last?.contains("nothing-to-remove") == true)
        #expect(RoomCheckpoint.versions(of: probe.room.checkpoint().encoded())?.format == 8)
    }

    @Test(arguments: [StrokeKind.stroke, .image, .lasso, .pointer, .text])
    func `and all else keep their kind in the flags of a stroke`(kind: StrokeKind) {
        for isLate in [false, true] {
            for page in [0, 999] {
                for copied in kind == .lasso ? [0, 5] : [0] {
                    let extras = StrokeExtras(isLate: isLate, page: page, kind: kind, copied: copied)
                    #expect(extras.flags <= StrokeExtras.greatestFlags)
                    var read = StrokeExtras(flags: extras.flags)
                    #expect(StrokeExtras.hasPage(extras.flags) == (page > 0))
                    #expect(StrokeExtras.hasCopied(extras.flags) == (copied > 0))
                    read.page = page
                    read.copied = copied
                    #expect(read == extras)
                }
            }
        }
    }

    @Test mutating func `comes to those who join, in either form, and to those who follow`() throws {
        probe.send(draw(1), text(2, #"\u003cb\u003e & \"ü\" 😀"#))
        probe.send(text(3, String(repeating: "数", count: 600), #","g":2"#))
        probe.clock(1e7, .main, #","d":true"#)
        let catchUp = try #require(probe.room.catchUp(JoinRequest(), cohort: .main))
        let json = try catchUp.reply(.json)
        let binary = try catchUp.reply(.binary)
        for reply in [json, binary] {
            let board = try FollowedBoard(reply)
            #expect(board.digest == probe.room.head.digest)
            #expect(board.board.visible.compactMap(\.text) == [#"<b> & "ü" 😀"#, String(repeating: "数", count: 600)])
        }
        var follower = FollowedBoard()
        for operation in probe.applied { try follower.follow(operation) }
        #expect(follower.digest == probe.room.head.digest && follower.board.content(of: 2).texts == 1)
    }
}
