import LecternServer
import NATSClient
import StrokeWire
import TestSupport
import Testing

@Suite struct PictureTests {
    @Test func `pictures that take long hold up no release`() async throws {
        try await RunningService.with { service in
            let address = try service.address("busy")
            let hand = try Hand(service.client, address)
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            try service.client.setClock(address, 1000)
            for number in 1...40 { try hand.publish(scribble(number)) }
            _ = try await out.next(40)

            // Nothing has been drawn yet: the first picture draws 40 large strokes, each other one is encoded anew.
            let pictures = Task {
                try await withThrowingTaskGroup(of: ContinuousClock.Instant.self) { group in
                    for width in 1...8 {
                        group.addTask {
                            let picture = try await service.client.requestParts(
                                ImageRequest(width: 1024 - width).encoded(), to: address.subject(.image(.main)),
                                timeout: .seconds(60))
                            guard picture.payload.starts(with: [0x89, 0x50, 0x4e, 0x47]) else {
                                throw Unexpected("no picture: \(String(decoding: picture.payload, as: UTF8.self))")
                            }
                            return .now
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            var released: [ContinuousClock.Instant] = []
            for number in 41...60 {
                try hand.publish(Hand.stroke(number, at: 0))
                #expect(try await out.next().index == String(number))
                released.append(.now)
            }
            let drawn = try await pictures.value
            let last = try #require(drawn.max())
            #expect(released.allSatisfy { $0 < last }, "the releases waited for the pictures")
        }
    }

    /// A wide stroke all over the board.
    private func scribble(_ number: Int) -> String {
        let points = (0..<40).map { #"{"x":\#($0 * 37 % 1000),"y":\#(($0 * 53 + number * 11) % 750)}"# }
        return #"{"n":\#(number),"l":20,"t":0,"w":1024,"h":768,"d":[\#(points.joined(separator: ","))]}"#
    }
}
