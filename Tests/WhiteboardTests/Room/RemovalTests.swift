import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// The eraser of whole strokes: entries taken off the board by their indices.
@Suite struct `A removal of entries` {
    private func remove(_ number: Int64, _ indices: [UInt64], _ more: String = "") -> String {
        #"{"n":\#(number),"a":8,"v":\#(indices)\#(more)}"#
    }

    private func probe(_ texts: [String], _ history: HistoryConfiguration = HistoryConfiguration()) -> RoomProbe {
        var probe = RoomProbe(RoomConfiguration(history: history))
        for text in texts { probe.send(text) }
        return probe
    }

    private func message(_ operation: Whiteboard.Operation?) -> String {
        String(decoding: operation?.restoredMessage ?? [], as: UTF8.self)
    }

    @Test func `empties the redo stack of its page alone, and changes no other page`() {
        var probe = probe([
            draw(1), draw(2), undo(3), draw(4, #","g":3"#), draw(5, #","g":3"#), undo(6, #","g":3"#),
            remove(7, [1, 4], #","g":0"#),
        ])
        #expect(probe.visible == [4], "an index of another page is passed over")
        probe.send(redo(8, #","g":0"#))
        #expect(probe.takeTold().last == "rejected 8 0 nothing-to-redo")
        probe.send(redo(9, #","g":3"#))
        #expect(probe.visible == [4, 5])
    }

    @Test func `passes over what is not seen, and goes out without it, all else byte for byte`() {
        var probe = probe([
            draw(1), draw(2), draw(3), undo(4), #"{ "n":5,"v":7, "a":8, "v": [ 3, 1,99,2 ],"note":"v [1]" }"#,
        ])
        #expect(probe.visible == [])
        #expect(message(probe.applied.last) == #"{ "n":5,"v":7, "a":8, "v": [1,2],"note":"v [1]" }"#)
        probe.send(undo(6), remove(7, [2, 1]))
        #expect(message(probe.applied.last) == remove(7, [2, 1]), "where nothing is passed over it is as it came")
    }

    @Test func `is rejected where nothing is left of it, and changes nothing`() {
        var probe = probe([draw(1), draw(2), undo(3)])
        let digest = probe.room.head.digest
        for (number, text) in [remove(4, [2]), remove(5, [3, 77]), remove(6, [1], #","g":5"#)].enumerated() {
            probe.send(text)
            #expect(probe.takeTold().last == "rejected \(number + 4) 0 nothing-to-remove")
        }
        #expect(probe.room.head.digest == digest && probe.room.head.index == 3)
        #expect(probe.room.head.pages.order == [0], "it makes no page")
        probe.send(redo(7))
        #expect(probe.visible == [1, 2], "a rejected removal does not empty the redo stack")
    }

    @Test func `becomes permanent beyond the depth of the history`() {
        var probe = probe([draw(1), draw(2), remove(3, [1]), draw(4), draw(5)], HistoryConfiguration(depth: 2))
        for number in Int64(6)...8 { probe.send(undo(number)) }
        #expect(probe.visible == [2])
        #expect(probe.takeTold().last == "rejected 8 0 nothing-to-undo")
        #expect(probe.room.head.strokes.map(\.index).sorted() == [2, 4, 5], "what it took is gone")
    }

    @Test func `counts with what it took, and makes room when the board is full`() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(boardPoints: 100)))
        probe.send(draw(1, points: 30), draw(2, points: 40), remove(3, [1]), draw(4, points: 60))
        #expect(probe.visible == [2, 4] && probe.room.head.weight.total.points == 100)
        probe.send(undo(5), undo(6))
        #expect(probe.takeTold().last == "rejected 6 0 nothing-to-undo", "the removal and all below it are final")
        // 256 indices are no cheaper than as many points.
        var many = RoomProbe()
        for number in Int64(1)...256 { many.send(draw(number)) }
        many.send(remove(257, Array(1...256)))
        #expect(many.room.head.weight.removed.points == 256 * 8 + 256 && many.visible.isEmpty)
    }

    @Test func `takes lassos and images too, with their places in the bounds of a page`() throws {
        let asset = String(repeating: "ab", count: 32)
        var probe = probe([
            draw(1), #"{"n":2,"e":5,"i":"\#(asset)","d":[{"x":0,"y":0},{"x":9,"y":9}]}"#,
            #"{"n":3,"e":6,"d":[{"x":0,"y":0},{"x":9,"y":9},{"x":0,"y":9}]}"#, remove(4, [2, 3]),
        ])
        let source = ImageSource(asset: try #require(AssetID(hexadecimal: asset)), page: 0)
        #expect(probe.visible == [1] && probe.room.head.content(of: 0).lassos == 0)
        #expect(probe.room.head.hasImage(source), "an undo could bring it back")
        #expect(probe.room.head.weight.removed.lassos == 1)
        probe.send(clear(5))
        #expect(!probe.room.head.hasImage(source))
    }

    @Test func `is refused where its list makes no sense`() {
        let many = (1...257).map(String.init).joined(separator: ",")
        for (list, code) in [
            ("", "missing-field v"), (#","v":7"#, "wrong-type v"), (#","v":[]"#, "out-of-range v"),
            (#","v":[0]"#, "out-of-range v[0]"), (#","v":[1,9007199254740992]"#, "out-of-range v[1]"),
            (#","v":[1,"2"]"#, "wrong-type v[1]"), (#","v":[3,4,3]"#, "out-of-range v"),
            (#","v":[1.5]"#, "wrong-type v[0]"), (#","v":[\#(many)]"#, "out-of-range v"),
        ] {
            let text = #"{"n":1,"a":8\#(list)}"#
            #expect(fault(of: text) == code, "\(text)")
        }
        let plain = WireLimits(features: BoardFeatures.all.subtracting(.remove))
        let error = #expect(throws: MalformedMessage.self) {
            try StrokeMessage(decoding: Array(remove(1, [1]).utf8), limits: plain)
        }
        #expect(error?.rejection.code == .unknownAction)
        let withoutPages = WireLimits(features: .remove)
        #expect(throws: Never.self) { try StrokeMessage(decoding: Array(remove(1, [1]).utf8), limits: withoutPages) }
    }

    @Test func `is there after a checkpoint, undone or not, in boards and in operations`() throws {
        let steps = [
            draw(1), draw(2), draw(3), remove(4, [1, 3]), undo(5), redo(6), draw(7), remove(8, [2]), undo(9), clear(10),
            undo(11),
        ]
        for count in 1...steps.count {
            for tail in [0, 100] {
                let configuration = RoomConfiguration(
                    history: HistoryConfiguration(clear: .undoable), log: LogRetention(tail: tail))
                var probe = RoomProbe(configuration)
                for text in steps.prefix(count) { probe.send(text) }
                if tail == 0 {
                    probe.clock(1e7, .main, #","d":true"#)
                    probe.wait(.seconds(120))
                }
                let bytes = try probe.room.checkpoint().readBack(at: probe.now, logClockAhead: .zero)
                #expect(RoomCheckpoint.versions(of: bytes)?.format == (count < 4 ? 4 : 8))
                let room = try probe.restored(bytes)
                #expect(room.checkpoint().encoded() == bytes)
                var restored = RoomProbe(room, at: probe.now, logAhead: .zero)
                #expect(restored.room.head.weight == probe.room.head.weight)
                for number in Int64(12)...20 {
                    let text = number % 3 == 0 ? redo(number) : undo(number)
                    probe.send(text, session: "after")
                    restored.send(text, session: "after")
                    #expect(restored.visible == probe.visible && restored.room.head.digest == probe.room.head.digest)
                }
            }
        }
    }

    @Test func `comes to those who join, in either form, and they can follow its undo and redo`() throws {
        let steps = [
            draw(1), draw(2), draw(3, #","g":1"#), remove(4, [2, 1], #","g":0"#), undo(5, #","g":0"#),
            redo(6, #","g":0"#), remove(7, [3], #","g":1"#), undo(8, #","g":1"#), clear(9, #","g":1"#),
            undo(10, #","g":1"#), redo(11, #","g":0"#),
        ]
        let more = [undo(30, #","g":0"#), undo(31, #","g":0"#), redo(32, #","g":0"#)]
        for scope in HistoryConfiguration.Scope.allCases {
            for place in 0...steps.count {
                var probe = RoomProbe(RoomConfiguration(history: HistoryConfiguration(scope: scope, clear: .undoable)))
                for text in steps.prefix(place) { probe.send(text) }
                probe.clock(1e7, .main, #","d":true"#)
                let catchUp = try #require(probe.room.catchUp(JoinRequest(), cohort: .main))
                let json = try catchUp.reply(.json)
                let binary = try catchUp.reply(.binary)
                #expect(json.content == binary.content)
                #expect(try JoinReply(binary: json.binaryEncoded()).content == json.content)
                var followers = [try FollowedBoard(json), try FollowedBoard(binary)]
                for text in steps.dropFirst(place) + more { probe.send(text) }
                for operation in probe.applied.dropFirst(Int(json.index)) {
                    for follower in followers.indices {
                        let before = followers[follower].board.visible.map(\.index)
                        let change = try followers[follower].follow(operation)
                        #expect(followers[follower].digest == operation.digest, "\(place)")
                        let gone = Set(change.hidden.map(\.index))
                        let after = (before + change.shown.map(\.index)).filter { !gone.contains($0) }.sorted()
                        #expect(followers[follower].board.visible.map(\.index) == after, "\(place)")
                    }
                }
            }
        }
    }

    @Test func `of what a follower does not have tells that it has lost something, and changes nothing`() throws {
        var follower = FollowedBoard()
        _ = try follower.apply(1, by: .alice, message: Array(draw(1).utf8))
        #expect(throws: FollowedBoard.Divergence.self) {
            try follower.apply(2, by: .alice, message: Array(remove(2, [1, 7]).utf8))
        }
        #expect(follower.index == 1 && follower.board.visible.map(\.index) == [1])
        #expect(throws: FollowedBoard.Divergence.self, "of another page") {
            try follower.apply(2, by: .alice, page: 3, message: Array(remove(2, [1]).utf8))
        }
        _ = try follower.apply(2, by: .alice, message: Array(remove(2, [1]).utf8))
        #expect(follower.board.visible.isEmpty)
    }
}
