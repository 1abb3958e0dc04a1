import Hosting
import Locking
import Metrics
import NATSClient
import StrokeWire
import Whiteboard

/// The server's metrics, under the documented names. Safe from any thread.
struct ServerMetrics: Sendable {
    private let rooms = Meter(label: "lectern_rooms")
    private let messages = Counter(label: "lectern_messages_total")
    private let repeats = Counter(label: "lectern_repeats_total")
    private let gaps = Counter(label: "lectern_gaps_total")
    private let gaveUp = Counter(label: "lectern_gave_up_total")
    private let lateStrokes = Counter(label: "lectern_late_total", dimensions: [("reason", "stroke")])
    private let lateReleases = Counter(label: "lectern_late_total", dimensions: [("reason", "release")])
    private let clamped = Counter(label: "lectern_clamped_total")
    private let assembling = Meter(label: "lectern_assembling")
    private let draws = Counter(label: "lectern_operations_total", dimensions: [("kind", "draw")])
    private let undos = Counter(label: "lectern_operations_total", dimensions: [("kind", "undo")])
    private let redos = Counter(label: "lectern_operations_total", dimensions: [("kind", "redo")])
    private let clears = Counter(label: "lectern_operations_total", dimensions: [("kind", "clear")])
    private let samplesTaken = Counter(label: "lectern_clock_samples_total", dimensions: [("outcome", "taken")])
    private let samplesIgnored = Counter(label: "lectern_clock_samples_total", dimensions: [("outcome", "ignored")])
    private let samplesRejected = Counter(label: "lectern_clock_samples_total", dimensions: [("outcome", "rejected")])
    private let rejected: [RejectionCode: Counter]
    private let joins: [JoinOutcome: Counter]
    private let cohorts = CohortMetrics()
    private let checkpointsSaved = Counter(label: "lectern_checkpoints_total", dimensions: [("outcome", "saved")])
    private let checkpointsFailed = Counter(label: "lectern_checkpoints_total", dimensions: [("outcome", "failed")])
    private let checkpointBytes = Counter(label: "lectern_checkpoint_bytes_total")
    private let partitions = Meter(label: "lectern_partitions_serving")
    private let members = Meter(label: "lectern_members")
    private let incompatiblePeers = Counter(label: "lectern_incompatible_peers_total")

    private let forgotten = Counter(label: "lectern_forgotten_rooms_total")

    init() {
        rejected = Dictionary(
            uniqueKeysWithValues: RejectionCode.allCases.map { code in
                (code, Counter(label: "lectern_rejected_total", dimensions: [("code", code.rawValue)]))
            })
        joins = Dictionary(
            uniqueKeysWithValues: JoinOutcome.allCases.map { outcome in
                (outcome, Counter(label: "lectern_joins_total", dimensions: [("outcome", outcome.rawValue)]))
            })
    }

    /// Adds the counts of a room.
    func add(_ counts: RoomCounts) {
        add(counts.intake)
        increment(draws, counts.draws)
        increment(undos, counts.undos)
        increment(redos, counts.redos)
        increment(clears, counts.clears)
        increment(samplesTaken, counts.samplesTaken)
        increment(samplesIgnored, counts.samplesIgnored)
        increment(samplesRejected, counts.samplesRejected)
        increment(clamped, counts.clamped)
    }

    private func add(_ counts: IntakeCounts) {
        increment(messages, counts.messages)
        increment(repeats, counts.repeats)
        increment(gaps, counts.gaps)
        increment(gaveUp, counts.gaveUp)
        increment(lateStrokes, counts.late)
        for (code, count) in counts.rejected { rejected[code]?.increment(by: count) }
    }

    private func increment(_ counter: Counter, _ amount: Int) {
        if amount > 0 { counter.increment(by: amount) }
    }

    /// - Parameter change: 1 for a room loaded, -1 for one evicted.
    func countRooms(_ change: Double) {
        rooms.increment(by: change)
    }

    /// - Parameter change: in the number of operations that a cohort holds.
    func addDepth(_ change: Int, of cohort: CohortName) {
        cohorts[cohort].depth.increment(by: Double(change))
    }

    func addAssembling(_ change: Int) {
        assembling.increment(by: Double(change))
    }

    func countCheckpoint(isSaved: Bool, bytes: Int) {
        (isSaved ? checkpointsSaved : checkpointsFailed).increment()
        checkpointBytes.increment(by: bytes)
    }

    func setPartitions(serving: Int, members: Int) {
        partitions.set(serving)
        self.members.set(members)
    }

    /// - Parameter fullness: fraction of the log's limit in use, 0 ... 1.
    func setLogFullness(_ fullness: Double, of partition: Int) {
        Meter(label: "lectern_log_fullness", dimensions: [("partition", "\(partition)")]).set(fullness)
    }

    /// A hibernated room was dropped, by its age or for lack of memory.
    func countForgotten() {
        forgotten.increment()
    }

    /// A daemon with incompatible settings was heard.
    func countIncompatiblePeer() {
        incompatiblePeers.increment()
    }

    func reject(_ code: RejectionCode) {
        rejected[code]?.increment()
    }

