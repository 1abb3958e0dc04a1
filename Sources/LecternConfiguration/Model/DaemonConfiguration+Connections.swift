extension DaemonConfiguration {
    /// The connection to NATS.
    public struct NATS: Sendable, Equatable {
        /// The servers.
        public var url = NATSAddress.servers("nats://127.0.0.1:4222")
        /// Path of a file of a JWT and its nkey seed, as `nsc` writes it; nil for none.
        public var credentials: String?
        /// The nats-server program that ``NATSAddress/embedded`` starts: a path, or a name looked for on `PATH`.
        public var server = "nats-server"
        /// Where the JetStream of the server that ``NATSAddress/embedded`` starts keeps its files: a path, from the
        /// directory that the daemon is started in. It is used with ``Journal/Mode/jetstream`` alone.
        public var storeDirectory = "lectern-data"
    }

    /// Pages, images, health and metrics.
    public struct HTTP: Sendable, Equatable {
        /// Where the gateway listens; nil for no gateway.
        public var listen: ListenAddress? = .standard
    }

    /// Where in NATS the rooms are.
    public struct Subjects: Sendable, Equatable {
        /// First token of every subject, `[a-z0-9_-]{1,64}`.
        public var root = "ink"
        /// Which numbers of partitions there may be.
        public static let allowedPartitions = 1...1024
        /// Number of partitions, 1 … 1024; the same for all daemons and clients of one root.
        public var partitions = 1
    }

    /// This daemon among those that share the rooms of one root.
    public struct Node: Sendable, Equatable {
        /// Its name, `[a-z0-9_-]{1,64}`; nil for a new random one each time it starts.
        public var id: String?
    }

    /// Threads and queues.
    public struct Server: Sendable, Equatable {
        /// Threads that run rooms, 0 … 256; 0 for one a core.
        public var workers = 0
        /// Bytes of messages that wait for one worker, at most.
        public var mailboxBytes = 64 << 20
        /// Join and image replies under way at once, at most.
        public var replies = 1024
    }

    /// What is written to the log of the daemon.
    public struct Logging: Sendable, Equatable {
        /// From which severity on lines are written; the raw values are those of swift-log.
        public enum Level: String, Sendable, CaseIterable {
            case trace, debug, info, notice, warning, error
        }

        /// From which severity on lines are written.
        public var level = Level.info
    }
}
