import LecternClient
import NATSClient

/// One publisher and very many subscribers of a subject, without the service: what the NATS server pays for each of them.
struct FanOut {
    static let subscribers = 100
    /// Messages a second.
    static let rate = 200
    /// Bytes of a message: a stroke of 14 points.
    static let size = 412

    let url: String
    /// The NATS server's process.
    let server: Int32

    /// - Parameter connections: over which the subscribers are spread.
    /// - Returns: seconds of the NATS server's processor time for a message to a subscriber.
    func measure(connections count: Int, seconds: Double) async throws -> Double {
        Progress.say("\(Self.subscribers) subscribers, connections: \(count)")
        let received = Counter()
        var connections: [NATSConnection] = []
        for _ in 0..<count { connections.append(try await .open(url)) }
        for number in 0..<Self.subscribers {
            try connections[number % count].subscribe("fan-out") { _ in received.add() }
        }
        for connection in connections { try await connection.flush() }
        let publisher = try await NATSConnection.open(url)
        let message = [UInt8](repeating: UInt8(ascii: "x"), count: Self.size)
        let messages = Int(seconds * Double(Self.rate))
        let before = RelayProcess.processorTime(of: server)
        let begin = ContinuousClock.now
        for number in 0..<messages {
            try await Task.sleep(until: begin + .seconds(Double(number) / Double(Self.rate)), clock: .continuous)
            try publisher.publish(message, to: "fan-out")
        }
        try await waitUntil(within: 10, every: .milliseconds(5), else: "messages have not come") {
            received.count >= messages * Self.subscribers
        }
        let time = RelayProcess.processorTime(of: server) - before
        for connection in connections + [publisher] { await connection.close() }
        return time / Double(messages * Self.subscribers)
    }
}
