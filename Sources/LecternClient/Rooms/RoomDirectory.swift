internal import Foundation
public import NATSClient
public import StrokeWire

/// Asks the services of a root about their rooms.
public struct RoomDirectory: Sendable {
    /// How long answers are gathered: a service that needs longer is left out.
    private static let window = Duration.milliseconds(500)

    let connection: NATSConnection
    private let root: String

    /// - Parameters:
    ///   - connection: one that `connect` was called on.
    ///   - root: the subjects' first token.
    public init(connection: NATSConnection, root: String) {
        self.connection = connection
        self.root = root
    }

    /// All rooms of all services that answer within half a second, by name, each once.
    ///
    /// - Throws: `.nobody` when none answers, `.refused` when too many ask, `.malformed` when none can be read.
    public func rooms() async throws(RoomDirectoryError) -> [RoomSummary] {
        let replies: [NATSReply]
        do throws(NATSError) {
            replies = try await connection.requestMany(to: "\(root).rooms", window: Self.window)
        } catch {
            throw .nats(error)
        }
        guard !replies.isEmpty else { throw .nobody }
        // A long list comes in several messages, each of which can be read alone.
        let lists = replies.compactMap { try? JSONDecoder().decode(Listing.self, from: Data($0.payload)).rooms }
        guard !lists.isEmpty else {
            let refusal = replies.lazy.compactMap { try? JSONDecoder().decode(Refusal.self, from: Data($0.payload)) }
            throw refusal.first.map { .refused($0.error.message) } ?? .malformed
        }
        return RoomSummary.merging(lists)
    }

    /// One room as it is now.
    ///
    /// - Returns: nil for a room that nobody has written to.
    public func room(at address: RoomAddress) async throws(RoomDirectoryError) -> RoomSummary? {
        let reply: NATSReply
        do throws(NATSError) {
            reply = try await connection.request(to: address.subject(.info))
        } catch {
            throw error == .noResponders || error == .timeout ? .nobody : .nats(error)
        }
        let body = Data(reply.payload)
        if let summary = try? JSONDecoder().decode(RoomSummary.self, from: body), summary.isWellNamed { return summary }
        guard let refusal = try? JSONDecoder().decode(Refusal.self, from: body).error else { throw .malformed }
        guard refusal.code == "unknown-room" else { throw .refused(refusal.message) }
        return nil
    }

    private struct Listing: Decodable {
        let rooms: [RoomSummary]
    }

    private struct Refusal: Decodable {
        struct Reason: Decodable {
            let code: String
            let message: String
        }
        let error: Reason
    }
}

/// Why nothing is known of rooms.
public enum RoomDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No service answers.
    case nobody
    /// What the service says.
    case refused(String)
    /// The answer cannot be read.
    case malformed
    /// What NATS says.
    case nats(NATSError)

    public var description: String {
        switch self {
        case .nobody: "no service answers"
        case .refused(let why): "the service says: \(why)"
        case .malformed: "the service's answer cannot be read"
        case .nats(let error): "\(error)"
        }
    }
}
