/// A setting in which a stream that is there differs from the one that was wanted.
public struct StreamDifference: Sendable, Equatable, CustomStringConvertible {
    /// As the `nats` program calls it.
    public let setting: String
    public let wanted: String
    public let found: String

    public var description: String { "\(setting) is \(found), wanted \(wanted)" }
}

extension StreamConfiguration {
    /// In what a stream cannot do what this one is for: subjects that it does not capture, messages that go when they
    /// are read, publishers that are not answered.
    func faults(of found: StreamConfiguration) -> [StreamDifference] {
        var list = DifferenceList()
        let uncovered = subjects.filter { subject in !found.subjects.contains { Subject.pattern($0, covers: subject) } }
        if !uncovered.isEmpty { list.add("subjects", "\(uncovered)", "\(found.subjects)") }
        list.compare("retention", retention.rawValue, found.retention.rawValue)
        list.compare("no_ack", !acknowledges, !found.acknowledges)
        return list.differences
    }

    /// What else is otherwise: an operator's business, and worth a line in the log.
    func remarks(on found: StreamConfiguration) -> [StreamDifference] {
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
