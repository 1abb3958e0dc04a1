/// Where a connection stands.
public enum ConnectionState: UInt8, Sendable {
    /// No connection yet, and none has been lost.
    case connecting
    /// Messages can be published, and every subscription is known to the server.
    case connected
    /// The connection was lost; a new one is being made.
    case disconnected
    /// Closed by its owner, for good.
    case closed
}
