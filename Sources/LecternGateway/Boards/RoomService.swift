internal import LecternClient
internal import Locking
internal import Logging
internal import NATSClient
internal import StrokeWire
internal import Synchronization

/// Asks the service over its subjects, with the timeouts of `GatewayLimits`. Safe from any task.
struct RoomService: Sendable {
    private let root: String
    private let partitions: Int
    private let connection: NATSConnection
    private let permits: RequestPermits
    private let cache = RoomListCache()
    private let limits: GatewayLimits
    private let logger: Logger

    init(
        _ configuration: GatewayConfiguration, _ limits: GatewayLimits, connection: NATSConnection, logger: Logger
    ) {
        root = configuration.root
        partitions = configuration.partitions
        self.limits = limits
        permits = RequestPermits(limits.natsRequests)
        self.connection = connection
        self.logger = logger
    }

    func address(of room: RoomID) -> RoomAddress {
        RoomAddress(root: root, room: room, partitions: partitions)
    }

    /// The state of a room: the service's JSON, unchanged.
    func state(of room: RoomID) async throws(GatewayError) -> [UInt8] {
        try await json(.info, of: room, [], within: limits.stateTimeout, "JSON object")
    }

    /// Refuses what an author asks for that the room itself could not refuse: what is written under another name, as imports
    /// and copies are, what is stored, and commands.
    /// - Throws: `muted`; why it is not known whether the author is muted.
    func requireVoice(of author: AuthorID, in room: RoomID) async throws(GatewayError) {
        _ = try await mutedAuthors(in: room, butNot: author)
    }

    /// The muted authors of a room; none in one that nobody has written to.
    /// - Throws: `muted` when an author is among them; why they are not known.
    func mutedAuthors(in room: RoomID, butNot author: AuthorID) async throws(GatewayError) -> [String] {
        let state: [UInt8]
        do throws(GatewayError) {
            state = try await self.state(of: room)
        } catch {
            guard error.code == RequestError.Code.unknownRoom.rawValue else { throw error }
            return []
        }
        guard let summary = try? RoomSummary(decoding: state) else {
            throw .badGateway("The service's answer is no state of a room.")
        }
        let muted = summary.muted ?? []
        guard !muted.contains(author.text) else { throw .muted }
        return muted
    }

    /// A picture of a board, or what else the service answers that is no refusal.
    func picture(
        of room: RoomID, _ feed: RoomFeed, _ request: ImageRequest
    ) async throws(GatewayError) -> NATSReply {
        // A tag alone needs no drawing.
        let isSlow = request.format.isDocument && request.unless != "*"
        let limit = isSlow ? limits.documentTimeout : limits.pictureTimeout
        return try await ask(feed.image, of: room, request.encoded(), within: limit)
    }

    /// A picture of a page of an asset, or what else the service answers that is no refusal.
    func picture(
        of room: RoomID, _ feed: RoomFeed, _ request: AssetPageRequest
    ) async throws(GatewayError) -> NATSReply {
        // A tag alone needs no rendering.
        let limit = request.unless == "*" ? limits.pictureTimeout : limits.assetTimeout
        return try await ask(feed.asset, of: room, request.encoded(), within: limit)
    }

    /// A board as those who join get it: the service's JSON, unchanged.
    func board(of room: RoomID, _ feed: RoomFeed, _ request: JoinRequest) async throws(GatewayError) -> [UInt8] {
        try await json(feed.join, of: room, request.encoded(), within: limits.pictureTimeout, "board")
    }

    /// A part of a recorded lesson: the service's JSON, unchanged.
    func replay(of room: RoomID, _ feed: RoomFeed, _ request: ReplayRequest) async throws(GatewayError) -> [UInt8] {
        try await json(feed.replay, of: room, request.encoded(), within: limits.pictureTimeout, "lesson")
    }

    /// The rooms of all daemons; at most a second old. Waits no longer than the window for a daemon that does not answer;
    /// the list then says what is missing.
    ///
    /// - Throws: `not-ready` when no daemon answers, or all refuse; `bad-gateway` when no list can be read.
    func list() async throws(GatewayError) -> RenderedRoomList {
        try await cache.get { () async throws(GatewayError) in RenderedRoomList(try await gather()) }
    }

