import StrokeWire

/// All messages of a lesson in the order in which they go out, each with its time.
public struct PublishPlan: Sendable, Equatable {
    /// Trouble made on purpose.
    public struct Trial: Sendable, Equatable {
        /// Share of the messages whose first sending is left out, 0 … 1; never the lesson's first, by which a room
        /// knows where its author's count begins.
        public var lose: Double
        /// How many places a message may move, 0 for none.
        public var shuffle: Int
        /// Which messages it hits; the same seed hits the same ones.
        public var seed: UInt64

        /// No trouble by default.
        public init(lose: Double = 0, shuffle: Int = 0, seed: UInt64 = 1) {
            self.lose = lose
            self.shuffle = shuffle
            self.seed = seed
        }
    }

    /// In the order of sending; times do not decrease.
    public let messages: [OutgoingMessage]

    /// Plans a lesson.
    ///
    /// - Parameters:
    ///   - speed: how many seconds of the lesson go out a second, at least 0.001.
    ///   - trial: losses and disorder.
    public init(_ lesson: Lesson, speed: Double = 1, trial: Trial = Trial()) {
        var random = SeededGenerator(seed: trial.seed)
        let speed = max(speed, 0.001)
        let planned = lesson.messages.enumerated().map { place, message in
            let isUnlucky = random.unit() < trial.lose
            return OutgoingMessage(
                number: message.header.number, order: message.header.shardOrder,
                isStroke: message.header.action == .draw, bytes: message.bytes, due: message.due / speed,
                isWithheld: isUnlucky && place > 0)
        }
        messages = Self.shuffle(planned, places: trial.shuffle, using: &random)
    }

    /// Moves each message by a few places; the times stay where they are.
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
