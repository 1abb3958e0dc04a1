import Journal
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

/// Lessons that are read from the journal and played again.
@Suite(.timeLimit(.minutes(4))) struct ReplayTests {
    private struct Lesson: Sendable {
        let client: NATSConnection
        let address: RoomAddress

        func part(_ request: ReplayRequest = ReplayRequest(), head: Bool = false) async throws -> ReplayReply {
            let subject = address.subject(head ? .replayHead : .replay(.main))
            return try ReplayReply(decoding: try await client.answer(request.encoded(), from: subject))
        }

        /// The whole lesson, in parts of a few operations.
        func all(_ first: ReplayRequest = ReplayRequest(), head: Bool = false) async throws -> [ReplayReply.Entry] {
            var request = first
            var entries: [ReplayReply.Entry] = []
            while true {
                let part = try await part(request, head: head)
                entries += part.operations
                guard let next = part.next else { return entries }
                request.after = next
            }
        }

        /// The board after an operation, as the service has it now.
        func board(_ index: UInt64) async throws -> JoinReply {
            let request = JoinRequest(index: index).encoded()
            return try JoinReply(decoding: try await client.answer(request, from: address.subject(.joinHead)))
        }

        func reaches(_ index: UInt64) async throws {
            let head = address.subject(.joinHead)
            try await eventually(
                "the head is at \(index)", is: JoinReply(decoding: await client.answer(from: head)).index == index)
        }
    }

    /// Messages none of which is refused.
    private struct Script {
        var random: SeededGenerator
        private var visible = 0

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func message(_ number: Int) -> String {
            switch random.int(0..<8) {
            case 0 where visible > 0:
                visible -= 1
                return Hand.command(2, number, at: number * 10)
            case 1:
                visible = 0
                return Hand.command(4, number, at: number * 10)
            default:
                visible += 1
                return Hand.stroke(number, at: number * 10)
            }
        }
    }

    @Test func `a lesson comes back with its times and boards, to students as far as they have seen it`() async throws {
        let seed = TestSeed.choose()
        try await DurableClass.with {
            $0.room.cohorts.defaults.policy = .hold
            // The room's own log forgets; the journal does not.
            $0.room.log.tail = 5
        } _: { durable in
            let lesson = Lesson(client: durable.client, address: try durable.address("replayed"))
            let other = Lesson(client: durable.client, address: try durable.address("other"))
            let boards = try await durable.serve { () -> [UInt64: JoinReply] in
                var script = Script(seed: seed)
                var boards: [UInt64: JoinReply] = [:]
                for number in 1...30 {
                    try await durable.client.publishDurably(script.message(number), to: lesson.address)
                    try await durable.client.publishDurably(Hand.stroke(number, at: number), to: other.address)
                    try await lesson.reaches(UInt64(number))
                    boards[UInt64(number)] = try await lesson.board(UInt64(number))
                }
                // Nothing has been released yet.
                #expect(try await lesson.all().isEmpty)
                try durable.client.setClock(lesson.address, 105)
                try await eventually("ten are released", is: await lesson.all().count == 10)
                return boards
            }
            // Another daemon, another room of the same partition, and a log that the room has forgotten.
            try await durable.serve(as: "b") {
                try await lesson.reaches(30)
                let entries = try await lesson.all(ReplayRequest(limit: 7), head: true)
                #expect(entries.map(\.operation.index) == Array(1...30), "seed \(seed)")
                #expect(entries.map(\.gateTime) == (1...30).map { MediaTime(milliseconds: Int64($0) * 10) })
                #expect(entries.map(\.operation.digest) == (1...30).map { boards[$0]?.digest })
                for index in [UInt64(0), 3, 17, 29] {
                    let from = MediaTime(milliseconds: Int64(index) * 10 + 1)
                    let part = try await lesson.part(ReplayRequest(from: from, limit: 1), head: true)
                    #expect(part.board?.index == index, "seed \(seed)")
                    if index > 0 { #expect(part.board == boards[index], "seed \(seed), \(index)") }
                    #expect(part.operations.first?.operation.index == index + 1)
                }
                // What is logged later is there too.
                try await durable.client.publishDurably(Hand.stroke(31, at: 310), to: lesson.address)
                try await lesson.reaches(31)
                #expect(try await lesson.all(head: true).count == 31)
                let life = try await lesson.part(head: true).room
                #expect(try await lesson.part(ReplayRequest(incarnation: life)).operations.count == 10)
                await #expect(throws: RequestError.self) {
                    _ = try await lesson.part(ReplayRequest(incarnation: "another"))
                }
            }
        }
    }

    @Test
    func `a service without a journal, a room that is not there and a bad request have their codes`() async throws {
        @Sendable func code(_ lesson: Lesson, _ body: String) async throws -> RequestError.Code? {
            let reply = try await lesson.client.request(
                Array(body.utf8), to: lesson.address.subject(.replay(.main)), timeout: .hangLimit)
            return RequestError(decoding: reply.payload)?.code
        }
        try await RunningService.with { service in
            let lesson = Lesson(client: service.client, address: try service.address("none"))
            #expect(try await code(lesson, "") == .unknownRoom)
            let hand = try Hand(service.client, lesson.address)
            try hand.publish(Hand.stroke(1, at: 10))
            try await lesson.reaches(1)
            #expect(try await code(lesson, "{}") == .gone)
            for bad in [#"{"limit":0}"#, #"{"from":"x"}"#, "[]", #"{"after":-1}"#] {
                #expect(try await code(lesson, bad) == .badRequest, "\(bad)")
            }
        }
    }

    @Test func `a lesson that has ended since it was asked for is gone, and what follows it is not told`() async throws
    {
        try await NATSTestServer.withConnection(jetStream: true) { _, connection in
            let journal = try await connection.makeJournal()
            let address = try ServerConfiguration().address("anew")
            for number in 1...3 { try await connection.publishDurably(Hand.stroke(number, at: number), to: address) }
            _ = try await journal.write(.close, room: address.room, id: "close")
            for number in 1...5 { try await connection.publishDurably(Hand.stroke(number, at: number), to: address) }
            let recorder = ReplyRecorder()
            let replays = ReplayQueue(ServerConfiguration(), sink: recorder.sink, logger: .silent)
            replays.start(reading: journal)
            let log = try await journal.log(of: address.room)
            // The room was at its third stroke when a worker took the request.
            let life = LogPlace(log: log, sequence: 1).description
            replays.answer(ReplayRequest(), of: address.room, incarnation: life, through: 3, reply: "late")
            #expect(try await recorder.next()["late"]?.error?.code == .gone)
            // The next life has a lesson of its own.
            let next = LogPlace(log: log, sequence: 5).description
            replays.answer(ReplayRequest(), of: address.room, incarnation: next, through: 2, reply: "next")
            guard case .sent(let bytes)? = try await recorder.next()["next"] else {
                throw Unexpected("no part of the next lesson")
            }
            recorder.open(1)
            let part = try ReplayReply(decoding: bytes)
            #expect(part.room == next && part.operations.map(\.operation.index) == [1, 2])
            replays.close()
        }
    }

    @Test func `many who ask for one lesson leave places for those who ask for another`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { _, connection in
            let journal = try await connection.makeJournal()
            let recorder = ReplyRecorder()
            let replays = ReplayQueue(ServerConfiguration(), sink: recorder.sink, logger: .silent)
            replays.start(reading: journal)
            let (crowd, other) = (
                try ServerConfiguration().address("crowd"), try ServerConfiguration().address("other")
            )
            for address in [crowd, other] { try await connection.publishDurably(Hand.stroke(1, at: 1), to: address) }
            let log = try await journal.log(of: crowd.room)
            @Sendable func ask(_ room: RoomID, begunAt sequence: UInt64, _ reply: String) {
                let life = LogPlace(log: log, sequence: sequence).description
                replays.answer(ReplayRequest(), of: room, incarnation: life, through: 1, reply: reply)
            }
            // Its reply keeps the others waiting.
            ask(crowd.room, begunAt: 1, "first")
            #expect(try await recorder.next()["first"]?.error == nil)
            for number in 0..<80 { ask(crowd.room, begunAt: 1, "crowd-\(number)") }
            ask(other.room, begunAt: 2, "other")
            let refused = try await recorder.next(80 - ReplayQueue.mostPending / 2)
            #expect(refused.values.allSatisfy { $0.error?.code == .notReady } && refused["other"] == nil)
            recorder.open(100)
            let answered = try await recorder.next(ReplayQueue.mostPending / 2 + 1)
            #expect(answered.values.allSatisfy { $0.error == nil } && answered.keys.contains("other"))
            replays.close()
        }
    }

    @Test func `parts of lessons are sent by a thread of their own, since sending waits for the socket`() async throws {
        let sendersInTasks = Locked(0)
        try await DurableClass.withRoom("sent") { durable, address in
            let watched: @Sendable (ReplySink) -> ReplySink = { sink in
                ReplySink(
                    send: { bytes, headers, reply in
                        if withUnsafeCurrentTask(body: { $0 != nil }) { sendersInTasks.withLock { $0 += 1 } }
                        sink.send(bytes, headers, reply)
                    }, refuse: sink.refuse)
            }
            try await RunningDaemon.with(durable.configuration, durable.nats, replies: watched) {
                let lesson = Lesson(client: durable.client, address: address)
                try await durable.client.publishDurably(Hand.stroke(1, at: 1), to: address)
                try await lesson.reaches(1)
                #expect(try await lesson.part(head: true).operations.count == 1)
            }
        }
        #expect(sendersInTasks.withLock { $0 } == 0)
    }

    @Test func `a lesson whose beginning the journal has lost is gone`() async throws {
        try await DurableClass.with { durable in
            let lesson = Lesson(client: durable.client, address: try durable.address("lost"))
            try await durable.serve {
                for number in 1...5 {
                    try await durable.client.publishDurably(Hand.stroke(number, at: number), to: lesson.address)
                }
                try await lesson.reaches(5)
                let purge = Array(#"{"seq":3}"#.utf8)
                _ = try await durable.client.request(purge, to: "$JS.API.STREAM.PURGE.INK_LOG_0", timeout: .hangLimit)
                let error = await #expect(throws: RequestError.self) { try await lesson.part(head: true) }
                #expect(error?.code == .gone)
            }
        }
    }
}
