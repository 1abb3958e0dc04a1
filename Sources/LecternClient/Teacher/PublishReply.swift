internal import Foundation
internal import NATSClient

extension PublishReply {
    /// Decodes JetStream's reply to a publish (ADR-22 of NATS, nats-server 2.9).
    /// - Returns: nil for another message.
    init?(_ body: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let answer = try? decoder.decode(Body.self, from: Data(body)) else { return nil }
        if let error = answer.error {
            self =
                error.errCode == Self.idTakenError
                ? .idTaken
                : .refused(
                    "\(error.description ?? "no reason given") (JetStream error \(error.errCode ?? error.code))")
        } else if answer.stream != nil, let sequence = answer.seq {
            // nats-server 2.9 answers 0 where later ones answer the error.
            self = sequence > 0 ? .stored : .idTaken
        } else {
            return nil
        }
    }

    private static let idTakenError = 10158

    /// Decodes a message on the reply subject.
    init?(_ message: borrowing NATSMessage) {
        if message.payloadSize == 0, message.header("Status") == "503" {
            self = .noResponders
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
