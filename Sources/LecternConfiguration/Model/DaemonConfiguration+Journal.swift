extension DaemonConfiguration {
    /// Where rooms' logs are, and for how long.
    public struct Journal: Sendable, Equatable {
        /// Where the logs of the rooms are kept.
        public enum Mode: String, Sendable, CaseIterable {
            /// In a JetStream stream for each partition, where they survive restarts and takeovers.
            case jetstream
            /// In memory alone, over core NATS.
            case none
        }

        /// Where the logs of the rooms are kept. The other settings are about ``Mode/jetstream``, and those of streams
        /// hold for streams that the daemon makes: a stream that is there already stays as it is.
        public var mode = Mode.jetstream
        /// NATS servers that have a copy of each stream, 1 … 5.
        public var replicas = 1
        /// What is older is forgotten: a room that nobody has written to for so long begins anew.
        public var maxAge: Duration = .seconds(30 * 86_400)
        /// Bytes of one partition's log; beyond, publishing is refused until what is there has aged. Nil: no limit.
        public var maxBytes: Int?
        /// How long a `Nats-Msg-Id` is remembered, at most ``maxAge``.
        public var duplicateWindow: Duration = .seconds(120)
    }

    /// When the state of a room is written down, so that it can be brought back without its whole log.
    public struct Checkpoint: Sendable, Equatable {
        /// How long after a change at the latest. The cursors of its cohorts are written every second.
        public var interval: Duration = .seconds(30)
        /// After how many operations at the latest.
        public var operations = 256
    }

    /// Which rooms are in memory.
    public struct Rooms: Sendable, Equatable {
        /// How long nothing may happen in a room before it leaves memory.
        public var idle: Duration = .seconds(600)
    }
}
