internal import Foundation
internal import LecternClient
internal import Locking
internal import Logging
internal import Metrics
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// The feeds of a gateway and their readers. A feed lasts from its first reader to its last. Safe from any thread.
final class EventHub: Sendable {
    private struct Key: Hashable {
        let room: RoomAddress
        let source: RoomFeed
    }

    private struct Entry {
        let feed: EventFeed
        var readers = 0
        /// Streams of each student whose token has a name.
        var names: [String: Int] = [:]
    }

    private struct State {
        var feeds: [Key: Entry] = [:]
        var readers = 0
        var readersByAddress: [String: Int] = [:]
    }

    private let connection: NATSConnection
    private let shared: EventResources
    private let state: Locked<State>
    private let revocations: RevocationWatch?

    /// - Parameter revocations: ends readers whose token is revoked; nil where none needs a token.
    init(
        _ connection: NATSConnection, _ limits: EventLimits, revocations: RevocationWatch? = nil,
        registry: PrometheusRegistry, logger: Logger
    ) {
        self.connection = connection
        self.revocations = revocations
        let state = Locked(State())
        self.state = state
        shared = EventResources(limits, registry: registry, logger: logger) {
            state.withLock { $0.feeds.values.map(\.feed) }
        }
    }

    /// Opens a stream on the connection of a request. Returns when it has a start; ``EventReader/run()`` sends it.
    ///
    /// - Parameters:
    ///   - client: the address that the reader counts for.
    ///   - have: the last event that it has; nil for none.
    ///   - claims: of its token, with which it ends; nil where none is needed.
    ///   - isCompressed: whether it is a gzip stream.
    func open(
        _ source: RoomFeed, of room: RoomAddress, have: FeedPosition?, client: String, claims: TokenClaims? = nil,
        isCompressed: Bool, on channel: any Channel
    ) async throws -> EventReader {
        guard connection.state == .connected else { throw GatewayError.notReady("There is no connection to NATS.") }
        let key = Key(room: room, source: source)
        let name = claims?.studentName
        let feed = try enter(key, client, name, on: channel.eventLoop)
        // All in one turn of the loop: each wait for it wakes two threads.
        return try await channel.eventLoop.flatSubmit { [self] in
            let reader: EventReader
            do {
                reader = try EventReader(
                    on: channel, isCompressed: isCompressed, shared.limits, until: claims?.expires
                ) { [weak self, revocations] reader in
                    if let claims { revocations?.remove(reader, claims) }
                    feed.remove(reader)
                    self?.leave(key, client, name)
                }
            } catch {
                leave(key, client, name)
                return channel.eventLoop.makeFailedFuture(error)
            }
            if !reader.isEnded, let claims, let revocations {
                do throws(GatewayError) {
                    // Its token may have been revoked since it was looked at.
                    try revocations.add(reader, claims)
                } catch {
                    reader.refuse(error)
                }
            }
            if !reader.isEnded { feed.add(reader, have: have) }
            return reader.admitted.map { reader }
        }.get()
    }

    /// Whether somebody follows a feed here.
    func hasReaders(of source: RoomFeed, in room: RoomAddress) -> Bool {
        state.withLock { $0.feeds[Key(room: room, source: source)] != nil }
    }

    /// The readers of a room here by cohort, the head not counted: `{"cohorts":{"main":12},"names":{"main":["li","maria"]}}`
    struct Readers: Encodable {
        fileprivate(set) var cohorts: [String: Int] = [:]
        /// Of students whose tokens have a name, in alphabetic order, at most ``mostNames`` of a cohort.
        fileprivate(set) var names: [String: [String]] = [:]
    }

    /// Names of a cohort that are told.
    static let mostNames = 500

    func readers(of room: RoomAddress) -> Readers {
        state.withLock { state in
            var readers = Readers()
            for (key, entry) in state.feeds where key.room == room {
                guard case .cohort(let cohort) = key.source else { continue }
                readers.cohorts[cohort.text] = entry.readers
                let names = entry.names.keys.sorted().prefix(Self.mostNames)
                if !names.isEmpty { readers.names[cohort.text] = Array(names) }
            }
            return readers
        }
    }

