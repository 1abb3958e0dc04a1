/// How long the service has had nothing to say, and when to ask it.
struct Silence: Sendable {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(8)
    /// Where a journal has the messages, a service that is away for a while answers by itself.
    private static let shortestInJournal = Duration.seconds(4)

    /// When the service is asked.
    private(set) var nextQuestion = first
    private var pause = first

    /// An answer came, or there is something new for the service to answer.
    mutating func end(at now: Duration, isJournalled: Bool) {
        pause = isJournalled ? Self.shortestInJournal : Self.first
        nextQuestion = now + pause
    }

    /// The service was asked: the next question takes twice as long, at most 8 s.
    mutating func ask(at now: Duration) {
        pause = min(pause * 2, Self.longest)
        nextQuestion = now + pause
    }
}
