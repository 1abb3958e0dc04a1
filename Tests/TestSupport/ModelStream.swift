/// What JetStream keeps of a stream, as far as the simulation relies on it. `StreamModelTests` compares it with a
/// nats-server.
package struct ModelStream<Body> {
    package struct Message {
        package let subject: String
        package let sequence: UInt64
        package let body: Body
    }

    package enum Outcome: Equatable {
        case stored(UInt64)
        /// The stream had a message with this id, at this sequence.
        case repeated(UInt64)
        /// The newest message of the subject is not the expected one.
        case outOfDate
    }

    /// The newest messages that are kept of a subject; nil for all.
    private let kept: Int?
    private let duplicateWindow: Duration
    private var messages: [UInt64: Message] = [:]
    /// The sequences of each subject's messages, rising.
    private var sequences: [String: [UInt64]] = [:]
    /// When each id was stored first, and where.
    private var ids: [String: (at: Duration, sequence: UInt64)] = [:]
    /// The sequence of the newest message, even if it is removed; 0 before the first.
    package private(set) var last: UInt64 = 0

    package init(kept: Int? = nil, duplicateWindow: Duration = .seconds(120)) {
        (self.kept, self.duplicateWindow) = (kept, duplicateWindow)
    }

    /// - Parameters:
    ///   - id: `Nats-Msg-Id`.
    ///   - expected: `Nats-Expected-Last-Subject-Sequence`.
    ///   - now: the time since any moment.
    package mutating func append(
        _ body: Body, to subject: String, id: String? = nil, after expected: UInt64? = nil, at now: Duration = .zero
    ) -> Outcome {
        if let id, let known = ids[id], now - known.at <= duplicateWindow { return .repeated(known.sequence) }
        if let expected, expected != sequences[subject]?.last ?? 0 { return .outOfDate }
        last += 1
        if let id { ids[id] = (now, last) }
        messages[last] = Message(subject: subject, sequence: last, body: body)
        sequences[subject, default: []].append(last)
        if let kept, let all = sequences[subject], all.count > kept { delete(all[0]) }
        return .stored(last)
    }

    package mutating func delete(_ sequence: UInt64) {
        guard let message = messages.removeValue(forKey: sequence) else { return }
        sequences[message.subject]?.removeAll { $0 == sequence }
        if sequences[message.subject]?.isEmpty ?? false { sequences[message.subject] = nil }
    }

    /// Deletes the messages before one, or those of a subject alone.
    package mutating func purge(before sequence: UInt64, of subject: String? = nil) {
        let all = subject.map { sequences[$0] ?? [] } ?? Array(messages.keys)
        for old in all where old < sequence { delete(old) }
    }

    /// The message with that sequence; nil where there is none any more.
    package func message(_ sequence: UInt64) -> Message? { messages[sequence] }

    /// The newest message of a subject.
    package func newest(of subject: String) -> Message? { sequences[subject]?.last.flatMap { messages[$0] } }

    /// The messages of a subject from a sequence on, oldest first.
    package func messages(of subject: String, from first: UInt64 = 0) -> [Message] {
        (sequences[subject] ?? []).filter { $0 >= first }.compactMap { messages[$0] }
    }

    /// The subjects of messages that are there.
    package var subjects: [String] { sequences.keys.sorted() }
}
