/// The configuration of a stream.
public struct StreamConfiguration: Sendable, Equatable {
    /// What happens when a limit is reached.
    public enum Discard: String, Sendable, Codable {
        /// The oldest messages are removed.
        case old
        /// New messages are refused, so nothing acknowledged is lost; only age removes messages.
        case new
    }

    /// Where messages are stored.
    public enum Storage: String, Sendable, Codable {
        case file
        case memory
    }

    /// When a message is removed.
    public enum Retention: String, Sendable, Codable {
        /// At the stream's limits.
        case limits
        /// When all consumers have acknowledged it.
        case interest
        /// When one consumer has acknowledged it.
        case workqueue
    }

    /// The name: letters, digits, `-` and `_`.
    public var name: String
    /// Free text, 4 KiB at most.
    public var description = ""
    /// The captured subjects, which may have wildcards.
    public var subjects: [String]
    /// The number of servers with a copy, 1 to 5.
    public var replicas = 1
    /// The age at which messages are removed; zero: never.
    public var maxAge: Duration = .zero
    /// Bytes of all messages; -1: no limit.
    public var maxBytes: Int64 = -1
    /// Messages in all; -1: no limit.
    public var maxMessages: Int64 = -1
    /// Messages with the same subject, of which the newest are kept; -1: no limit.
    public var maxMessagesPerSubject: Int64 = -1
    /// Bytes of one message with its headers; -1: the server's limit.
    public var maxMessageSize: Int32 = -1
    /// How long a `Nats-Msg-Id` is remembered; not above `maxAge`.
    public var duplicateWindow: Duration = .seconds(120)
    /// What happens at `maxBytes` and `maxMessages`.
    public var discard = Discard.old
    /// Where messages are stored.
    public var storage = Storage.file
    /// When a message is removed.
    public var retention = Retention.limits
    /// Whether any replica may answer a request for a message.
    public var allowsDirectGet = true
    /// Whether publishers get acknowledgements.
    public var acknowledges = true

    /// A stream with the defaults above.
    public init(name: String, subjects: [String]) {
        self.name = name
        self.subjects = subjects
    }
}

extension StreamConfiguration {
    /// The JSON of JetStream's API; times in nanoseconds.
    struct Wire: Codable {
        var name: String
        var description: String?
        var subjects: [String]?
        var retention: Retention
        var storage: Storage
        var discard: Discard
        var numReplicas: Int
        var maxAge: Int64
        var maxBytes: Int64
        var maxMsgs: Int64
        var maxMsgsPerSubject: Int64
        var maxMsgSize: Int32?
        var duplicateWindow: Int64?
        var allowDirect: Bool?
        var noAck: Bool?
    }

    var wire: Wire {
        Wire(
            name: name, description: description.isEmpty ? nil : description, subjects: subjects, retention: retention,
            storage: storage, discard: discard,
            numReplicas: replicas, maxAge: maxAge.wholeNanoseconds, maxBytes: maxBytes, maxMsgs: maxMessages,
            maxMsgsPerSubject: maxMessagesPerSubject, maxMsgSize: maxMessageSize,
            duplicateWindow: duplicateWindow.wholeNanoseconds, allowDirect: allowsDirectGet, noAck: !acknowledges)
    }

    init(_ wire: Wire) {
        self.init(name: wire.name, subjects: wire.subjects ?? [])
        description = wire.description ?? ""
        retention = wire.retention
        storage = wire.storage
        discard = wire.discard
        replicas = wire.numReplicas
        maxAge = .nanoseconds(wire.maxAge)
        maxBytes = wire.maxBytes
        maxMessages = wire.maxMsgs
        maxMessagesPerSubject = wire.maxMsgsPerSubject
        maxMessageSize = wire.maxMsgSize ?? -1
        duplicateWindow = .nanoseconds(wire.duplicateWindow ?? 0)
        allowsDirectGet = wire.allowDirect ?? false
        acknowledges = !(wire.noAck ?? false)
    }
}

/// A setting in which an existing stream differs from the wanted configuration.
public struct StreamDifference: Sendable, Equatable, CustomStringConvertible {
    /// The setting's name in JetStream's API.
    public let setting: String
    /// The wanted value.
    public let wanted: String
    /// The value of the existing stream.
    public let found: String

    public var description: String { "\(setting) is \(found), wanted \(wanted)" }
}

extension StreamConfiguration {
    /// The differences that make an existing stream unusable: subjects that it does not capture, messages that are
    /// removed when they are read, publishers without acknowledgements.
    func blockingDifferences(to found: StreamConfiguration) -> [StreamDifference] {
        var list = DifferenceList()
        let uncovered = subjects.filter { subject in !found.subjects.contains { Subject.pattern($0, covers: subject) } }
        if !uncovered.isEmpty { list.add("subjects", "\(uncovered)", "\(found.subjects)") }
        list.compare("retention", retention.rawValue, found.retention.rawValue)
        list.compare("no_ack", !acknowledges, !found.acknowledges)
        return list.differences
    }

    /// The other differences, which are the operator's choice and worth a line in the log.
    func otherDifferences(to found: StreamConfiguration) -> [StreamDifference] {
        var list = DifferenceList()
        if found.replicas < replicas { list.add("num_replicas", "\(replicas)", "\(found.replicas)") }
        list.compare("storage", storage.rawValue, found.storage.rawValue)
        list.compare("discard", discard.rawValue, found.discard.rawValue)
        list.compare("max_age", maxAge, found.maxAge)
        list.compare("max_bytes", maxBytes, found.maxBytes)
        list.compare("max_msgs", maxMessages, found.maxMessages)
        list.compare("max_msgs_per_subject", maxMessagesPerSubject, found.maxMessagesPerSubject)
        list.compare("max_msg_size", maxMessageSize, found.maxMessageSize)
        list.compare("duplicate_window", duplicateWindow, found.duplicateWindow)
        return list.differences
    }
}

private struct DifferenceList {
    var differences: [StreamDifference] = []

    mutating func compare<Value: Equatable>(_ setting: String, _ wanted: Value, _ found: Value) {
        if wanted != found { add(setting, "\(wanted)", "\(found)") }
    }

    mutating func add(_ setting: String, _ wanted: String, _ found: String) {
        differences.append(StreamDifference(setting: setting, wanted: wanted, found: found))
    }
}
