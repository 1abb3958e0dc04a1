/// Nothing gets through: the oldest message is tried again and again, and the others wait behind it, so that they get
/// into the room's log in their order.
struct Stall: Sendable {
    private static let first = Duration.milliseconds(250)
    private static let longest = Duration.seconds(2)

    /// The message that is tried.
    let key: MessageKey
    /// When it is tried next.
    private(set) var nextProbe: Duration
    private var pause = first

    /// - Parameter delay: before the first try.
    init(_ key: MessageKey, at now: Duration, delay: Duration) {
        self.key = key
        nextProbe = now + delay
    }

    /// The message was tried: the next try takes twice as long, at most 2 s.
    mutating func probed(at now: Duration) {
        nextProbe = now + pause
        pause = min(pause * 2, Self.longest)
    }
}
