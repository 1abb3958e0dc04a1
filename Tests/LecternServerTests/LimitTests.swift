import Hosting
import Journal
import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct RoomLimitTests {
    /// Each hand draws three strokes, in turn with the others, and each stroke is applied.
    private func drawInTurn(_ hands: [Hand], _ feedback: Inbox) async throws {
        for number in 1...3 {
            for hand in hands { try hand.publish(Hand.stroke(number, at: 0)) }
            for _ in hands {
                #expect(try await feedback.nextAnswer() == .applied(number: Int64(number), index: UInt64(number)))
            }
        }
    }

    @Test func `with a journal, rooms beyond the limit in memory are saved, and beyond the stored ones refused`()
        async throws
    {
        try await DurableClass.with {
            ($0.rooms, $0.storedRooms, $0.workers) = (2, 10, 1)
        } _: { lesson in
            try await lesson.serve {
                let client = lesson.client
                let feedback = try await Inbox(client, "ink.0.*.feedback.*")
                let hands = try (0..<10).map { try Hand(client, lesson.address("room-\($0)")) }
                try await drawInTurn(hands, feedback)
                // Each room had to leave memory between its strokes.
                for hand in hands {
                    let subject = "\(hand.address).checkpoint"
                    #expect(try await JetStream(client).lastMessage("INK_CHECKPOINT_0", subject: subject) != nil)
                }
                try Hand(client, lesson.address("one-more")).publish(Hand.stroke(7, at: 0))
                guard case .rejected(7, nil, let rejection) = try await feedback.nextAnswer() else {
                    throw Unexpected("no rejection")
                }
                #expect(rejection.code == .roomFull)
            }
        }
    }
}

