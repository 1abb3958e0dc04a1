/// How the streams of a journal are made, where they are not there yet.
public struct JournalSettings: Sendable, Equatable {
    /// Servers that have a copy, 1 to 5.
    public var replicas = 1
    /// How long the log and the checkpoints are kept: a room that nobody has written to for so long is forgotten.
    public var maxAge: Duration = .seconds(30 * 86_400)
    /// Bytes of one partition's log; -1: no limit. A log that is full refuses what teachers publish.
    public var maxBytes: Int64 = -1
    /// How long a `Nats-Msg-Id` is remembered; not above `maxAge`.
    public var duplicateWindow: Duration = .seconds(120)
    /// How long one request to JetStream may take.
    public var timeout: Duration = .seconds(5)
    /// How often the server says that it is there while nothing is written; silent for twice that, it is asked anew.
    public var heartbeat: Duration = .seconds(1)

    /// The defaults above.
    public init() {}
}
