internal import Logging
internal import NATSClient
internal import StrokeWire

/// The service behind the gateway, as far as its subjects reach. Any task may ask; `GatewayLimits` bounds every wait.
struct RoomService: Sendable {
    private let root: String
    private let partitions: Int
    let connection: NATSConnection
    let permits: RequestPermits
    let shared = SharedListing()
    let limits: GatewayLimits
    let logger: Logger

    init(
        _ configuration: GatewayConfiguration, _ limits: GatewayLimits, connection: NATSConnection, logger: Logger
    ) {
        root = configuration.root
        partitions = configuration.partitions
        self.limits = limits
        permits = RequestPermits(limits.requests)
        self.connection = connection
        self.logger = logger
    }

    /// The subject that every daemon answers with its rooms.
    var listingSubject: String { "\(root).rooms" }

    func address(of room: RoomID) -> RoomAddress {
        RoomAddress(root: root, room: room, partitions: partitions)
    }

    /// The state of a room, as the JSON that the service wrote.
    func state(of room: RoomID) async throws(GatewayError) -> [UInt8] {
        let reply = try await ask(address(of: room).subject(.info), within: limits.state)
        if let refusal = RequestError(decoding: reply) { throw GatewayError(refusal) }
        guard reply.first == UInt8(ascii: "{") else { throw .badGateway("The service's answer is no JSON object.") }
        return reply
    }

    /// The board as released to a cohort, as PNG. The service chooses the width when there is none.
    func picture(of room: RoomID, cohort: CohortName, width: Int?) async throws(GatewayError) -> [UInt8] {
        let reply = try await ask(
            address(of: room).subject(.image(cohort)), ImageRequest(width: width).encoded(), within: limits.picture)
        guard reply.starts(with: Self.pngSignature) else {
            if let refusal = RequestError(decoding: reply) { throw GatewayError(refusal) }
            throw .badGateway("The service's answer is no picture.")
        }
        return reply
    }

    /// Whether the service answers at all: it is asked about a room, and any answer will do.
    func probe() async throws(GatewayError) {
        guard connection.state == .connected, let room = RoomID("readyz") else {
            throw .notReady("There is no connection to NATS.")
        }
        _ = try await ask(address(of: room).subject(.info), within: limits.probe)
    }

    private func ask(
        _ subject: String, _ payload: [UInt8] = [], within limit: Duration
    ) async throws(GatewayError) -> [UInt8] {
        try await permits.withPermit { () async throws(NATSError) in
            try await connection.requestParts(payload, to: subject, timeout: limit).payload
        }
    }

    private static let pngSignature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
}
