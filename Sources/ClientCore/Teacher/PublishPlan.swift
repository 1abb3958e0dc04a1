public import StrokeWire

/// The messages of a lesson in sending order, each with its time.
public struct PublishPlan: Sendable, Equatable {
    /// Losses and reordering for tests.
    public struct Faults: Sendable, Equatable {
        /// Share of messages whose first sending is skipped, 0 … 1. The lesson's first message is always sent: a room
        /// learns from it where the author's numbers begin.
        public var lose: Double
        /// How many places a message may move; 0 keeps the order.
        public var shuffle: Int
        /// Seed of the random choice.
        public var seed: UInt64

        /// Makes faults; none by default.
        public init(lose: Double = 0, shuffle: Int = 0, seed: UInt64 = 1) {
            (self.lose, self.shuffle, self.seed) = (lose, shuffle, seed)
        }
    }

    /// In sending order; times never decrease.
    public let messages: [OutgoingMessage]
    /// Seconds of the lesson per second.
    public let speed: Double

    /// Plans a lesson.
    ///
    /// - Parameters:
    ///   - lesson: the messages, and when each is due.
    ///   - speed: seconds of the lesson per second, at least 0.001.
    ///   - faults: losses and reordering.
    public init(_ lesson: Lesson, speed: Double = 1, faults: Faults = Faults()) {
        var random = SeededGenerator(seed: faults.seed)
        let speed = max(speed, 0.001)
        self.speed = speed
        let planned = lesson.messages.enumerated().map { place, message in
            let isLost = random.unit() < faults.lose
            return OutgoingMessage(
                number: message.header.number, order: message.header.shardOrder,
                isStroke: message.header.action == .draw, bytes: message.bytes, due: message.due / speed,
                isWithheld: isLost && place > 0)
        }
        messages = Self.shuffle(planned, places: faults.shuffle, using: &random)
    }

    /// Plans messages to be sent as fast as the service takes them from one author.
    ///
    /// - Parameter messages: each with its decoded form, in sending order.
    public init(immediately messages: some Sequence<(bytes: [UInt8], header: StrokeMessage)>) {
        speed = 1
        self.messages = messages.map { bytes, header in
            OutgoingMessage(
                number: header.number, order: header.shardOrder, isStroke: header.action == .draw, bytes: bytes)
        }
    }

    /// Moves each message by a few places; the times keep their places.
    private static func shuffle(
        _ messages: [OutgoingMessage], places: Int, using random: inout SeededGenerator
    ) -> [OutgoingMessage] {
        guard places > 0 else { return messages }
        let keys = messages.indices.map { Double($0) + random.unit() * Double(places) }
        let order = messages.indices.sorted { keys[$0] < keys[$1] }
        return zip(messages, order).map { slot, source in
            var message = messages[source]
            message.due = slot.due
            return message
        }
    }
}

/// A message on its way to the service.
public struct OutgoingMessage: Sendable, Equatable {
    /// Number of the operation in its author's sequence.
    public let number: Int64
    /// Shard order; 0 for an operation in one message.
    public let order: Int
    /// Whether it belongs to a stroke. The service accepts a late stroke after giving it up, but no late command.
    public let isStroke: Bool
    /// The message as it is published.
    public let bytes: [UInt8]
    /// When to publish it, from the start of publishing.
    public internal(set) var due = Duration.zero
    /// Whether the first sending is skipped; see ``PublishPlan/Faults``.
    public internal(set) var isWithheld = false
}

/// Identifies a message of a session: shards of one stroke share the number.
struct MessageKey: Hashable, Sendable {
    /// Number of the operation.
    let number: Int64
    /// Shard order.
    let order: Int
}

extension OutgoingMessage {
    var key: MessageKey { MessageKey(number: number, order: order) }
}

/// A random generator that gives the same numbers for the same seed on every machine.
///
/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator at the start of its sequence.
    public init(seed: UInt64) { state = seed }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return splitMix64Finalizer(state)
    }

    /// A uniform number in 0 ..< 1.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A uniform number in −amount … amount.
    public mutating func jitter(_ amount: Double) -> Double { (unit() * 2 - 1) * amount }
}