@Suite struct JournalSpaceTests {
    /// A stroke of about 1 KB.
    private func stroke(_ number: Int) -> String {
        let points = (0..<60).map { #"{"x":\#(100 + $0 + number % 7),"y":\#(200 + $0)}"# }.joined(separator: ",")
        return #"{"n":\#(number),"t":0,"w":1024,"h":768,"d":[\#(points)]}"#
    }

    @Test(.timeLimit(.minutes(3)))
    func `a log held by checkpoints never fills, even with idle rooms`() async throws {
        try await DurableClass.with {
            $0.journal?.maxBytes = 96 << 10
            $0.checkpoints.interval = .milliseconds(200)
            $0.checkpoints.cursors = .milliseconds(50)
            $0.room.intake.messagesPerSecond = 10_000
            $0.upkeepInterval = .milliseconds(100)
        } _: { lesson in
            let (idle, busy) = (try lesson.address("idle"), try lesson.address("busy"))
            let jetStream = JetStream(lesson.client)
            try await lesson.serve {
                for number in 1...3 {
                    try await lesson.client.publishDurably(stroke(number), to: idle)
                    // One generation each.
                    try await eventually(
                        "the stroke is saved",
                        is: await covered(jetStream) == jetStream.streamInfo("INK_LOG_0").lastSequence)
                }
                for number in 1...150 {
                    // Teachers repeat refused messages; here JetStream has to accept them soon.
                    try await eventually("stroke \(number) is acknowledged") {
                        try await lesson.client.publishDurably(stroke(number), to: busy)
                    }
                    guard number.isMultiple(of: 30) else { continue }
                    try await eventually(
                        "there is space", is: await jetStream.streamInfo("INK_LOG_0").bytes * 10 < (96 << 10) * 8)
                }
                #expect(try await jetStream.streamInfo("INK_LOG_0").firstSequence > 60)
                try lesson.client.setClock(idle, 1000)
                try lesson.client.setClock(busy, 1000)
                _ = try await lesson.joined(idle, at: 3)
                _ = try await lesson.joined(busy, at: 150)
            }
            // The next owner has all rooms, too.
            try await lesson.serve(as: "b") {
                try lesson.client.setClock(idle, 1000)
                try lesson.client.setClock(busy, 1000)
                _ = try await lesson.joined(idle, at: 3)
                _ = try await lesson.joined(busy, at: 150)
            }
        }
    }

    /// Last record that checkpoints hold with all before it.
    private func covered(_ jetStream: JetStream) async throws -> UInt64? {
        guard let note = try await jetStream.lastMessage("INK_CHECKPOINT_0", subject: "ink.0.COVERED.checkpoint")
        else { return nil }
        let text = String(decoding: note.payload, as: UTF8.self)
        return text.split(separator: "\"covered\":").last.flatMap { UInt64($0.prefix { $0.isNumber }) }
    }

    @Test func `releases that a killed NATS server had not received are published again`() async throws {
        try await DurableClass.withRoom("buffer") { lesson, address in
            // This stream keeps releases, also those published before the client has reconnected.
            let kept = #"{"name":"OUT","subjects":["ink.*.*.out.*"],"storage":"file","num_replicas":1}"#
            _ = try await lesson.client.request(Array(kept.utf8), to: "$JS.API.STREAM.CREATE.OUT")
            let jetStream = JetStream(lesson.client)
            try await lesson.serve {
                try lesson.client.setClock(address, 1000)
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address)
                try await lesson.client.publishDurably(Hand.stroke(2, at: 2500), to: address)
                _ = try await lesson.joined(address, at: 1)
                try lesson.client.publish(Array(#"{"m":1400}"#.utf8), to: address.subject(.clock(.main)))
                try await lesson.client.flush()
                // The video runs on: the second stroke is due after 1.1 s, and the server takes nothing any more.
                await lesson.nats.pause()
                try await Task.sleep(for: .milliseconds(1500))
                await lesson.nats.kill()
                try await lesson.nats.restart()
                try await eventually("the second stroke has arrived") {
                    let last = try await jetStream.lastMessage("OUT", subject: address.subject(.out(.main)))
                    return last.map { $0.payload == Array(Hand.stroke(2, at: 2500).utf8) } == true ? () : nil
                }
            }
        }
    }
}

/// Every rejection code of the protocol, brought about over NATS.
@Suite struct RejectionTests {
    @Test
    func `every code reaches the author who has earned it, with what it is about, and changes nothing`() async throws {
        let configuration = ServerConfiguration.test {
            ($0.room.intake.wire.messageBytes, $0.room.intake.wire.points) = (4096, 50)
            ($0.room.intake.assembling, $0.room.intake.authors, $0.room.intake.messagesPerSecond) = (2, 2, 10)
        }
        try await RunningService.with(configuration) { service in
            // Each code in a room of its own, all at once: one of them takes 2 s.
            // No room says that a message was for another partition.
            try await concurrently(RejectionCode.allCases.filter { $0 != .misaddressed }) { code in
                try await provoke(code, Provocation(of: code), service)
            }
        }
    }

    private func provoke(_ code: RejectionCode, _ provocation: Provocation, _ service: RunningService) async throws {
        let address = try service.address(code.rawValue)
        let feedback = try await Inbox(service.client, "\(address).feedback.*")
        for message in [.first] + provocation.before { try publish(message, to: address, service) }
        if let awaited = provocation.awaited { _ = try await feedback.next { $0.text.contains(awaited) } }
        if provocation.mutes, let ann = AuthorID("ann"), let otto = OperatorName("otto") {
            let commands = RoomCommands(connection: service.client, root: "ink", from: otto)
            #expect(try await commands.mute(ann, at: address) == .inForce(sequence: nil))
        }
        try publish(provocation.faulty, to: address, service)
        let body = try AnyJSON.decode(try await feedback.next { $0.text.contains(#""kind":"rejected""#) }.payload)
        #expect(body["error"]?["code"] == .string(code.rawValue), "\(body)")
        #expect(body["error"]?["field"] == provocation.field.map { .string($0) }, "\(body)")
        guard case .string(let sentence)? = body["error"]?["message"] else { throw Unexpected("no message: \(body)") }
        #expect(sentence.first?.isUppercase == true && sentence.last == ".", "\(sentence)")
        if let numbers = provocation.numbers {
            guard case .number(let number)? = body["n"] else { throw Unexpected("no number: \(body)") }
            #expect(numbers.contains(Int(number)), "\(body)")
        } else {
            #expect(body["n"] == nil, "\(body)")
        }
        #expect(body["o"] == provocation.order.map { .number(Double($0)) }, "\(body)")
        let room = try AnyJSON.decode(try await service.client.request(to: address.subject(.info)).payload)
        guard case .number(let index)? = room["index"] else { throw Unexpected("no index: \(room)") }
        #expect(provocation.applied.contains(Int(index)), "\(code)")
    }

    private func publish(_ message: Provocation.Message, to address: RoomAddress, _ service: RunningService) throws {
        try service.client.publish(
            Array(message.text.utf8), to: address.subject(.input(try .test(message.author))),
            headers: message.session.map { [HeaderName.session: $0] } ?? [:])
    }
}

/// Messages of which the last one is rejected, in a room that has one stroke.
private struct Provocation {
    struct Message {
        var author = "ann"
        var session: String?
        let text: String

        static let first = Message(session: "one", text: Hand.stroke(1, at: 0))
    }

    var before: [Message] = []
    /// What the author has to be told before the last message goes out.
    var awaited: String?
    /// Whether ann is muted before the last message goes out.
    var mutes = false
    let faulty: Message
    /// The number, order and field that the rejection names.
    var numbers: ClosedRange<Int>?
    let order: Int?
    let field: String?
    /// Operations in the log afterwards.
    var applied = 1...1

    /// - Parameter before: messages of ann in the session of the first stroke.
    private init(
        _ faulty: String, by author: String = "ann", session: String? = "one", after before: [String] = [],
        awaiting awaited: String? = nil, number: Int? = 2, order: Int? = 0, field: String? = nil,
        applied: ClosedRange<Int> = 1...1
    ) {
        self.before = before.map { Message(session: "one", text: $0) }
        self.awaited = awaited
        self.faulty = Message(author: author, session: session, text: faulty)
        numbers = number.map { $0...$0 }
        self.order = order
        self.field = field
        self.applied = applied
    }

    private static func shard(_ number: Int, _ order: Int, of count: Int) -> String {
        #"{"n":\#(number),"s":\#(count),"o":\#(order),"d":[{"x":1,"y":2}]}"#
    }

    /// A code that the protocol has and this table has not does not compile.
    init(of code: RejectionCode) {
        switch code {
        case .notJSON: self.init(#"{"n":2"#, number: nil, order: nil)
        case .missingField: self.init(#"{"n":2}"#, field: "d")
        case .wrongType: self.init(#"{"n":2,"d":[{"x":"1","y":2}]}"#, field: "d[0].x")
        case .outOfRange: self.init(#"{"n":2,"l":0,"d":[{"x":1,"y":2}]}"#, field: "l")
        case .unknownElement: self.init(#"{"n":2,"e":99,"d":[]}"#, field: "e")
        case .unknownAction: self.init(#"{"n":2,"a":9,"d":[]}"#, field: "a")
        case .tooLarge: self.init(Hand.stroke(2, at: 0) + String(repeating: " ", count: 4096), number: nil, order: nil)
        case .tooManyPoints:
            let points = [String](repeating: #"{"x":1,"y":2}"#, count: 51).joined(separator: ",")
            self.init(#"{"n":2,"d":[\#(points)]}"#, field: "d")
        case .tooManyShards: self.init(Self.shard(2, 0, of: 1025), order: nil, field: "s")
        case .tooManyPending:
            self.init(Self.shard(4, 1, of: 2), after: [2, 3].map { Self.shard($0, 0, of: 2) }, number: 4, order: 1)
        case .shardConflict: self.init(Self.shard(2, 1, of: 3), after: [Self.shard(2, 0, of: 2)], order: 1, field: "s")
        case .tooLate:
            self.init(
                Hand.command(2, 2, at: 0), after: [Hand.stroke(3, at: 0)], awaiting: #""kind":"gave-up""#,
                applied: 2...2)
        case .nothingToUndo:
            self.init(Hand.command(2, 3, at: 0), after: [Hand.command(2, 2, at: 0)], number: 3, applied: 2...2)
        case .nothingToRedo: self.init(Hand.command(3, 2, at: 0))
        case .nothingToRemove: self.init(#"{"n":2,"a":8,"v":[7],"t":0}"#)
        case .roomFull:
            self.init(Hand.stroke(7, at: 0), by: "carl", number: 7)
            before = [Message(author: "bob", text: Hand.stroke(1, at: 0))]
            applied = 2...2
        case .rateLimited:
            // Bursts of twice the rate, and what comes to be free while they are sent.
            self.init(Hand.stroke(400, at: 0), after: (2..<400).map { Hand.stroke($0, at: 0) }, applied: 20...399)
            numbers = 21...400
        case .muted:
            self.init(Hand.stroke(2, at: 0), awaiting: #""kind":"applied""#)
            mutes = true
        case .sessionOver:
            self.init(Hand.stroke(2, at: 0), after: [])
            before = [Message(session: "two", text: Hand.stroke(1, at: 0))]
            applied = 2...2
        case .misaddressed: preconditionFailure("the journal says so")
        }
    }
}

@Suite struct PointerFloodTests {
    /// Pointers of an author who does not care for rates: each second one is still being drawn.
    private struct Flood {
        static let burst = 24

        private let hand: Hand
        private let wetInput: String
        private var number = 0

        init(_ service: RunningService, in room: String) throws {
            hand = try Hand(service.client, service.address(room), "mallory")
            wetInput = hand.address.subject(.wetInput(try .test("trudy")))
        }

        var address: RoomAddress { hand.address }

        mutating func publish() throws {
            for _ in 0..<Self.burst / 2 {
                number += 1
                let points = (0..<10).map { #"{"x":\#($0 * 30),"y":\#(number % 300),"m":\#($0 * 16)}"# }
                let pointer = #""e":7,"c":1,"l":4,"t":0,"w":400,"h":300,"d":[\#(points.joined(separator: ","))]"#
                try hand.publish(#"{"n":\#(number),\#(pointer)}"#)
                let update = #"{"n":\#(number % 4),"u":\#(number),"k":0,\#(pointer)}"#
                try hand.connection.publish(Array(update.utf8), to: wetInput)
            }
        }
    }

    /// Draws strokes, each when the one before has come to the students, and checks that they are all, in their order.
    /// - Parameter prelude: what is published before each of them.
    private static func draw(
        _ strokes: Int, in room: String, _ service: RunningService, after prelude: () throws -> Void = {}
    ) async throws -> Duration {
        let hand = try Hand(service.client, service.address(room))
        let out = try await Inbox(service.client, hand.address.subject(.out(.main)))
        let begin = ContinuousClock.now
        for number in 1...strokes {
            try prelude()
            try service.client.setClock(hand.address, 1_000_000)
            try hand.publish(Hand.stroke(number, at: number))
            let stroke = try await out.next()
            #expect(stroke.author == "anna" && stroke.index == "\(number)")
            #expect(stroke.text.hasPrefix(#"{"n":\#(number),"#), "\(stroke.text)")
        }
        return begin.duration(to: .now)
    }

    @Test func `of one room takes no stroke from another, and no more time than its messages need`() async throws {
        let configuration = ServerConfiguration.test {
            $0.workers = 1
            $0.room.cohorts.named = [.main: CohortSettings(ink: .progressive)]
        }
        try await RunningService.with(configuration) { service in
            var flood = try Flood(service, in: "flooded")
            let (dry, wet) = (
                try await Inbox(service.client, flood.address.subject(.out(.main))),
                try await Inbox(service.client, flood.address.subject(.wet(.main)))
            )
            try service.client.setClock(flood.address, 1_000_000)
            _ = try await Self.draw(20, in: "first", service)
            let alone = try await Self.draw(100, in: "alone", service)
            let beside = try await Self.draw(100, in: "beside", service) { try flood.publish() }
            print("100 strokes: \(alone) alone, \(beside) beside \(100 * Flood.burst) pointers of another room")
            // Pointers have more points than strokes, and those being drawn go out again and again.
            #expect(beside <= alone * (1 + Flood.burst) * 4)
            #expect(try await dry.next().author == "mallory")
            #expect(try await wet.next().text.contains(#""author":"trudy""#))
            // Nothing is left of them.
            try service.client.setClock(flood.address, 1_000_000)
            #expect(try await service.client.join(flood.address).visible.isEmpty)
        }
    }
}
