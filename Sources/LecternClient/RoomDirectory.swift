public import NATSClient
public import StrokeWire

/// Lists and closes the rooms of all services under one subject root.
public struct RoomDirectory: Sendable {
    /// How long the list waits for all services; slower ones are missing from it.
    private let window: Duration

    private let connection: NATSConnection
    private let root: String

    /// - Parameters:
    ///   - connection: a connection that `connect` was called on.
    ///   - root: first token of the subjects.
    ///   - window: how long a list waits for services that do not reply.
    public init(connection: NATSConnection, root: String, window: Duration = .seconds(1)) {
        self.connection = connection
        self.root = root
        self.window = window
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
        let reply: NATSReply
        do throws(NATSError) {
            reply = try await connection.request(to: address.subject(.info))
        } catch {
            throw error == .noResponders || error == .timeout ? .noReply : .nats(error)
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
    /// The reply cannot be decoded.
    case malformed
    /// NATS reported an error.
    case nats(NATSError)

    public var description: String {
        switch self {
        case .noReply: "no service answers"
        case .refused(let why): "the service says: \(why)"
        case .malformed: "the service's reply cannot be decoded"
        case .nats(let error): "\(error)"
        }
    }
}

/// Result of closing a room.
public enum CloseOutcome: Sendable, Equatable {
    /// The room is closed. `sequence` is the request's place in the journal; nil without a journal.
    case closed(sequence: UInt64?)
    /// The journal has the request at this place, and the service has not processed it yet.
    case logged(sequence: UInt64)
    /// Neither the journal nor the service confirmed the request.
    case unconfirmed
}

extension RoomDirectory {
    /// How long the journal may take to store the request.
    private static let journalTimeout = Duration.seconds(15)
    /// How long the service may take to process it then.
    private static let serviceTimeout = Duration.seconds(5)

    /// Ends the room's incarnation: service and students drop its board, history, log and sequence numbers. The next
    /// message begins a new incarnation.
    ///
    /// - Parameters:
    ///   - address: the room's address.
    ///   - known: the room from ``room(at:)``, whose incarnation ends.
    /// - Throws: errors of NATS, and JetStream's refusal.
    public func close(
        _ address: RoomAddress, known: RoomSummary
    ) async throws(JetStreamError) -> CloseOutcome {
        // One id for all attempts: a second close would end the incarnation that began in between.
        let headers: NATSHeaders = [HeaderName.msgID: "\(address.room)/close/\(Teacher.newSession())"]
        let deadline = ContinuousClock.now + Self.journalTimeout
        while ContinuousClock.now < deadline, !Task.isCancelled {
            do throws(JetStreamError) {
                let acknowledgement = try await JetStream(connection).publish(
                    ControlRecord.close.encoded(), to: address.subject(.control), headers: headers,
                    timeout: .seconds(2))
                let isClosed = await hasEnded(known, at: address, within: Self.serviceTimeout)
                return isClosed
                    ? .closed(sequence: acknowledgement.sequence) : .logged(sequence: acknowledgement.sequence)
            } catch {
                switch error {
                case .noAnswer, .connection(.disconnected):
                    // A service without a journal closes the room and sends no reply.
                    if await hasEnded(known, at: address, within: .milliseconds(500)) { return .closed(sequence: nil) }
                case .notCaptured:
                    try? await Task.sleep(for: .milliseconds(500))
                default:
                    throw error
                }
            }
        }
        return .unconfirmed
    }

    /// Polls until the known incarnation has ended, or the limit has passed.
    private func hasEnded(_ known: RoomSummary, at address: RoomAddress, within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        repeat {
            // No reply may mean that another daemon is taking the room over.
            if let now = try? await room(at: address).map(\.incarnation) ?? "", now != known.incarnation { return true }
            try? await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < deadline && !Task.isCancelled
        return false
    }
}
