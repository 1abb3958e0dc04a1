import LecternServer
import NATSClient
import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// Every rejection code of the protocol, brought about over NATS.
@Suite struct RejectionTests {
    @Test func `every code reaches the author who has earned it, with what it is about, and changes nothing`()
        async throws
    {
        var configuration = ServerConfiguration()
        configuration.room.intake.wire.messageBytes = 4096
        configuration.room.intake.wire.points = 50
        configuration.room.intake.assembling = 2
        configuration.room.intake.authors = 2
        configuration.room.intake.messagesPerSecond = 10
        try await RunningService.with(configuration) { service in
            // Each code in a room of its own, all at once: one of them takes 2 s.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for code in RejectionCode.allCases {
                    group.addTask { try await provoke(code, Provocation(of: code), service) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func provoke(_ code: RejectionCode, _ provocation: Provocation, _ service: RunningService) async throws {
        let address = try service.address(code.rawValue)
        let feedback = try await Inbox(service.client, "\(address).feedback.*")
        for message in [.first] + provocation.before { try publish(message, to: address, service) }
        if let awaited = provocation.awaited { _ = try await feedback.next { $0.text.contains(awaited) } }
        try publish(provocation.faulty, to: address, service)
        let body = try AnyJSON.decode(
            try await feedback.next { $0.text.contains(#""kind":"rejected""#) }.payload)
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
        guard let author = AuthorID(message.author) else { throw Unexpected("not an author: \(message.author)") }
        try service.client.publish(
            Array(message.text.utf8), to: address.subject(.input(author)),
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
        case .unknownElement: self.init(#"{"n":2,"e":9,"d":[]}"#, field: "e")
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
        case .roomFull:
            self.init(Hand.stroke(7, at: 0), by: "carl", number: 7)
            before = [Message(author: "bob", text: Hand.stroke(1, at: 0))]
            applied = 2...2
        case .rateLimited:
            // Bursts of twice the rate, and what comes to be free while they are sent.
            self.init(Hand.stroke(400, at: 0), after: (2..<400).map { Hand.stroke($0, at: 0) }, applied: 20...399)
            numbers = 21...400
        case .sessionOver:
            self.init(Hand.stroke(2, at: 0), after: [])
            before = [Message(session: "two", text: Hand.stroke(1, at: 0))]
            applied = 2...2
        }
    }
}