    private func gather() async throws(GatewayError) -> MergedRoomList {
        var merged = MergedRoomList()
        var (isAnswered, isRead) = (false, false)
        var refusal: RequestError?
        try await permits.withPermit { () async throws(NATSError) in
            // Every daemon answers with its rooms.
            try await connection.requestMany(to: "\(root).rooms", window: limits.listingWindow) { reply in
                isAnswered = true
                if let error = RequestError(decoding: reply.payload) {
                    refusal = error
                    return false
                }
                do throws(Rejection) {
                    merged.add(try RoomList(decoding: reply.payload))
                    isRead = true
                } catch {
                    logger.warning("a daemon's list of rooms cannot be read", metadata: ["error": "\(error.message)"])
                }
                return merged.isComplete
            }
        }
        guard isAnswered else { throw .notReady("No service answers.") }
        if !isRead, let refusal { throw GatewayError(refusal) }
        guard isRead else { throw .badGateway("No service's list of rooms can be read.") }
        return merged
    }

    /// - Throws: also where the service refuses.
    private func ask(
        _ subject: RoomSubject, of room: RoomID, _ payload: [UInt8], within limit: Duration
    ) async throws(GatewayError) -> NATSReply {
        let reply = try await permits.withPermit(for: room) { () async throws(NATSError) in
            try await connection.requestParts(payload, to: address(of: room).subject(subject), timeout: limit)
        }
        if let refusal = RequestError(decoding: reply.payload) { throw GatewayError(refusal) }
        return reply
    }

    private func json(
        _ subject: RoomSubject, of room: RoomID, _ payload: [UInt8], within limit: Duration, _ what: String
    ) async throws(GatewayError) -> [UInt8] {
        let reply = try await ask(subject, of: room, payload, within: limit).payload
        guard reply.first == UInt8(ascii: "{") else { throw .badGateway("The service's answer is no \(what).") }
        return reply
    }
}

/// Bounds the requests to NATS that are under way. One more is refused as `not-ready` and not queued: a client does
/// better to ask again than to wait in a queue of unknown length.
struct RequestPermits: Sendable {
    private let shares: RoomShares

    init(_ limit: Int) {
        shares = RoomShares(limit)
    }

    /// Runs a request when a permit is left.
    /// - Parameter room: may have half of the permits; nil where it may have all.
    func withPermit<Value: Sendable>(
        for room: RoomID? = nil, _ body: () async throws(NATSError) -> Value
    ) async throws(GatewayError) -> Value {
        guard let permit = shares.lease(1, for: room) else {
            throw .notReady("The gateway is busy with other requests; ask again in a second.")
        }
        defer { withExtendedLifetime(permit) {} }
        do throws(NATSError) {
            return try await body()
        } catch {
            throw GatewayError(error)
        }
    }
}

/// An amount that all rooms share, and of which one room may have half, or what it takes at once. Knows only the rooms that have
/// some of it. Safe from any thread.
final class RoomShares: Sendable {
    /// What was taken; it is returned with the last reference.
    final class Lease: Sendable {
        private let shares: RoomShares
        private let amount: Atomic<Int>
        private let room: RoomID?

        fileprivate init(_ shares: RoomShares, _ amount: Int, _ room: RoomID?) {
            self.shares = shares
            self.amount = Atomic(amount)
            self.room = room
        }

        /// Returns all but an amount; nothing where it has no more than that.
        func shrink(to amount: Int) {
            let before = self.amount.min(amount, ordering: .relaxed).oldValue
            if amount < before { shares.give(before - amount, of: room) }
        }

        deinit { shares.give(amount.load(ordering: .relaxed), of: room) }
    }

    private struct State {
        var taken = 0
        var rooms: [RoomID: Int] = [:]
    }

    private let limit: Int
    private let state = Locked(State())

    init(_ limit: Int) {
        self.limit = limit
    }

    /// Takes an amount for as long as the lease lives; nil when not so much is left, or not for this room.
    func lease(_ amount: Int, for room: RoomID?) -> Lease? {
        let isTaken = state.withLock { state in
            let before = room.flatMap { state.rooms[$0] } ?? 0
            let own = before + amount
            // A board that has more than half must be sent some time.
            guard state.taken + amount <= limit, before == 0 || own <= (limit + 1) / 2 else { return false }
            state.taken += amount
            if let room { state.rooms[room] = own }
            return true
        }
        return isTaken ? Lease(self, amount, room) : nil
    }

    private func give(_ amount: Int, of room: RoomID?) {
        state.withLock { state in
            state.taken -= amount
            guard let room else { return }
            let own = state.rooms[room, default: 0] - amount
            state.rooms[room] = own > 0 ? own : nil
        }
    }
}
