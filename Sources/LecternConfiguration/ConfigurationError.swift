internal import StrokeWire
internal import Whiteboard

/// All faults of a configuration; the daemon does not start with any.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// 1 or more.
    public let faults: [ConfigurationFault]

    /// The exit code for a faulty configuration, also from arguments that set a key: 78, `EX_CONFIG` of sysexits.h. (64,
    /// `EX_USAGE`, is for arguments that cannot be parsed.)
    public static let exitCode: Int32 = 78

    /// One fault on each line.
    public var description: String {
        faults.map(\.description).joined(separator: "\n")
    }
}

/// One fault of a configuration.
public struct ConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The place: `lectern.yaml:12: limits.shards`, `LECTERN_LIMITS_SHARDS`, `argument limits.shards`, or conflicting
    /// keys.
    public let origin: String
    /// The fault, and what is allowed.
    public let message: String

    /// `<origin>: <message>`, in one line.
    public var description: String { "\(origin): \(message)" }
}

extension DaemonConfiguration {
    /// The faults in combinations of values.
    func validate() -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        func require(_ holds: Bool, _ keys: String, _ message: String) {
            if !holds { faults.append(ConfigurationFault(origin: keys, message: message)) }
        }
        let intake = limits.intake
        let messageBytes = intake.wire.messageBytes
        require(
            (board.width == 0) == (board.height == 0), "board.width, board.height", "give both, or leave both 0")
        require(
            (nats.certificate == nil) == (nats.key == nil), "nats.certificate, nats.key", "give both, or neither")
        require(nats.password == nil || nats.user != nil, "nats.password", "given without nats.user")
        require(
            nats.gatewayPassword == nil || nats.gatewayUser != nil, "nats.gateway_password",
            "given without nats.gateway_user"
        )
        require(
            nats.gatewayUser == nil || nats.url == .embedded || nats.url.carriesNoUser, "nats.gateway_user",
            "conflicts with a user in nats.url, which both sides would connect as; set that one as nats.user")
        require(
            authentication.mode == .token || authentication.isInsecure || http.listen.map(\.isLoopback) ?? true,
            "http.listen",
            """
            can be reached from other machines, and everybody who reaches it may do everything: set auth.mode to token, \
            or say auth.insecure: true
            """)
        require(
            node.roles.contains(.core) || http.listen != nil, "http.listen", "off in a daemon that is a gateway only")
        require(
            authentication.mode == .none
                || (authentication.secretFile == nil) != (authentication.publicKeyFile == nil),
            "auth.secret_file, auth.public_key_file", "auth.mode token needs one of them")
        require(
            intake.pendingBytes >= messageBytes, "limits.pending_bytes",
            "less than limits.message_bytes: a shard of that size could never be kept")
        require(
            intake.bytesPerSecond >= (messageBytes + 1) / 2, "limits.bytes_per_second",
            "less than half of limits.message_bytes: a message of that size could never come in")
        require(
            server.mailboxBytes >= messageBytes, "server.mailbox_bytes",
            "less than limits.message_bytes: a message of that size could never come in")
        require(
            intake.boardPoints >= intake.wire.points, "limits.board_points",
            "less than limits.points: a stroke of that size could never be drawn")
        let names = Set(cohorts.named.keys.map(\.text)).union(["main"])
        require(
            names.count <= cohorts.maximum, "cohorts.maximum",
            "less than the \(names.count) cohorts that are named (main included)")
        return faults
    }
}
