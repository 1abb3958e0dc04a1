import Dispatch
import Hosting
import Locking
import StrokeWire
import Whiteboard

/// Answers `<root>.rooms` on a queue of its own, apart from the threads that release operations and answer joins.
///
/// All requests that arrive while a list is made, and within a second after, get the same list: at most one scan of the
/// rooms is under way, and at most one starts in a second. Bounded: beyond `limit` pending requests the answer is
/// `not-ready`. Safe from any thread.
final class RoomListing: Sendable {
    /// Starts a scan; `found` is called once with the result, on any thread.
    typealias StartScan = @Sendable (_ found: @escaping @Sendable (ScannedRooms) -> Void) -> Void

    private let service: String
    private let partitions: Int
    private let startScan: StartScan
    private let sink: ReplySink
    private let permits: Permits
    private let queue = DispatchQueue(label: "lectern.listing")
    private let state = Locked<(pending: PendingListings, isClosing: Bool)>((PendingListings(), false))

    /// - Parameters:
    ///   - service: this daemon's name.
    ///   - partitions: number of partitions of the root.
    init(service: String, partitions: Int, limit: Int = 64, sink: ReplySink, startScan: @escaping StartScan) {
        self.service = service
        self.partitions = partitions
        permits = Permits(limit)
        self.sink = sink
        self.startScan = startScan
    }

    /// Answers a request; returns at once.
    func ask(_ reply: String) {
        guard permits.acquire() else {
            return sink.refuse(
                reply, RequestError(.notReady, "Too many requests for the list of rooms; ask again in a second."))
        }
        let now = MonotonicClock.now()
        let answer = state.withLock { state in state.isClosing ? nil : state.pending.request(reply, at: now) }
        switch answer {
        case .pages(let pages): queue.async { self.give(pages, to: reply) }
        case .make: startScan { found in self.queue.async { self.publish(found) } }
        case .wait: break
        case nil: refuse(reply)
        }
    }

    /// Sends a list already found, and refuses the requests that still wait.
    func close() {
        state.withLock { $0.isClosing = true }
        queue.sync {}
        for reply in state.withLock({ $0.pending.takeWaiting() }) { refuse(reply) }
    }

    private func publish(_ found: ScannedRooms) {
        // A page has room for the longest line, which has less than 96 KiB with 256 cohorts and 256 muted authors. Where
        // the server takes less, the sink cuts it.
        let pages = RoomList.pages(
            of: found.rooms, service: service, partitions: partitions, covered: found.covered.sorted(),
            bytes: ReplySender.partBytes)
        let waiting = state.withLock { $0.pending.complete(pages, at: MonotonicClock.now()) }
        for reply in waiting { give(pages, to: reply) }
        queue.asyncAfter(deadline: .now() + .seconds(1)) {
            self.state.withLock { $0.pending.dropExpired(at: MonotonicClock.now()) }
        }
    }

    private func give(_ pages: [[UInt8]], to reply: String) {
        for page in pages { sink.send(page, reply) }
        permits.release()
    }

    private func refuse(_ reply: String) {
        sink.refuse(reply, .shuttingDown)
        permits.release()
    }
}

/// The requests that wait for the list of rooms, and the last list. A value; time is a parameter.
struct PendingListings {
    /// Time during which a list answers further requests.
    static let freshness = Duration.seconds(1)

    enum Answer: Equatable {
        /// The list, page by page.
        case pages([[UInt8]])
        /// Start a scan; the request waits for it.
        case make
        /// A scan is under way; the request waits for it.
        case wait
    }

    private var pages: [[UInt8]] = []
    private var madeAt = Instant.distantPast
    private var waiting: [String] = []
    private var isMaking = false

    mutating func request(_ reply: String, at now: Instant) -> Answer {
        if now - madeAt < Self.freshness { return .pages(pages) }
        waiting.append(reply)
        guard !isMaking else { return .wait }
        isMaking = true
        return .make
    }

    /// Stores a new list.
    /// - Returns: the requests that waited for it.
    mutating func complete(_ pages: [[UInt8]], at now: Instant) -> [String] {
        self.pages = pages
        madeAt = now
        isMaking = false
        return takeWaiting()
    }

