import DequeModule

/// Limits a teacher's sending below the service's limit per author: 200 messages and 1 MiB in any second.
///
/// The generic cell rate algorithm (ITU-T I.371), once for messages and once for bytes.
struct SendingRate: Sendable {
    private static let perMessage = Duration.seconds(1) / 180
    private static let messageBurst = perMessage * 19
    private static let perKibibyte = Duration.seconds(1) / 640
    private static let byteBurst = perKibibyte * 128

    private var messageArrival = Duration.zero
    private var byteArrival = Duration.zero

    /// When the next message may be sent.
    var earliest: Duration { max(messageArrival - Self.messageBurst, byteArrival - Self.byteBurst) }

    /// When so many messages of so many bytes may be sent at once.
    func earliest(messages: Int, bytes: Int) -> Duration {
        let own = Self.perMessage * max(messages - 1, 0)
        return max(
            messageArrival + own - Self.messageBurst, byteArrival + Self.perKibibyte * bytes / 1024 - Self.byteBurst)
    }

    /// Counts a message sent now.
    mutating func take(bytes: Int, at now: Duration) {
        messageArrival = max(messageArrival, now) + Self.perMessage
        byteArrival = max(byteArrival, now) + Self.perKibibyte * bytes / 1024
    }
}

/// Schedules probes of a silent service, with exponential back-off.
struct SilenceTimer: Sendable {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(8)
    /// A service reads the journal after an outage and answers without a probe.
    private static let firstInJournal = Duration.seconds(4)

    /// When to probe the service.
    private(set) var deadline = first
    private var pause = first

    /// An answer came, or a message was sent for the first time.
    mutating func restart(at now: Duration, isJournalled: Bool) {
        pause = isJournalled ? Self.firstInJournal : Self.first
        deadline = now + pause
    }

    /// The service was probed: doubles the pause, up to 8 s.
    mutating func backOff(at now: Duration) {
        pause = min(pause * 2, Self.longest)
        deadline = now + pause
    }
}

/// A stall: the oldest open message is resent with exponential back-off until it gets through. The others wait behind
/// it, so that the log keeps their order.
///
/// There is no back-off while a later message is stored: a room gives up such a gap after 2 s.
struct Stall: Sendable {
    private static let first = Duration.milliseconds(250)
    private static let longest = Duration.seconds(2)

    /// The message that is resent.
    let key: MessageKey
    /// When to resend it.
    private(set) var nextProbe: Duration
    private var pause = first

    /// - Parameter delay: time before the first attempt.
    init(_ key: MessageKey, at now: Duration, delay: Duration) {
        self.key = key
        nextProbe = now + delay
    }

    /// The message was resent: doubles the pause, up to 2 s, unless a later message is stored.
    mutating func probed(at now: Duration, hasGap: Bool) {
        if hasGap { pause = Self.first }
        nextProbe = now + pause
        pause = min(pause * 2, Self.longest)
    }
}

/// Messages to resend, each once; bounded by the outbox.
struct ResendQueue: Sendable {
    private var queue: Deque<MessageKey> = []
    /// The queued messages, and whether each is resent even when the journal has stored it.
    private var waiting: [MessageKey: Bool] = [:]

    var isEmpty: Bool { queue.isEmpty }

    /// Adds a message, unless it is queued.
    /// - Parameter isWanted: whether it is resent even when the journal has stored it, because the room requests it.
    mutating func add(_ key: MessageKey, isWanted: Bool) {
        if let known = waiting[key] {
            waiting[key] = known || isWanted
        } else {
            waiting[key] = isWanted
            queue.append(key)
        }
    }

    /// The first message that needs resending; removes those before it that do not.
    mutating func first(in outbox: Outbox) -> MessageKey? {
        while let key = queue.first {
            if let message = outbox[key], !message.isAcknowledged || waiting[key] == true { return key }
            removeFirst()
        }
        return nil
    }

    mutating func removeFirst() {
        if let key = queue.popFirst() { waiting[key] = nil }
    }
}

/// Pauses between tries: doubled each time up to a limit, less a random part, so that clients do not come all at once.
package struct Backoff: Sendable {
    /// The first pause.
    package var first: Duration
    private let longest: Duration
    private var tries = 0

    package init(first: Duration, longest: Duration) { (self.first, self.longest) = (first, longest) }

    /// It worked: the next pause is the first again.
    package mutating func reset() { tries = 0 }

    /// The next pause, which begins after what the server asks for.
    package mutating func next(atLeast least: Duration?, using random: inout SeededGenerator) -> Duration {
        let pause = min(first * (1 << min(tries, 20)), longest)
        tries += 1
        return max(least ?? .zero, .zero) + pause * (0.5 + random.unit() / 2)
    }
}
