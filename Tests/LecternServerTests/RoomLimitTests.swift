import LecternServer
import NATSClient
import StrokeWire
import TestSupport
import Testing

@Suite struct RoomLimitTests {
    @Test func `a room beyond the limit is refused with the number of the message`() async throws {
        var configuration = ServerConfiguration()
        configuration.rooms = 1
        try await RunningService.with(configuration) { service in
            let first = try Hand(service.client, service.address("first"))
            let second = try Hand(service.client, service.address("second"))
            let applied = try await Inbox(service.client, first.address.subject(.feedback(first.author)))
            let refused = try await Inbox(service.client, second.address.subject(.feedback(second.author)))
            try first.publish(Hand.stroke(1, at: 0))
            _ = try await applied.next()
            try second.publish(Hand.stroke(7, at: 0))
            guard case .rejected(7, 0, let rejection) = try Feedback(decoding: try await refused.next().payload)
            else { throw Unexpected("no rejection") }
            #expect(rejection.code == .roomFull)
        }
    }

    @Test func `clocks of rooms nobody writes to do not keep a teacher out`() async throws {
        var configuration = ServerConfiguration()
        configuration.rooms = 2
        configuration.workers = 1
        try await RunningService.with(configuration) { service in
            for number in 0..<10 { try service.client.setClock(service.address("blank-\(number)"), 0) }
            let hand = try Hand(service.client, service.address("written"))
            let feedback = try await Inbox(service.client, hand.address.subject(.feedback(hand.author)))
            try hand.publish(Hand.stroke(1, at: 0))
            #expect(try Feedback(decoding: try await feedback.next().payload) == .applied(number: 1, index: 1))
        }
    }
}
