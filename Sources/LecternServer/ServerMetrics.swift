import Hosting
import Locking
import Metrics
import StrokeWire
import Whiteboard

/// The server's metrics, under the documented names. Safe from any thread.
struct ServerMetrics: Sendable {
    let rooms = Meter(label: "lectern_rooms")
    private let messages = Counter(label: "lectern_messages_total")
    private let repeats = Counter(label: "lectern_repeats_total")
    private let gaps = Counter(label: "lectern_gaps_total")
    private let gaveUp = Counter(label: "lectern_gave_up_total")
    private let lateStrokes = Counter(label: "lectern_late_total", dimensions: [("reason", "stroke")])
    private let lateReleases = Counter(label: "lectern_late_total", dimensions: [("reason", "release")])
    private let clamped = Counter(label: "lectern_clamped_total")
    private let behindLive = Counter(label: "lectern_t_behind_live_total")
    let assembling = Meter(label: "lectern_assembling")
    private let operations = CounterFamily<OperationKind>("lectern_operations_total", "kind")
    private let samplesTaken = Counter(label: "lectern_clock_samples_total", dimensions: [("outcome", "taken")])
    private let samplesIgnored = Counter(label: "lectern_clock_samples_total", dimensions: [("outcome", "ignored")])
    let samplesRejected = Counter(label: "lectern_clock_samples_total", dimensions: [("outcome", "rejected")])
    private let rejected = CounterFamily<RejectionCode>("lectern_rejected_total", "code")
    private let wetUpdates = CounterFamily<WetOutcome>("lectern_wet_updates_total", "outcome")
    let joins = CounterFamily<JoinOutcome>("lectern_joins_total", "outcome")
    let pictures = CounterFamily<PictureOutcome>("lectern_pictures_total", "outcome")
    let assetPictures = CounterFamily<AssetPictureOutcome>("lectern_asset_pictures_total", "outcome")
    let assetUploads = CounterFamily<AssetUploadOutcome>("lectern_asset_uploads_total", "outcome")
    let commands = CounterFamily<CommandOutcome>("lectern_commands_total", "outcome")
    let assetBytes = Meter(label: "lectern_asset_bytes")
    /// Seconds that it took to open a file and to render a page of it.
    let assetRendering = Recorder(label: "lectern_asset_rendering_seconds", aggregate: true)
    /// By their names; to be kept by those who need them often.
    let cohorts = CohortMetrics()
    private let checkpoints = CounterFamily<CheckpointKeeper.SaveOutcome>("lectern_checkpoints_total", "outcome")
    private let checkpointBytes = Counter(label: "lectern_checkpoint_bytes_total")
    /// Notes of other daemons on rooms that there was no space for.
    let notesLeft = Counter(label: "lectern_room_notes_left_total")
    private let partitions = Meter(label: "lectern_partitions_serving")
    private let opening = Meter(label: "lectern_partitions_opening")
    private let recovery = Recorder(label: "lectern_recovery_seconds", aggregate: true)
    private let recoveredRecords = Counter(label: "lectern_recovery_records_total")
    let lassosSkipped = Counter(label: "lectern_lassos_skipped_total")
    private let members = Meter(label: "lectern_members")
    let incompatiblePeers = Counter(label: "lectern_incompatible_peers_total")
    /// Hibernated rooms that were dropped, by their age or for lack of memory.
    let forgotten = Counter(label: "lectern_forgotten_rooms_total")

    func add(_ counts: RoomCounts) {
        add(counts.intake)
        increment(.draw, counts.draws)
        increment(.undo, counts.undos)
        increment(.redo, counts.redos)
        increment(.clear, counts.clears)
        increment(.turn, counts.turns)
        increment(.arrange, counts.arranges)
        increment(.paper, counts.papers)
        increment(.remove, counts.removals)
        increment(samplesTaken, counts.samplesTaken)
        increment(samplesIgnored, counts.samplesIgnored)
        increment(samplesRejected, counts.samplesRejected)
        increment(clamped, counts.clamped)
        increment(behindLive, counts.behindLive)
        for (outcome, count) in counts.wetUpdates { wetUpdates[outcome].increment(by: count) }
    }

    private func add(_ counts: IntakeCounts) {
        increment(messages, counts.messages)
        increment(repeats, counts.repeats)
        increment(gaps, counts.gaps)
        increment(gaveUp, counts.gaveUp)
        increment(lateStrokes, counts.late)
        for (code, count) in counts.rejected { rejected[code].increment(by: count) }
    }

    private func increment(_ counter: Counter, _ amount: Int) {
        if amount > 0 { counter.increment(by: amount) }
    }

    private func increment(_ kind: OperationKind, _ amount: Int) {
        if amount > 0 { operations[kind].increment(by: amount) }
    }

    /// - Parameter bytes: of the state that was written.
    func count(_ outcome: CheckpointKeeper.SaveOutcome, bytes: Int = 0) {
        checkpoints.count(outcome)
        checkpointBytes.increment(by: bytes)
    }

    /// JetStream has refused something for lack of space.
    func countRefusedPublish(to stream: String) {
        Counter(label: "lectern_publishes_refused_total", dimensions: [("stream", stream)]).increment()
    }

    func setPartitions(serving: Int, opening: Int, members: Int) {
        partitions.set(serving)
        self.opening.set(opening)
        self.members.set(members)
    }

    /// A partition is open.
    func record(recovery time: Duration, records: Int) {
        recovery.record(time / .seconds(1))
        recoveredRecords.increment(by: records)
    }

    /// The fraction of a log's limit in use, 0 ... 1.
    static func logFullness(of partition: Int) -> Meter {
        Meter(label: "lectern_log_fullness", dimensions: [("partition", "\(partition)")])
    }

