import LecternServer
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite struct ReconnectTests {
    @Test func `what became due while NATS was away is released when it is back`() async throws {
        try await RunningService.with { service in
            let address = try service.address("away")
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let head = try await Inbox(service.client, address.subject(.head))
            let hand = try Hand(service.client, address)
            // The video goes on by itself: operation 2 becomes due a second later.
            try service.client.publish(Array(#"{"m":1000}"#.utf8), to: address.subject(.clock(.main)))
            try hand.publish(Hand.stroke(1, at: 500))
            try hand.publish(Hand.stroke(2, at: 2000))
            _ = try await head.next(2)
            #expect(try await out.next().index == "1")
            let due = ContinuousClock.now + .milliseconds(1200)
            await service.nats.kill()
            try await Task.sleep(until: due)
            try await service.nats.restart()
            // Whoever is back later than the service missed it and gets it by joining, as here.
            try await eventually("operation 2 is released", within: .seconds(15)) {
                try await service.client.join(address).index == 2 ? () : nil
            }
        }
    }
}