    /// - Parameter lateness: from due to published.
    func countRelease(_ cohort: CohortName, isLate: Bool, lateness: Duration) {
        let metrics = cohorts[cohort]
        metrics.released.increment()
        metrics.lateness.record(max(0, lateness / .seconds(1)))
        if isLate { lateReleases.increment() }
    }

    func countJoin(_ outcome: JoinOutcome) {
        joins[outcome]?.increment()
    }
}

/// How a join request was answered, by the name in `lectern_joins_total`.
enum JoinOutcome: String, CaseIterable {
    case tail, board
    case badRequest = "bad-request"
    case unknownCohort = "unknown-cohort"
    case notReady = "not-ready"
}

/// The metrics of each cohort name, over all rooms.
///
/// Bounded, since clients choose the names of open cohorts: names beyond `bound` share the label `other`.
final class CohortMetrics: Sendable {
    struct Handles: Sendable {
        let released: Counter
        let depth: Meter
        /// Seconds from due to published.
        let lateness: Recorder

        init(_ name: String) {
            let label = [("cohort", name)]
            released = Counter(label: "lectern_released_total", dimensions: label)
            depth = Meter(label: "lectern_gate_depth", dimensions: label)
            lateness = Recorder(
                label: "lectern_release_lateness_seconds", dimensions: label, aggregate: true)
        }
    }

    private static let bound = 64

    private let handles = Locked<[CohortName: Handles]>([:])
    private let other = Handles("other")

    subscript(cohort: CohortName) -> Handles {
        handles.withLock { handles in
            if let known = handles[cohort] { return known }
            guard handles.count < Self.bound else { return other }
            let made = Handles(cohort.text)
            handles[cohort] = made
            return made
        }
    }
}

/// Adds the changes of one worker's rooms to gauges shared by all rooms.
struct RoomGauges {
    private struct Reported {
        var depth: [CohortName: Int] = [:]
        var assembling = 0
        /// The room's position when `depth` was reported.
        var position: Position?
    }

    private struct Position: Equatable {
        let index: UInt64
        let cursorChanges: UInt64
    }

    private var rooms: [RoomID: Reported] = [:]

    mutating func report(_ hosted: HostedRoom, _ metrics: ServerMetrics) {
        guard let room = hosted.room else { return }
        if rooms[hosted.id] == nil { metrics.countRooms(1) }
        var reported = rooms.removeValue(forKey: hosted.id) ?? Reported()
        let position = Position(index: room.head.index, cursorChanges: room.cursorChanges)
        if position != reported.position {
            reported.position = position
            report(room, &reported, metrics)
        }
        let assembling = room.assemblingCount
        if assembling != reported.assembling {
            metrics.addAssembling(assembling - reported.assembling)
            reported.assembling = assembling
        }
        rooms[hosted.id] = reported
    }

    private func report(_ room: Room, _ reported: inout Reported, _ metrics: ServerMetrics) {
        var gone = reported.depth
        room.forEachCohort { cohort, held in
            let change = held - (gone.removeValue(forKey: cohort) ?? 0)
            guard change != 0 else { return }
            reported.depth[cohort] = held
            metrics.addDepth(change, of: cohort)
        }
        // The cohorts of an incarnation end with it.
        for (cohort, depth) in gone {
            reported.depth[cohort] = nil
            if depth != 0 { metrics.addDepth(-depth, of: cohort) }
        }
    }

    mutating func forget(_ hosted: HostedRoom, _ metrics: ServerMetrics) {
        guard let reported = rooms.removeValue(forKey: hosted.id) else { return }
        metrics.countRooms(-1)
        for (cohort, depth) in reported.depth where depth != 0 { metrics.addDepth(-depth, of: cohort) }
        if reported.assembling != 0 { metrics.addAssembling(-reported.assembling) }
    }
}

/// Metrics that are read when they are scraped.
struct LoadMetrics: Sendable {
    let workers: [RoomWorker]
    let connection: NATSConnection
    let misaddressedCount: @Sendable () -> Int
    private let waiting = Meter(label: "lectern_mailbox_bytes")
    private let dropped = Counter(label: "lectern_mailbox_dropped_total")
    private let misaddressed = Counter(label: "lectern_misaddressed_total")
    private let slowConsumer = Counter(label: "lectern_nats_dropped_total")
    /// Drops already added to the counters.
    private let reported = Locked<(mailbox: Int, nats: Int, misaddressed: Int)>((0, 0, 0))
    private let connected = Meter(label: "lectern_nats_connected")

    init(workers: [RoomWorker], connection: NATSConnection, misaddressedCount: @escaping @Sendable () -> Int) {
        self.workers = workers
        self.connection = connection
        self.misaddressedCount = misaddressedCount
    }

    func report() {
        let loads = workers.map(\.load)
        waiting.set(loads.reduce(0) { $0 + $1.bytes })
        let now = (
            mailbox: loads.reduce(0) { $0 + $1.dropped }, nats: connection.droppedMessages,
            misaddressed: misaddressedCount()
        )
        let before = reported.withLock { reported in
            defer { reported = now }
            return reported
        }
        dropped.increment(by: now.mailbox - before.mailbox)
        slowConsumer.increment(by: now.nats - before.nats)
        misaddressed.increment(by: now.misaddressed - before.misaddressed)
        connected.set(connection.state == .connected ? 1 : 0)
    }
}
