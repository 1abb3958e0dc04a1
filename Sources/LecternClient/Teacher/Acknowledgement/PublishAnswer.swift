internal import Foundation
internal import NATSClient

/// What comes back for a published message when a journal's stream captures it, or nobody does anything with it.
///
/// Without a journal nothing comes back where the service listens: there its feedback alone tells.
public enum PublishAnswer: Sendable, Equatable {
    /// The stream has the message; also when it had it before.
    case stored
    /// The stream does not take it, in JetStream's words.
    case refused(String)
    /// The server knows of nobody, service or stream, that the message could go to.
    case nobody

    /// Reads JetStream's answer to a publish (ADR-22 of NATS, nats-server 2.9).
    /// - Returns: nil for what is none.
    init?(_ body: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let answer = try? decoder.decode(Body.self, from: Data(body)) else { return nil }
        if let error = answer.error {
            self = .refused(
                "\(error.description ?? "no reason given") (JetStream error \(error.errCode ?? error.code))")
        } else if answer.stream != nil, answer.seq ?? 0 > 0 {
            self = .stored
        } else {
            return nil
        }
    }

    /// Reads a message that came to the subject for answers.
    init?(_ message: borrowing NATSMessage) {
        if message.payloadSize == 0, message.header("Status") == "503" {
            self = .nobody
        } else {
            self.init(message.copyPayload())
        }
    }

    private struct Body: Decodable {
        struct Failure: Decodable {
            var code: Int
            var errCode: Int?
            var description: String?
        }
        var stream: String?
        var seq: UInt64?
        var error: Failure?
    }
}