    /// Counts how often a partition's log had lost its end; 0 shows the counters.
    /// - Parameters:
    ///   - records: lost, at most.
    ///   - rooms: restored from what was saved of them.
    func countRewinds(_ count: Int, of partition: Int, records: Int = 0, rooms: Int = 0) {
        let dimensions = [("partition", "\(partition)")]
        Counter(label: "lectern_log_rewound_total", dimensions: dimensions).increment(by: count)
        Counter(label: "lectern_log_lost_records_total", dimensions: dimensions).increment(by: records)
        Counter(label: "lectern_rooms_restored_total", dimensions: dimensions).increment(by: rooms)
    }

    /// - Parameter lateness: from due to published.
    func countRelease(_ cohort: CohortMetrics.Handles, isLate: Bool, lateness: Duration) {
        cohort.released.increment()
        cohort.lateness.record(max(0, lateness / .seconds(1)))
        if isLate { lateReleases.increment() }
    }

    /// Counts points of a growing stroke that were published to a cohort.
    func countWet(_ cohort: CohortMetrics.Handles, _ wet: WetPublication, at now: Instant) {
        guard wet.newPoints > 0 else { return }
        cohort.wetPoints.increment(by: wet.newPoints)
        cohort.wetLateness.record(max(0, (now - wet.due) / .seconds(1)))
    }
}

/// Counters of one metric, one for each value of a label.
struct CounterFamily<Value: RawRepresentable<String> & CaseIterable & Hashable & Sendable>: Sendable {
    private let counters: [Value: Counter]

    init(_ metric: String, _ label: String) {
        counters = Dictionary(
            uniqueKeysWithValues: Value.allCases.map {
                ($0, Counter(label: metric, dimensions: [(label, $0.rawValue)]))
            })
    }

    func count(_ value: Value) { self[value].increment() }

    subscript(value: Value) -> Counter {
        guard let counter = counters[value] else { preconditionFailure("\(value) is not among all cases") }
        return counter
    }
}

/// A kind of operation, by the name in `lectern_operations_total`.
enum OperationKind: String, CaseIterable {
    case draw, undo, redo, clear, turn, arrange, paper, remove
}

/// How a join request was answered, by the name in `lectern_joins_total`.
enum JoinOutcome: String, CaseIterable {
    case tail, board
    case badRequest = "bad-request"
    case unknownCohort = "unknown-cohort"
    case unknownIndex = "unknown-index"
    case notReady = "not-ready"
}

/// How a request for a picture was answered, by the name in `lectern_pictures_total`.
enum PictureOutcome: String, CaseIterable {
    case png, svg, pdf, inkml
    case notModified = "not-modified"
    case badRequest = "bad-request"
    case unknownRoom = "unknown-room"
    case unknownCohort = "unknown-cohort"
    case unknownIndex = "unknown-index"
    case tooLarge = "too-large"
    case notReady = "not-ready"

    static func drawn(_ format: PictureFormat) -> PictureOutcome {
        switch format {
        case .png: .png
        case .svg: .svg
        case .pdf: .pdf
        case .inkml: .inkml
        }
    }
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
        let wetPoints: Counter
        /// Seconds from due to published, of the first new point of each message.
        let wetLateness: Recorder

        init(_ name: String) {
            let label = [("cohort", name)]
            released = Counter(label: "lectern_released_total", dimensions: label)
            depth = Meter(label: "lectern_gate_depth", dimensions: label)
            lateness = Recorder(
                label: "lectern_release_lateness_seconds", dimensions: label, aggregate: true)
            wetPoints = Counter(label: "lectern_wet_points_total", dimensions: label)
            wetLateness = Recorder(label: "lectern_wet_lateness_seconds", dimensions: label, aggregate: true)
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

/// What the gauges, which all rooms share, were told of one room.
struct RoomGauges {
    private var depths: [(cohort: CohortName, held: Int)] = []
    private var assembling = 0
    private var isCounted = false
    /// The room's position when `depths` was reported.
    private var index: UInt64?
    private var cursorChanges: UInt64?

    mutating func report(_ room: inout Room, _ metrics: ServerMetrics) {
        if !isCounted {
            isCounted = true
            metrics.rooms.increment(by: 1)
        }
        if room.headIndex != index || room.cursorChanges != cursorChanges {
            index = room.headIndex
            cursorChanges = room.cursorChanges
            reportDepths(&room, metrics)
        }
        if room.assemblingCount != assembling {
            metrics.assembling.increment(by: Double(room.assemblingCount - assembling))
            assembling = room.assemblingCount
        }
    }

    /// A room has its cohorts in the order in which they were made, until its incarnation ends.
    private mutating func reportDepths(_ room: inout Room, _ metrics: ServerMetrics) {
        var position = 0
        room.forEachCohort { cohort, held in
            if position < depths.count, depths[position].cohort != cohort { forgetDepths(from: position, metrics) }
            if position == depths.count { depths.append((cohort, 0)) }
            let change = held - depths[position].held
            if change != 0 {
                metrics.cohorts[cohort].depth.increment(by: Double(change))
                depths[position].held = held
            }
            position += 1
        }
        forgetDepths(from: position, metrics)
    }

    private mutating func forgetDepths(from position: Int, _ metrics: ServerMetrics) {
        guard position < depths.count else { return }
        for (cohort, held) in depths[position...] where held != 0 {
            metrics.cohorts[cohort].depth.increment(by: -Double(held))
        }
        depths.removeSubrange(position...)
    }

    /// The room has left memory.
    mutating func forget(_ metrics: ServerMetrics) {
        guard isCounted else { return }
        metrics.rooms.increment(by: -1)
        forgetDepths(from: 0, metrics)
        metrics.assembling.increment(by: -Double(assembling))
        self = RoomGauges()
    }
}
