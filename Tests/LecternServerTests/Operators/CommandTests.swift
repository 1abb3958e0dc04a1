// Commands of operators, erasures and revocations as the service carries them out, also where it ends meanwhile.

import Hosting
import Journal
import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer

@Suite(.timeLimit(.minutes(4))) struct CommandTests {
    private static let otto = "ink.command.otto"

    private func close(_ room: String, _ id: String) -> [UInt8] {
        Array(#"{"command":"close","room":"\#(room)","for":"anna","id":"\#(id)"}"#.utf8)
    }

    private func error(_ reply: NATSReply) -> RequestError.Code? { RequestError(decoding: reply.payload)?.code }

    @Test func `a command is recorded before it is carried out, and again with its outcome`() async throws {
        try await DurableClass.withRoom("physics") { lesson, address in
            try await lesson.serve {
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address)
                let order = Recorder<String>()
                for subject in ["ink.audit.*.*", address.subject(.control)] {
                    try lesson.client.subscribe(subject) { order.append($0.subject) }
                }
                try await lesson.client.flush()
                let reply = try await lesson.client.request(close("physics", "x1"), to: Self.otto)
                #expect(try CommandReply(decoding: reply.payload) == CommandReply(sequence: 2))
                #expect(
                    try await order.values(3) == [
                        "ink.audit.physics.otto", "ink.0.physics.ctl", "ink.audit.physics.otto",
                    ])
                let entries = try await AuditReader(connection: lesson.client, root: "ink").entries()
                #expect(entries.count == 1)
                #expect(entries.first?.who == "otto" && entries.first?.behalf == "anna")
                #expect(entries.first?.outcome == .done)
            }
        }
    }

    @Test func `a command that comes in again takes effect once`() async throws {
        try await DurableClass.withRoom("physics") { lesson, address in
            try await lesson.serve {
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address)
                for _ in 0..<2 {
                    let reply = try await lesson.client.request(close("physics", "x1"), to: Self.otto)
                    #expect(try CommandReply(decoding: reply.payload).sequence == 2)
                }
                let other = try await lesson.client.request(close("physics", "x2"), to: Self.otto)
                #expect(try CommandReply(decoding: other.payload).sequence == 3)
            }
        }
    }

    @Test func `a command that cannot be recorded is refused, and nothing happens`() async throws {
        try await DurableClass.serve(denying: "ink.audit.>") { lesson in
            try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: lesson.address("physics"))
            let reply = try await lesson.client.request(close("physics", "x1"), to: Self.otto, timeout: .seconds(20))
            #expect(error(reply) == .notReady)
            #expect(try await lesson.lastSequence() == 1)
        }
    }

    @Test func `a bad request is refused and recorded nowhere`() async throws {
        let requests = [
            ("ink.command.Otto", #"{"command":"close","room":"physics","id":"x"}"#),
            (Self.otto, #"{"command":"open","room":"physics","id":"x"}"#),
            (Self.otto, #"{"command":"close","room":"Physics","id":"x"}"#),
            (Self.otto, #"{"command":"close","id":"x"}"#), (Self.otto, #"{"command":"close","room":"a"}"#),
            (Self.otto, #"{"command":"close","room":"physics","id":"x","for":"a\u001b[2J"}"#), (Self.otto, ""),
            ("ink.audit", #"{"room":7}"#),
        ]
        try await DurableClass.with { lesson in
            try await lesson.serve {
                for (subject, body) in requests {
                    let reply = try await lesson.client.request(Array(body.utf8), to: subject)
                    #expect(error(reply) == .badRequest, "\(body)")
                }
                #expect(try await AuditReader(connection: lesson.client, root: "ink").entries().isEmpty)
            }
        }
    }

    @Test func `without a journal commands are carried out, and the audit log is the daemon's`() async throws {
        try await RunningService.withRoom("physics") { service, address, hand in
            let head = try await Inbox(service.client, address.subject(.head))
            try hand.publish(Hand.stroke(1, at: 0))
            let first = try await head.next().room
            let known = try #require(try await RoomDirectory(connection: service.client, root: "ink").room(at: address))
            let otto = RoomCommands(connection: service.client, root: "ink", from: try #require(OperatorName("otto")))
            #expect(try await otto.close(address, known: known) == .inForce(sequence: nil))
            try hand.publish(Hand.stroke(1, at: 0))
            #expect(try await head.next().room != first)
            #expect(error(try await service.client.request(to: "ink.audit")) == .noJournal)
        }
    }

    @Test func `a muted author is told so, stays muted over a restart, and is heard again`() async throws {
        try await DurableClass.withRoom("physics") { lesson, address in
            let otto = RoomCommands(connection: lesson.client, root: "ink", from: try #require(OperatorName("otto")))
            let bob = try #require(AuthorID("bob"))
            let feedback = try await Inbox(lesson.client, address.subject(.feedback(bob)))
            @Sendable func answer(to number: Int) async throws -> Feedback {
                try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: address, author: "bob")
                return try await feedback.nextAnswer()
            }
            try await lesson.serve {
                #expect(try await otto.mute(bob, at: address) == nil)
                #expect(try await answer(to: 1) == .applied(number: 1, index: 1))
                #expect(try await otto.mute(bob, at: address) == .inForce(sequence: 2))
                guard case .rejected(2, 0, let rejection) = try await answer(to: 2) else {
                    throw Unexpected("not rejected")
                }
                #expect(rejection.code == .muted)
            }
            try await lesson.serve(as: "b") {
                guard case .rejected(3, 0, _) = try await answer(to: 3) else { throw Unexpected("not rejected") }
                let room = try await RoomDirectory(connection: lesson.client, root: "ink").room(at: address)
                #expect(room?.muted == ["bob"])
                #expect(try await otto.unmute(bob, at: address) == .inForce(sequence: 5))
                #expect(try await answer(to: 4) == .applied(number: 4, index: 2))
                let entries = try await AuditReader(connection: lesson.client, root: "ink").entries()
                #expect(entries.map(\.command) == ["mute", "unmute"])
                #expect(entries.allSatisfy { $0.target == "bob" && $0.room == "physics" && $0.outcome == .done })
            }
        }
    }
}
