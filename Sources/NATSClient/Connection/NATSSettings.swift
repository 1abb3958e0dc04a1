/// How a connection to NATS is made and kept.
///
/// The defaults suit a server on the same host or network: a dead server is noticed within about four seconds and
/// looked for again every 50 to 250 milliseconds, for ever.
public struct NATSSettings: Sendable {
    /// One server URL, or several with commas between them; `nats://user:password@host:port` carries credentials.
    public var url: String
    /// The name the server shows for this connection.
    public var name: String
    /// A file of a JWT and its nkey seed, as `nsc` writes it.
    public var credentialsFile: String?
    /// A token, for servers that ask for one.
    public var token: String?
    /// How long one attempt to connect may take.
    public var connectTimeout: Duration = .seconds(2)
    /// Time between PINGs; the link counts as dead after `unansweredPings` of them.
    public var pingInterval: Duration = .seconds(2)
    /// How many PINGs may lack an answer.
    public var unansweredPings = 2
    /// The time waited before the next attempt to connect is drawn from this range, so that many clients of one
    /// server do not come back in step.
    public var reconnectWait: ClosedRange<Duration> = .milliseconds(50) ... .milliseconds(250)
    /// How long a publisher that finds the write buffer full may wait for the socket.
    public var writeDeadline: Duration = .seconds(2)
    /// Messages that a subscription holds for its handler, 1 to 1,048,576; those that come beyond are dropped and
    /// counted.
    public var maxPendingMessages = 65_536
    /// Bytes of bodies and headers that a subscription holds for its handler; the messages that come beyond are
    /// dropped and counted.
    public var maxPendingBytes = 64 << 20
    /// Write each message to the socket at once (about 0.1 ms one way and a system call each) instead of letting
    /// libnats coalesce writes for up to 1 ms.
    public var sendAsap = false

    /// Settings with the defaults above.
    public init(url: String = "nats://127.0.0.1:4222", name: String = "lectern") {
        self.url = url
        self.name = name
    }
}
