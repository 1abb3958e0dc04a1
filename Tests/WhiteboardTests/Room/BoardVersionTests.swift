import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct BoardVersionTests {
    @Test(arguments: TestSeed.choose(20))
    func `a board at an earlier position is that of then, as long as the log leads to it`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let history = HistoryConfiguration.random(depth: 1...20, using: &random)
        var probe = RoomProbe(
            RoomConfiguration(history: history, log: LogRetention(tail: random.int(0...40), quiet: .seconds(3600))))
        var looks = [BoardLook(probe.room.head)]
        var (earliest, unknown, known) = (0, 0, 0)
        for number in Int64(1)...150 {
            let time = #","t":\#(number * 10)"#
            let text =
                switch random.int(0..<10) {
                case 0, 1: undo(number, time)
                case 2: redo(number, time)
                case 3 where random.chance(30, in: 100): clear(number, time)
                default: draw(number, time)
                }
            probe.send(text, by: random.chance(50, in: 100) ? .alice : .bob)
            if Int(probe.room.head.index) == looks.count { looks.append(BoardLook(probe.room.head)) }
            if random.chance(20, in: 100) { probe.clock(Double(number * 10)) }
            if random.chance(20, in: 100) { probe.clock(Double(max(0, Int(number) - random.int(1...60)) * 10), .hls) }
            let room = probe.room
            for index in UInt64(0)...room.head.index + 1 {
                for (version, end) in [
                    (room.head(at: index), room.head.index),
                    (room.board(of: .main, at: index), room.board(of: .main).index),
                    (room.board(of: .hls, at: index), room.board(of: .hls).index),
                ] {
                    guard let version else {
                        #expect(index > end || index < room.log.base.index, "seed \(seed), \(index) of \(end)")
                        unknown += 1
                        continue
                    }
                    known += 1
                    #expect(index <= end, "seed \(seed)")
                    #expect(version.index == index && version.digest == looks[Int(index)].digest, "seed \(seed)")
                    #expect(BoardLook(version.board) == looks[Int(index)], "seed \(seed), \(index)")
                }
            }
            earliest = max(earliest, Int(room.log.base.index))
        }
        #expect(known > 0 && unknown > 0, "seed \(seed)")
    }

    @Test func `a join may name an earlier position of this incarnation, not one ahead of the cohort`() throws {
        var probe = RoomProbe()
        for number in Int64(1)...9 { probe.send(draw(number, #","t":\#(number * 10)"#)) }
        probe.clock(55)
        func answer(_ request: JoinRequest) -> CatchUp? { probe.room.catchUp(request, cohort: .main) }
        let past = try #require(answer(JoinRequest(incarnation: "life", index: 3)))
        #expect(past.index == 3)
        guard case .version(let version) = past.content else { throw Unexpected("no board") }
        #expect(version.board.visible.map(\.index) == [1, 2, 3])
        let reply = try past.reply(.json)
        #expect(reply.index == 3 && reply.digest == BoardDigest(of: [1, 2, 3]))
        #expect(answer(JoinRequest(index: 5))?.index == 5)
        #expect(answer(JoinRequest(index: 6)) == nil, "its video has not come to it")
        #expect(probe.room.catchUpHead(JoinRequest(index: 9))?.index == 9)
        #expect(probe.room.catchUpHead(JoinRequest(index: 10)) == nil)
        #expect(answer(JoinRequest(incarnation: "another", index: 3)) == nil)
    }
}

@Suite struct `A reply to a join` {
    @Test(arguments: SampleLesson.short)
    func `Says the same in both forms, whole and resumed`(_ lesson: SampleLesson) throws {
        var probe = try RoomProbe(hearing: lesson)
        probe.clock(1e7, .main, #","d":true"#)
        let last = probe.room.head.index
        for have in [nil, 0, last / 2, last - 1, last] as [UInt64?] {
            try compare(probe.room, JoinRequest(incarnation: RoomProbe.incarnation, have: have))
        }
    }

    @Test("Has what undoable clears removed, undone strokes and clears, late strokes and odd messages, in both forms")
    func odd() throws {
        var probe = RoomProbe(RoomConfiguration(history: HistoryConfiguration(clear: .undoable)))
        let messages = [
            draw(1), draw(2), #"{"n":3,"a":4}"#, draw(4), #"{"n":5,"a":4}"#, #"{"n":6,"a":2}"#, draw(7), draw(8),
            #"{"n":9,"a":2}"#, #"{ "n" : 10, "d" : [ {"x":1e1,"y":2} ] }"#, #"{"n":11,"k":"ü","d":[{"x":1,"y":2}]}"#,
            #"{"n":12,"a":4,"note":"7"}"#, #"{"n":13,"a":2}"#, draw(14),
        ]
        for (place, message) in messages.enumerated() {
            probe.send(message, by: place % 3 == 0 ? .known("anna") : .known("ben"), session: "s\(place)")
            probe.clock(1e6 + Double(place), .main, #","d":true"#)
            try compare(probe.room, JoinRequest())
        }
        #expect(probe.room.head.index > 9)
        try compare(probe.room, JoinRequest(incarnation: RoomProbe.incarnation, have: 1))
    }

    @Test func `Of a room that nobody has written to is the same in both forms`() throws {
        try compare(Room(configuration: RoomConfiguration(), at: Instant(nanoseconds: 0)), JoinRequest())
    }

    @Test(arguments: SampleLesson.short)
    func `The operations of a lesson have the binary form of their messages`(_ lesson: SampleLesson) throws {
        var probe = try RoomProbe(hearing: lesson)
        probe.clock(1e7, .main, #","d":true"#)
        #expect(probe.applied.count > 30)
        for operation in probe.applied {
            #expect(try BinaryMessage.json(of: operation.payload.message) == operation.restoredMessage)
        }
    }

    private func compare(_ room: Room, _ request: JoinRequest) throws {
        let catchUp = try #require(room.catchUp(request, cohort: .main))
        let json = catchUp.encoded(palette: .standard, style: "smooth", as: .json)
        let binary = catchUp.encoded(palette: .standard, style: "smooth", as: .binary)
        var reply = try JoinReply(decoding: json)
        // JSON alone says whether the cohort has a video.
        #expect(reply.gate == .video)
        reply.gate = nil
        #expect(try JoinReply(binary: binary) == reply)
        #expect(try JoinReply(binary: reply.binaryEncoded()) == reply)
        #expect(binary.count < json.count)
    }
}
