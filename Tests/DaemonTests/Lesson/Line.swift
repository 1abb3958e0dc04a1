import NATSClient
import TestSupport

/// The way from a teacher's pen to NATS: it loses, repeats and delays, and what was lost is sent later.
struct Line: Sendable {
    /// How a message fares.
    struct Fate: Sendable {
        let delay: Duration
        let isRepeated: Bool
    }

    static func fate(_ random: inout SeededGenerator) -> Fate {
        let delay: Duration =
            switch random.int(0..<100) {
            // Lost: heals before the service gives it up after 2 s, or after that.
            case ..<4: .milliseconds(random.int(200...3000))
            // Overtaken.
            case ..<14: .milliseconds(random.int(20...120))
            default: .zero
            }
        return Fate(delay: delay, isRepeated: random.chance(5, in: 100))
    }

    let connection: NATSConnection
    let subject: String
    /// How long a message is tried for.
    static let patience = Duration.seconds(90)

    /// Sends until the journal has it.
    /// - Parameter onRefusal: JetStream has said no, not just left it unanswered.
    func send(_ body: String, id: String, onRefusal: () -> Void = {}) async throws {
        let headers: NATSHeaders = ["Ink-Session": "lesson", "Nats-Msg-Id": id]
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let reply = try? await connection.request(
                Array(body.utf8), to: subject, headers: headers, timeout: .seconds(1))
            if let reply {
                let answer = String(decoding: reply.payload, as: UTF8.self)
                if answer.contains(#""seq""#), !answer.contains(#""error""#) { return }
                onRefusal()
            }
            guard ContinuousClock.now < deadline else {
                throw Unexpected("\(subject) is not taken: \(body.prefix(80))")
            }
            try await Task.sleep(for: .milliseconds(reply == nil ? 50 : 200))
        }
    }
}
