import LecternServer
import NATSClient
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite struct JoiningTests {
    private func join(_ service: RunningService, _ address: RoomAddress, _ request: JoinRequest) async throws
        -> JoinReply
    {
        let reply = try await service.client.requestParts(request.encoded(), to: address.subject(.join(.main)))
        return try JoinReply(decoding: reply.payload)
    }

    @Test func `a room nobody has written to is an empty board`() async throws {
        try await RunningService.with { service in
            let reply = try await join(service, service.address("silent"), JoinRequest())
            #expect(reply.room == "" && reply.index == 0 && reply.digest == .empty)
            #expect(reply.content == .board(width: 1024, height: 768, visible: [], redo: [], cleared: []))
        }
    }

    @Test func `a board larger than a message comes in parts`() async throws {
        try await RunningService.with { service in
            let address = try service.address("large")
            let hand = try Hand(service.client, address)
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            try service.client.setClock(address, 1_000_000, #","d":true"#)
            let points = (0..<2000).map { #"{"x":\#($0),"y":\#($0 % 700)}"# }.joined(separator: ",")
            for number in 1...10 { try hand.publish(#"{"n":\#(number),"t":1,"d":[\#(points)]}"#) }
            _ = try await out.next(10)
            let reply = try await join(service, address, JoinRequest())
            guard case .board(_, _, let visible, _, _) = reply.content else { throw Unexpected("no board") }
            #expect(visible.count == 10 && visible.reduce(0) { $0 + $1.message.count } > 256 * 1024)
            let tail = try await join(service, address, JoinRequest(incarnation: reply.room, have: 8))
            guard case .tail(let operations) = tail.content else { throw Unexpected("no tail") }
            #expect(operations.map(\.index) == [9, 10])
        }
    }

    @Test func `bad requests are told why, and only inboxes are answered`() async throws {
        var configuration = ServerConfiguration()
        configuration.room.cohorts.open = false
        try await RunningService.with(configuration) { service in
            let address = try service.address("strict")
            func ask(_ body: String, _ subject: String) async throws -> RequestError? {
                RequestError(decoding: try await service.client.request(Array(body.utf8), to: subject).payload)
            }
            guard let other = CohortName("other") else { throw Unexpected("no name") }
            #expect(try await ask("{}", address.subject(.join(other)))?.code == .unknownCohort)
            #expect(try await ask(#"{"have":"x"}"#, address.subject(.join(.main)))?.code == .badRequest)
            #expect(try await ask(#"{"width":0}"#, address.subject(.image(.main)))?.code == .badRequest)
            #expect(try await ask("", address.subject(.image(.main)))?.code == .unknownRoom)

            let victim = try await Inbox(service.client, "somebody.else")
            try service.client.publish(Array("{}".utf8), to: address.subject(.join(.main)), reply: "somebody.else")
            #expect(try await ask("{}", address.subject(.join(other)))?.code == .unknownCohort)
            try service.client.publish([7], to: "somebody.else")
            #expect(try await victim.next().payload == [7])
        }
    }

    @Test func `the picture shows the board as released`() async throws {
        try await RunningService.with { service in
            let address = try service.address("picture")
            let hand = try Hand(service.client, address)
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let head = try await Inbox(service.client, address.subject(.head))
            try service.client.setClock(address, 10)
            try hand.publish(Hand.stroke(1, at: 5))
            _ = try await out.next()
            let before = try await service.client.requestParts(to: address.subject(.image(.main))).payload
            try hand.publish(Hand.stroke(7, at: 20))
            try hand.publish(Hand.stroke(2, at: 20))
            _ = try await head.next(2)
            let held = try await service.client.requestParts(to: address.subject(.image(.main))).payload
            #expect(before.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            #expect(held == before)
            try service.client.setClock(address, 30)
            _ = try await out.next()
            let after = try await service.client.requestParts(to: address.subject(.image(.main))).payload
            #expect(after != before)
        }
    }
}
