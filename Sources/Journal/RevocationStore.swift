internal import Cryptography
import Locking
public import Logging
public import NATSClient
public import StrokeWire

/// The revocations of tokens, in the stream `<ROOT>_REVOKED`: a message for each, on `<root>.revocations.<key>`, where the
/// key is a hash of what it is about. Its place in the list is the message's sequence.
///
/// A value; any thread.
public struct RevocationStore: Sendable {
    private let root: String
    private let settings: JournalSettings
    private let jetStream: JetStream
    private let logger: Logger

    /// - Parameter root: the first tokens of all subjects.
    public init(root: String, settings: JournalSettings, connection: NATSConnection, logger: Logger) {
        self.root = root
        self.settings = settings
        self.logger = logger
        jetStream = JetStream(connection, timeout: settings.timeout)
    }

    /// The stream, such as `INK_REVOKED`.
    private var stream: String { Self.stream(root) }

    static func stream(_ root: String) -> String { PartitionStreams.stem(root) + "_REVOKED" }

    /// The subject of messages that fill damaged files; no key has capitals.
    static func filler(_ root: String) -> String { "\(root).revocations.FILLER" }

    private var subjects: String { "\(root).revocations.*" }

    private func subject(of target: Revocation.Target) -> String {
        let text =
            switch target {
            case .token(let id): "jti \(id)"
            case .subject(let subject): "sub \(subject)"
            }
        return "\(root).revocations.\(SHA256.hash(Array(text.utf8)).hexadecimal.prefix(32))"
    }

    /// Creates the stream where there is none. An existing one is not changed; differences are logged.
    ///
    /// - Returns: a name of the list that no other stream of that name has.
    public func provision() async throws(JetStreamError) -> String {
        var wanted = StreamConfiguration(name: stream, subjects: [subjects])
        wanted.description = StreamIdentity(.revocations).description
        wanted.replicas = settings.replicas
        wanted.maxMessagesPerSubject = 1
        wanted.discard = .new
        // Daemons that take revocations at the same time may each go beyond their limit by what the others take.
        wanted.maxMessages = Int64(RevocationTable.limit + 1000)
        wanted.duplicateWindow = settings.duplicateWindow
        let info = try await jetStream.provision(wanted, isIdentified: true, logger: logger)
        return StreamIdentity(.revocations, of: info).text
    }

    /// Stores one; returns when it is stored, and can be read. Makes the stream where it is missing: who has read the one before
    /// finds that it was replaced, and stores again what it had.
    /// - Throws: an error with `isFull` when the stream has no space.
    public func save(_ revocation: Revocation) async throws(JetStreamError) {
        let subject = subject(of: revocation.target)
        do throws(JetStreamError) {
            _ = try await jetStream.publish(revocation.encoded(), to: subject)
        } catch .notCaptured {
            _ = try await provision()
            _ = try await jetStream.publish(revocation.encoded(), to: subject)
        }
        guard try await jetStream.leaveDamagedFile(of: stream, filler: Self.filler(root), logger: logger) else {
            return
        }
        _ = try await jetStream.publish(revocation.encoded(), to: subject)
    }

    /// The wall clock of the server that leads the stream, in nanoseconds since 1970.
    public func serverTime() async throws(JetStreamError) -> Int64 {
        let end = try await jetStream.streamInfo(stream).lastSequence
        return try await jetStream.readToEnd(
            OrderedConsumerSettings(stream: stream, start: end + 1), logger: logger, timeout: .seconds(30),
            decode: { _, _ in Void?.none }, take: { _ in }
        ).get()
    }

    /// Removes those at places of the list.
    public func remove(_ places: [UInt64]) async throws(JetStreamError) {
        for place in places { try await jetStream.deleteMessage(stream, place) }
    }

    /// An event of the list.
    public enum Event: Sendable {
        case revocation(Revocation, place: UInt64)
        /// All that were stored when reading began have come. Once.
        case caughtUp
        /// The stream was replaced, or has lost its end. Reading is over.
        case rewound
    }

    /// Reads the list from its beginning, and what comes later, until cancelled.
    /// - Parameter deliver: called for each event, in order; must not block.
    public func read(_ deliver: @escaping @Sendable (Event) -> Void) throws(NATSError) -> OrderedConsumer {
        var settings = OrderedConsumerSettings(stream: stream, start: 1)
        settings.heartbeat = self.settings.heartbeat
        settings.startTimeout = self.settings.timeout
        // A stream that was made anew may be as long again as the one before.
        settings.comparesLastMessage = true
        return try jetStream.read(
            settings, logger: logger, clock: { WallClock.now() },
            onEvent: { event in
                switch event {
                case .began, .level, .interrupted: break
                case .caughtUp: deliver(.caughtUp)
                case .barrier(let barrier): barrier.pass()
                case .rewound: deliver(.rewound)
                }
            },
            onMessage: { [logger, root] message, metadata in
                guard message.subject != Self.filler(root) else { return }
                do throws(Rejection) {
                    deliver(
                        .revocation(
                            try Revocation(decoding: message.copyPayload()), place: metadata.streamSequence))
                } catch {
                    logger.warning("a revocation cannot be read", metadata: ["error": "\(error.message)"])
                }
            })
    }
}