    /// Counts a reader, and opens the feed for the first one.
    private func enter(
        _ key: Key, _ client: String, _ name: String?, on loop: any EventLoop
    ) throws -> EventFeed {
        let (feed, isNew) = try state.withLock { state in
            guard state.readers < shared.limits.readers else {
                throw GatewayError.tooManyReaders("The gateway has all the readers that it can serve.")
            }
            guard state.readersByAddress[client, default: 0] < shared.limits.readersPerAddress else {
                throw GatewayError.tooManyReaders("Too many readers come from this address.")
            }
            state.readers += 1
            state.readersByAddress[client, default: 0] += 1
            shared.metrics.readers.record(state.readers)
            var entry =
                state.feeds[key]
                ?? Entry(feed: EventFeed(key.source, of: key.room, connection, shared, loop: loop))
            entry.readers += 1
            if let name { entry.names[name, default: 0] += 1 }
            state.feeds[key] = entry
            return (entry.feed, entry.readers == 1)
        }
        if isNew {
            do throws(NATSError) {
                try feed.open()
            } catch {
                leave(key, client, name)
                throw GatewayError(error)
            }
        }
        return feed
    }

    /// A reader has ended; the feed ends with its last one.
    private func leave(_ key: Key, _ client: String, _ name: String?) {
        let empty = state.withLock { state -> EventFeed? in
            state.readers -= 1
            shared.metrics.readers.record(state.readers)
            let others = state.readersByAddress[client, default: 1] - 1
            state.readersByAddress[client] = others > 0 ? others : nil
            guard var entry = state.feeds[key] else { return nil }
            entry.readers -= 1
            if let name {
                let others = entry.names[name, default: 1] - 1
                entry.names[name] = others > 0 ? others : nil
            }
            state.feeds[key] = entry.readers > 0 ? entry : nil
            return entry.readers > 0 ? nil : entry.feed
        }
        empty?.close()
    }
}

/// What the feeds of a gateway share: bounds, budgets and metrics.
final class EventResources: Sendable {
    let limits: EventLimits
    let joins: RequestPermits
    let recent: ByteBudget
    let metrics: EventMetrics
    let logger: Logger
    private let boards: ReplyMemory
    private let feeds: @Sendable () -> [EventFeed]

    /// - Parameter feeds: those that may keep a board.
    init(
        _ limits: EventLimits, registry: PrometheusRegistry, logger: Logger,
        feeds: @escaping @Sendable () -> [EventFeed]
    ) {
        self.limits = limits
        self.logger = logger
        self.feeds = feeds
        joins = RequestPermits(limits.joins)
        recent = ByteBudget(limits.recentBytes)
        boards = ReplyMemory(limits.boardBytes)
        metrics = EventMetrics(registry)
    }

    /// Memory for a board or a tail of about this size. Kept boards make place for it, the least recently used first.
    func lease(_ size: Int, for room: RoomID) throws(GatewayError) -> RoomShares.Lease {
        if let lease = try? boards.lease(size, for: room) { return lease }
        let keeping = feeds().compactMap { feed in feed.boardUse.map { (use: $0, feed: feed) } }
        for (_, feed) in keeping.sorted(by: { $0.use < $1.use }) {
            feed.dropBoard()
            if let lease = try? boards.lease(size, for: room) { return lease }
        }
        return try boards.lease(size, for: room)
    }
}

struct EventMetrics: Sendable {
    let readers: Gauge
    let operations: Counter
    let joins: Counter
    let failedJoins: Counter
    let malformed: Counter
    let wet: Counter

    init(_ registry: PrometheusRegistry) {
        readers = Gauge(label: GatewayMetrics.readers, factory: registry)
        operations = Counter(label: GatewayMetrics.events, factory: registry)
        joins = Counter(label: GatewayMetrics.joins, dimensions: [("outcome", "joined")], factory: registry)
        failedJoins = Counter(label: GatewayMetrics.joins, dimensions: [("outcome", "failed")], factory: registry)
        malformed = Counter(label: GatewayMetrics.malformed, factory: registry)
        wet = Counter(label: GatewayMetrics.wet, factory: registry)
        readers.record(0)
    }
}
