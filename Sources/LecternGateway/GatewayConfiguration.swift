/// Where the gateway listens, and where it finds the rooms.
public struct GatewayConfiguration: Sendable, Equatable {
    /// The name or address to listen on.
    public var host: String
    /// The TCP port, 0 … 65535; 0 takes any free one.
    public var port: Int
    /// What all subjects of the service begin with.
    public var root: String
    /// How many partitions the rooms are spread over, at least 1; the same as in the service.
    public var partitions: Int

    /// Settings; by default port 8080 of this machine alone, the root `ink` and one partition.
    public init(host: String = "127.0.0.1", port: Int = 8080, root: String = "ink", partitions: Int = 1) {
        self.host = host
        self.port = port
        self.root = root
        self.partitions = partitions
    }
}
