extension StreamConfiguration {
    /// The API's form; times in nanoseconds.
    struct Wire: Codable {
        var name: String
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
            name: name, subjects: subjects, retention: retention, storage: storage, discard: discard,
            numReplicas: replicas, maxAge: maxAge.wholeNanoseconds, maxBytes: maxBytes, maxMsgs: maxMessages,
            maxMsgsPerSubject: maxMessagesPerSubject, maxMsgSize: maxMessageSize,
            duplicateWindow: duplicateWindow.wholeNanoseconds, allowDirect: allowsDirectGet, noAck: !acknowledges)
    }

    init(_ wire: Wire) {
        self.init(name: wire.name, subjects: wire.subjects ?? [])
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
