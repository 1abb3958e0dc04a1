internal import Foundation
internal import Locking

/// Counts publishes that JetStream refuses because a stream, its account or its server has no space for more, for
/// publishers that do not wait for acknowledgements: they give ``reply`` as the reply subject. Any thread.
public final class RefusedPublishes: Sendable {
    /// Streams that are told apart; refusals of all others count as `other`.
    private static let mostStreams = 1024

    /// The reply subject of what is published.
    public let reply: String
    private let counted: Locked<[String: Int]>

    /// - Parameter connection: on which is published. Where it is closed already, nothing is counted.
    public init(_ connection: NATSConnection) {
        reply = connection.makeInbox()
        let counted = Locked<[String: Int]>([:])
        self.counted = counted
        _ = try? connection.subscribe(reply) { message in
            guard let stream = Self.refusal(message.copyPayload()) else { return }
            counted.withLock { counts in
                let name = counts[stream] != nil || counts.count < Self.mostStreams ? stream : "other"
                counts[name, default: 0] += 1
            }
        }
    }

    /// How many publishes were refused so far, by the name of the stream.
    public var counts: [String: Int] { counted.withLock { $0 } }

    /// The stream that has refused a message, from JetStream's answer; nil where it was taken, or failed otherwise.
    static func refusal(_ answer: [UInt8]) -> String? {
        struct Refusal: Decodable { var stream: String? }
        do throws(JetStreamError) {
            _ = try PublishAcknowledgement(decoding: answer)
            return nil
        } catch {
            guard error.isFull else { return nil }
            return (try? JSONDecoder().decode(Refusal.self, from: Data(answer)))?.stream ?? "unknown"
        }
    }
}
