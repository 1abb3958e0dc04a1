import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite struct OrderTests {
    @Test(arguments: [false, true], [1, 2, 3] as [UInt64])
    func `Handlers run in the order of arrival, whatever their subscriptions`(sendAsap: Bool, seed: UInt64) async throws
    {
        let count = 20_000
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server, { $0.sendAsap = sendAsap }) { nats in
                let arrivals = Recorder<Int>()
                for subject in ["a", "b.>", "c.*", "d"] {
                    _ = try nats.subscribe(subject) { message in
                        arrivals.append(message.withUnsafeBytes { $0.loadUnaligned(as: Int.self) })
                    }
                }
                var random = SeededGenerator(seed: seed)
                for number in 0..<count {
                    let subject = ["a", "b.x.y", "c.z", "d"].randomElement(using: &random) ?? "a"
                    try withUnsafeBytes(of: number) { try nats.publish($0, to: subject) }
                }
                let order = try await arrivals.values(count)
                #expect(order == Array(0..<count), "seed \(seed)")
            }
        }
    }

    @Test func `A hundred thousand messages pass from one connection to another`() async throws {
        let count = 100_000
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { sender in
                try await NATSConnection.with(server, { $0.maxPendingMessages = count }) { receiver in
                    let arrivals = Recorder<Int>()
                    _ = try receiver.subscribe("flood") { message in
                        arrivals.append(message.withUnsafeBytes { $0.loadUnaligned(as: Int.self) })
                    }
                    try await receiver.flush(timeout: .seconds(30))
                    let body = [UInt8](repeating: 7, count: 512)
                    for number in 0..<count {
                        var body = body
                        body.withUnsafeMutableBytes { $0.storeBytes(of: number, as: Int.self) }
                        try sender.publish(body, to: "flood")
                    }
                    let order = try await arrivals.values(count, within: .seconds(120))
                    #expect(order == Array(0..<count))
                    #expect(receiver.droppedMessages == 0)
                }
            }
        }
    }
}
