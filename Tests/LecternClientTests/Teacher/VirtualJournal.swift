@testable import LecternClient

/// A model of a stream in virtual time: stores what has a new id, acknowledges, and is away at times.
struct VirtualJournal {
    private(set) var stored: [(message: OutgoingMessage, messageID: String, time: Duration)] = []
    private var ids: Set<String> = []
    /// When it has no leader, and for how long: nothing is stored or answered.
    var leaderless: [(start: Duration, length: Duration)] = []
    /// When it is full, and for how long.
    var full: [(start: Duration, length: Duration)] = []
    /// When there is no stream at all, and for how long.
    var absent: [(start: Duration, length: Duration)] = []

    /// - Returns: the answer, and whether the message was stored; nil for silence.
    mutating func receive(
        _ message: OutgoingMessage, messageID: String, at now: Duration
    ) -> (answer: PublishAnswer, isNew: Bool)? {
        if Self.contains(absent, now) { return (.nobody, false) }
        if Self.contains(leaderless, now) { return nil }
        if ids.contains(messageID) { return (.stored, false) }
        if Self.contains(full, now) { return (.refused("maximum bytes exceeded"), false) }
        ids.insert(messageID)
        stored.append((message, messageID, now))
        return (.stored, true)
    }

    private static func contains(_ spans: [(start: Duration, length: Duration)], _ now: Duration) -> Bool {
        spans.contains { $0.start <= now && now < $0.start + $0.length }
    }
}