    /// Removes and returns the requests that wait.
    mutating func takeWaiting() -> [String] {
        defer { waiting = [] }
        return waiting
    }

    /// Frees a list that has expired.
    mutating func dropExpired(at now: Instant) {
        if now - madeAt >= Self.freshness { pages = [] }
    }
}

/// What a scan has found.
struct ScannedRooms: Sendable {
    var rooms: [RoomSummary] = []
    /// Partitions that the daemon served during the whole scan, so that all of their rooms are here.
    var covered: Set<Int> = []
}

/// One scan of the rooms of all workers. Each worker lists a few of its rooms at a time and handles other items in
/// between. Safe from any thread.
final class RoomScan: Sendable {
    /// Rooms that a worker lists in one turn, in less than a millisecond.
    static let stride = 64
    /// Bytes of the rooms of a list, as it is sent: half of what those who ask take. Rooms in memory come first; others beyond it
    /// are left out, and the list covers no partition then, so that it is not taken for whole.
    static let maxBytes = 32 << 20

    private struct State {
        var found = ScannedRooms()
        var bytes = 0
        var isFull = false
        var workers: Int
        var isFirst = true
    }

    private let state: Locked<State>
    private let whenDone: @Sendable (ScannedRooms) -> Void

    /// - Parameters:
    ///   - workers: number of workers.
    ///   - whenDone: called once, by the last worker.
    init(workers: Int, whenDone: @escaping @Sendable (ScannedRooms) -> Void) {
        state = Locked(State(workers: workers))
        self.whenDone = whenDone
    }

    /// Adds the rooms that a worker found in one turn.
    /// - Parameter serving: the partitions that the daemon serves, as the worker knows it.
    func add(_ rooms: [RoomSummary], serving: Set<Int>, isLast: Bool) {
        let bytes = rooms.reduce(0) { $0 + $1.encoded().count }
        let found = state.withLock { state -> ScannedRooms? in
            state.bytes += bytes
            state.isFull = state.isFull || state.bytes > Self.maxBytes
            if !state.isFull { state.found.rooms += rooms }
            if state.isFirst || state.found.covered != serving {
                state.found.covered = state.isFirst ? serving : state.found.covered.intersection(serving)
                state.isFirst = false
            }
            guard isLast else { return nil }
            state.workers -= 1
            if state.isFull { state.found.covered = [] }
            return state.workers == 0 ? state.found : nil
        }
        if let found { whenDone(found) }
    }
}

extension RoomSummary {
    /// A room in memory.
    /// - Parameter writers: the authors that were heard last; nil to leave them out.
    init(_ status: RoomStatus, address: RoomAddress, writers: [AuthorID]? = nil) {
        self.init(
            room: address.room.text, address: address.description, incarnation: status.incarnation,
            index: status.index, digest: status.digest.description,
            board: Size(width: status.size.width, height: status.size.height), visible: status.visible,
            authors: status.authors, writers: writers?.map(\.text),
            muted: status.muted.isEmpty ? nil : status.muted.map(\.text),
            assembling: status.assembling, isHibernated: false,
            live: status.live.map { Double($0.microseconds) / 1000 },
            behindLive: status.behindLive.isEmpty ? nil : status.behindLive.map(\.text),
            cohorts: status.cohorts.map {
                Cohort(
                    cohort: $0.name.text, index: $0.released, held: $0.held,
                    video: $0.video.map { Double($0.microseconds) / 1000 }, isLive: $0.isLive,
                    gate: $0.gate, age: $0.age.map { Double($0) / 1000 })
            })
    }

    /// A hibernated room.
    /// - Parameter settings: of the cohorts.
    init(_ stored: StoredRoom, address: RoomAddress, _ settings: CohortsConfiguration) {
        self.init(
            room: address.room.text, address: address.description, incarnation: stored.incarnation,
            index: stored.cursors.values.lazy.map(\.released).max() ?? 0, authors: 0, assembling: 0, isHibernated: true,
            cohorts: stored.cursors.sorted { $0.key < $1.key }.map {
                Cohort(
                    cohort: $0.key.text, index: $0.value.released, held: 0, video: nil,
                    gate: $0.value.gate(settings.settings(of: $0.key)))
            })
    }
}
