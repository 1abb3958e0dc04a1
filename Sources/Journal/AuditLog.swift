public import Logging
public import NATSClient
public import StrokeWire

/// The audit log, in the stream `<ROOT>_AUDIT`: each command about a room with its user and its outcome.
///
/// Each room has a subject for each user who gave commands about it, so that the entries of one room can be listed without
/// reading the others, and so that many entries of one room or user do not push out those of another. The oldest entries go at
/// the limits of bytes, of age, and of records of one subject.
///
/// A value; any thread.
public struct AuditLog: Sendable {
    /// Records of one room and user, two for each command.
    private static let subjectRecords: Int64 = 4000
    private static let pageRecords = 500

    private let root: String
    private let settings: JournalSettings
    private let maxBytes: Int64
    private let maxAge: Duration
    private let jetStream: JetStream
    private let logger: Logger

    /// - Parameters:
    ///   - root: the first tokens of all subjects.
    ///   - maxBytes: of all entries, which JetStream reserves when the stream is made.
    ///   - maxAge: how long an entry is kept.
    public init(
        root: String, settings: JournalSettings, maxBytes: Int64, maxAge: Duration, connection: NATSConnection,
        logger: Logger
    ) {
        self.root = root
        self.settings = settings
        self.maxBytes = maxBytes
        self.maxAge = maxAge
        self.logger = logger
        jetStream = JetStream(connection, timeout: settings.timeout)
    }

    private var stream: String { Self.stream(of: root) }

    /// The stream's name, such as `INK_AUDIT`.
    static func stream(of root: String) -> String { "\(PartitionStreams.stem(root))_AUDIT" }

    /// The subject of messages that fill damaged files; no room's name has capitals.
    static func filler(_ root: String) -> String { "\(root).audit.FILLER.filler" }

    /// The subject of entries; what is about no room has capitals, which no room's name has.
    /// - Parameter user: who gave the commands; `*` for all.
    private func subject(_ room: String?, _ user: String = "*") -> String {
        "\(root).audit.\(room ?? "GENERAL").\(user)"
    }

    /// Makes the stream where there is none. An existing one is not changed; differences are logged.
    public func provision() async throws(JournalError) {
        var wanted = StreamConfiguration(name: stream, subjects: [subject("*")])
        wanted.replicas = settings.replicas
        wanted.maxBytes = maxBytes
        wanted.maxAge = maxAge
        wanted.maxMessagesPerSubject = Self.subjectRecords
        wanted.discard = .old
        wanted.duplicateWindow = min(settings.duplicateWindow, maxAge)
        try await onStream(stream) { () throws(JetStreamError) in
            try await jetStream.provision(wanted, logger: logger)
        }
    }

    /// Records an entry; makes the stream where it is missing.
    public func record(_ entry: AuditEntry) async throws(JournalError) {
        let subject = subject(entry.room, entry.who)
        do throws(JetStreamError) {
            _ = try await jetStream.publish(entry.encoded(), to: subject)
        } catch {
            guard case .notCaptured = error else { throw .stream(name: stream, error) }
            try await provision()
            try await onStream(stream) { () throws(JetStreamError) in
                _ = try await jetStream.publish(entry.encoded(), to: subject)
            }
        }
    }

    /// A page of the entries, oldest first, each with its time.
    public func page(_ request: AuditRequest) async throws(JournalError) -> AuditPage {
        let filter = request.room.map { subject($0.text) } ?? subject("*")
        do throws(JetStreamError) {
            var next = request.from ?? 1
            if request.from == nil, let since = request.since { next = try await first(since: since) }
            var entries: [AuditEntry] = []
            while let message = try await jetStream.nextMessage(stream, subject: filter, from: next) {
                guard entries.count < Self.pageRecords else { return AuditPage(entries, next: message.sequence) }
                next = message.sequence + 1
                // One of a newer form is passed over.
                guard var entry = try? AuditEntry(decoding: message.payload) else { continue }
                entry.time = message.milliseconds
                entries.append(entry)
            }
            return AuditPage(entries, next: nil)
        } catch {
            // A stream that was never made has no entries.
            if error.isStreamMissing { return AuditPage([], next: nil) }
            throw .stream(name: stream, error)
        }
    }

    /// The sequence of the first entry of a time or later, by bisection.
    private func first(since time: Int64) async throws(JetStreamError) -> UInt64 {
        let info = try await jetStream.streamInfo(stream)
        var (low, high) = (info.firstSequence, info.lastSequence + 1)
        while low < high {
            let middle = low + (high - low) / 2
            let message = try await jetStream.nextMessage(stream, subject: subject("*"), from: middle)
            if let message, message.milliseconds < time { low = message.sequence + 1 } else { high = middle }
        }
        return low
    }
}

extension StoredMessage {
    fileprivate var milliseconds: Int64 { time / 1_000_000 }
}
