import NATSClient
import StrokeWire
import TestSupport
import Testing

@Suite struct FeedbackTests {
    private func feedback(_ inbox: Inbox) async throws -> Feedback {
        try Feedback(decoding: try await inbox.next().payload)
    }

    @Test func `an author hears of applied, missing, healed and rejected operations`() async throws {
        try await RunningService.withRoom("talk") { service, address, hand in
            let inbox = try await Inbox(service.client, address.subject(.feedback(hand.author)))
            try hand.publish(Hand.stroke(1, at: 0))
            #expect(try await feedback(inbox) == .applied(number: 1, index: 1))
            try hand.publish(Hand.stroke(3, at: 0))
            #expect(try await feedback(inbox) == .missingRange(from: 2, to: 2))
            try hand.publish(Hand.stroke(2, at: 0))
            #expect(try await feedback(inbox) == .applied(number: 2, index: 2))
            #expect(try await feedback(inbox) == .applied(number: 3, index: 3))
            try hand.publish(#"{"n":4,"e":99,"d":[]}"#)
            guard case .rejected(4, _, let rejection) = try await feedback(inbox) else {
                throw Unexpected("no rejection")
            }
            #expect(rejection.code == .unknownElement && rejection.field == "e")
            try hand.publish(Hand.stroke(1, at: 0))
            #expect(try await feedback(inbox) == .applied(number: 1, index: 1))
        }
    }
}
