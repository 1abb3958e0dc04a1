/// What bounds the gateway, and what happens at each bound.
struct GatewayLimits: Sendable {
    /// Connections at a time; further ones wait in the kernel's backlog of 256.
    var connections = 512
    /// Bytes of a request's headers together; a longer head is answered 400 and its connection closed.
    var headerBytes = 16 << 10
    /// How long a connection may be still before it is closed.
    var stall = Duration.seconds(30)
    /// Requests to NATS at a time; further ones are answered 503.
    var requests = 256
    /// How long the state of a room may take, then 504.
    var state = Duration.seconds(2)
    /// How long a picture may take, then 504.
    var picture = Duration.seconds(5)
    /// How long any answer at all may take, then the service does not count as ready.
    var probe = Duration.seconds(1)
    /// How long daemons have to list their rooms: nobody knows how many there are, so all of it is waited. Whoever asks
    /// meanwhile, or within a second after, gets the same list.
    var listing = Duration.milliseconds(500)
}
