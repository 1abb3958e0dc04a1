/// What a stream keeps and for how long.
public struct StreamConfiguration: Sendable, Equatable {
    /// What happens when a limit is reached.
    public enum Discard: String, Sendable, Codable {
        /// The oldest messages go.
        case old
        /// New messages are refused, so that nothing which was acknowledged is lost; only age removes.
        case new
    }

    /// Where messages are.
    public enum Storage: String, Sendable, Codable {
        case file
        case memory
    }

    /// What keeps a message, besides the limits.
    public enum Retention: String, Sendable, Codable {
        /// Nothing.
        case limits
        /// Consumers that have not acknowledged it.
        case interest
        /// The one consumer that will take it out.
        case workqueue
    }

    /// Letters, digits, `-` and `_`.
    public var name: String
    /// Subjects that are captured, maybe with wildcards.
    public var subjects: [String]
    /// Servers that have a copy, 1 to 5.
    public var replicas = 1
    /// Messages go at this age; zero: never.
    public var maxAge: Duration = .zero
    /// Bytes of all messages; -1: no limit.
    public var maxBytes: Int64 = -1
    /// Messages in all; -1: no limit.
    public var maxMessages: Int64 = -1
    /// Messages with the same subject, of which the newest stay; -1: no limit.
    public var maxMessagesPerSubject: Int64 = -1
    /// Bytes of one message with its headers; -1: what the server takes.
    public var maxMessageSize: Int32 = -1
    /// How long a `Nats-Msg-Id` is remembered; not above `maxAge`.
    public var duplicateWindow: Duration = .seconds(120)
    /// What happens at `maxBytes` and `maxMessages`.
    public var discard = Discard.old
    public var storage = Storage.file
    public var retention = Retention.limits
    /// Whether any replica may answer when a message is asked for.
    public var allowsDirectGet = true
    /// Whether publishers are answered.
    public var acknowledges = true

    /// A stream with the defaults above.
    public init(name: String, subjects: [String]) {
        self.name = name
        self.subjects = subjects
    }
}
