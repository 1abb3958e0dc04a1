import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

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
