public import NATSClient
public import StrokeWire

/// Lists the rooms of all services under one subject root, and gives commands about them.
public struct RoomDirectory: Sendable {
    /// How long the list waits for all services; slower ones are missing from it.
    private let window: Duration

    let connection: NATSConnection
    let root: String

    /// - Parameters:
    ///   - connection: a connection that `connect` was called on.
    ///   - root: first token of the subjects.
    ///   - window: how long a list waits for services that do not reply.
    public init(connection: NATSConnection, root: String, window: Duration = .seconds(1)) {
        (self.connection, self.root, self.window) = (connection, root, window)
    }

    /// The rooms of all services: at once when the lists that have come cover all partitions, else with what has come
    /// within the window, and then `MergedRoomList/isComplete` is false.
    ///
    /// - Throws: `.noReply` without a reply, `.refused` when the service is overloaded, `.malformed` when no reply can be
    ///   read.
    public func rooms() async throws(RoomDirectoryError) -> MergedRoomList {
        var merged = MergedRoomList()
        var (isAnswered, isRead) = (false, false)
        var refusal: String?
        do throws(NATSError) {
            try await connection.requestMany(to: "\(root).rooms", window: window) { reply in
                isAnswered = true
                // A long list comes in several replies; each is a list of its own.
                if let list = try? RoomList(decoding: reply.payload) {
                    isRead = true
                    merged.add(list)
                } else if let error = RequestError(decoding: reply.payload) {
                    refusal = error.message
                }
                return merged.isComplete
            }
        } catch {
            throw .nats(error)
        }
        guard isAnswered else { throw .noReply }
        guard isRead else { throw refusal.map { .refused($0) } ?? .malformed }
        return merged
    }

    /// The state of one room.
    ///
    /// - Returns: nil for a room that has no operations.
    /// - Throws: as ``rooms()``.
    public func room(at address: RoomAddress) async throws(RoomDirectoryError) -> RoomSummary? {
        let room = try await state(at: address)
        return room?.incarnation == "" ? nil : room
    }

    /// The state of one room, also of one that has no operations and whose video has a clock.
    func state(at address: RoomAddress) async throws(RoomDirectoryError) -> RoomSummary? {
        let reply: NATSReply
        do throws(NATSError) {
            reply = try await connection.requestParts(to: address.subject(.info))
        } catch {
            throw RoomDirectoryError(error)
        }
        if let summary = try? RoomSummary(decoding: reply.payload), summary.isWellNamed { return summary }
        guard let refusal = RequestError(decoding: reply.payload) else { throw .malformed }
        guard refusal.code == .unknownRoom else { throw .refused(refusal.message) }
        return nil
    }
}

/// Why a request about rooms failed.
public enum RoomDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No service replied.
    case noReply
    /// The service refused the request, with its message.
    case refused(String)
    /// A room has as many muted authors as it may.
    case tooManyMuted
    /// The reply cannot be decoded.
    case malformed
    case nats(NATSError)

    /// What a request failed with.
    init(_ error: NATSError) { self = error == .noResponders || error == .timeout ? .noReply : .nats(error) }

    public var description: String {
        switch self {
        case .noReply: "no service answers"
        case .refused(let why): "the service refused: \(why)"
        case .tooManyMuted: "the room has \(ControlRecord.mutedLimit) muted authors, as many as it may"
        case .malformed: "the service's reply cannot be decoded"
        case .nats(let error): "\(error)"
        }
    }
}
