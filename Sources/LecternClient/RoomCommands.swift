public import NATSClient
public import StrokeWire

/// What has become of a command.
public enum CommandEffect: Sendable, Equatable {
    /// It is in force. `sequence` is the decision's place in the journal; nil without a journal.
    case inForce(sequence: UInt64?)
    /// The journal has the decision at this place, and the service has not read it yet.
    case logged(sequence: UInt64)
    /// Without a journal: the service does not show that it is in force.
    case unconfirmed
}

/// Gives commands in the name of one user.
public struct RoomCommands: Sendable {
    /// How long the service may take to read a decision in its journal.
    private static let readingTime = Duration.seconds(5)

    private let directory: RoomDirectory
    private let who: OperatorName
    private let behalf: String?

    /// - Parameters:
    ///   - connection: a connection that `connect` was called on.
    ///   - root: first token of the subjects.
    ///   - who: the last token of the subject; with permissions, one that this user may publish on.
    ///   - behalf: whom the user asks for, for the audit log; see `CommandRequest`.
    public init(connection: NATSConnection, root: String, from who: OperatorName, for behalf: String? = nil) {
        directory = RoomDirectory(connection: connection, root: root)
        (self.who, self.behalf) = (who, behalf)
    }

    /// Gives a command, again where the connection is lost meanwhile.
    ///
    /// - Parameter onProgress: called in the caller's task for each sign of life of a command that takes long.
    /// - Throws: `.noReply`, also where the service is silent for 15 s; `.refused` with what the service says.
    public func give(
        _ command: OperatorCommand, onProgress: (CommandProgress) -> Void = { _ in }
    ) async throws(RoomDirectoryError) -> CommandReply {
        // One id for all attempts: a command that comes in twice takes effect once.
        let request = CommandRequest(command, for: behalf, id: Teacher.newSession())
        let deadline = ContinuousClock.now + CommandProgress.patience
        while true {
            let reply: NATSReply?
            do throws(NATSError) {
                reply = try await ask(request, onProgress)
            } catch {
                guard error == .disconnected, ContinuousClock.now < deadline else { throw .nats(error) }
                do { try await Task.sleep(for: .milliseconds(200)) } catch { throw .nats(.cancelled) }
                continue
            }
            guard let reply else { throw .noReply }
            if let error = RequestError(decoding: reply.payload) { throw .refused(error.message) }
            guard let done = try? CommandReply(decoding: reply.payload) else { throw .malformed }
            return done
        }
    }

    /// - Returns: the last reply; nil where nobody replies.
    private func ask(
        _ request: CommandRequest, _ onProgress: (CommandProgress) -> Void
    ) async throws(NATSError) -> NATSReply? {
        var last: NATSReply?
        try await directory.connection.requestMany(
            request.encoded(), to: CommandRequest.subject(root: directory.root, from: who),
            window: CommandProgress.patience, extendsWindow: true
        ) { reply in
            guard reply.header(HeaderName.progress) == nil else {
                if let progress = try? CommandProgress(decoding: reply.payload) { onProgress(progress) }
                return false
            }
            last = reply
            return true
        }
        return last
    }

    /// Ends the room's incarnation: service and students drop its board, history, log and sequence numbers. The next
    /// message begins a new incarnation.
    ///
    /// - Parameters:
    ///   - address: the room's address.
    ///   - known: the room from `RoomDirectory`, whose incarnation ends.
    /// - Throws: as ``give(_:onProgress:)``.
    public func close(
        _ address: RoomAddress, known: RoomSummary
    ) async throws(RoomDirectoryError) -> CommandEffect {
        try await decide(.close(address.room), at: address) { now in
            (now?.incarnation ?? "") != known.incarnation
        }
    }

    /// Mutes an author, also one that has not written yet: from then on what it sends is rejected with `muted`, and what
    /// it has drawn stays. Holds until ``unmute(_:at:)``, or until the room is closed.
    ///
    /// - Returns: nil for a room that nobody has written to.
    /// - Throws: as ``give(_:onProgress:)``; `.tooManyMuted`.
    public func mute(_ author: AuthorID, at address: RoomAddress) async throws(RoomDirectoryError) -> CommandEffect? {
        guard let known = try await directory.room(at: address) else { return nil }
        let muted = known.muted ?? []
        guard muted.count < ControlRecord.mutedLimit || muted.contains(author.text) else {
            throw .tooManyMuted
        }
        return try await decide(.mute(author, address.room), at: address) { now in
            now?.muted?.contains(author.text) ?? false
        }
    }

    /// Takes an author's messages again. One that is not muted is no error.
    ///
    /// - Returns: nil for a room that nobody has written to.
    /// - Throws: as ``give(_:onProgress:)``.
    public func unmute(_ author: AuthorID, at address: RoomAddress) async throws(RoomDirectoryError) -> CommandEffect? {
        guard try await directory.room(at: address) != nil else { return nil }
        return try await decide(.unmute(author, address.room), at: address) { now in
            now.map { !($0.muted ?? []).contains(author.text) } ?? true
        }
    }

    /// Gives a command that is a decision, and waits until the service has read it.
    /// - Parameter isInForce: tells by the room's state; nil for a room that has no operations.
    private func decide(
        _ command: OperatorCommand, at address: RoomAddress, isInForce: (RoomSummary?) -> Bool
    ) async throws(RoomDirectoryError) -> CommandEffect {
        let sequence = try await give(command).sequence
        let deadline = ContinuousClock.now + Self.readingTime
        repeat {
            do throws(RoomDirectoryError) {
                if isInForce(try await directory.room(at: address)) { return .inForce(sequence: sequence) }
            } catch {
                // No reply may mean that another daemon is taking the room over.
            }
            try? await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < deadline && !Task.isCancelled
        return sequence.map { .logged(sequence: $0) } ?? .unconfirmed
    }
}

/// Reads the audit log.
public struct AuditReader: Sendable {
    /// How long the service may take for a page.
    private static let timeout = Duration.seconds(15)

    private let connection: NATSConnection
    private let root: String

    /// - Parameters:
    ///   - connection: a connection that `connect` was called on.
    ///   - root: first token of the subjects.
    public init(connection: NATSConnection, root: String) {
        (self.connection, self.root) = (connection, root)
    }

    /// The commands in the audit log in the order in which they were given, each with what became of it.
    ///
    /// - Parameters:
    ///   - room: the room that they are about; nil for all.
    ///   - since: the time from which on, in milliseconds since 1970.
    /// - Throws: `.noReply`; `.refused`, also without a journal; `.malformed`.
    public func entries(room: RoomID? = nil, since: Int64? = nil) async throws(RoomDirectoryError) -> [AuditEntry] {
        var entries: [AuditEntry] = []
        var places: [String: Int] = [:]
        var request = AuditRequest(room: room, since: since)
        repeat {
            let page = try await page(request)
            for entry in page.entries {
                // The second record of a command has its outcome; of one that was sent again the last counts.
                if let place = places[entry.id] {
                    entries[place].outcome = entry.outcome ?? entries[place].outcome
                    entries[place].detail = entry.detail ?? entries[place].detail
                } else {
                    places[entry.id] = entries.count
                    entries.append(entry)
                }
            }
            // A page that begins no later than the one before would have the log read without end.
            if let next = page.next, next <= request.from ?? 0 { throw .malformed }
            request.from = page.next
        } while request.from != nil
        return entries
    }

    private func page(_ request: AuditRequest) async throws(RoomDirectoryError) -> AuditPage {
        let reply = try await connection.reply(
            to: request.encoded(), AuditRequest.subject(root: root), timeout: Self.timeout)
        guard let page = try? AuditPage(decoding: reply) else { throw .malformed }
        return page
    }
}
