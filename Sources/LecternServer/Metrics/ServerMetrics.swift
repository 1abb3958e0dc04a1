import Metrics
import StrokeWire
import Whiteboard

/// What the server counts, under the names of the protocol's documentation. Safe from any thread.
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
    private let cohorts = CohortMetrics()
    private let checkpointsSaved = Counter(label: "lectern_checkpoints_total", dimensions: [("outcome", "saved")])
    private let checkpointsFailed = Counter(label: "lectern_checkpoints_total", dimensions: [("outcome", "failed")])
    private let checkpointBytes = Counter(label: "lectern_checkpoint_bytes_total")
    private let partitions = Meter(label: "lectern_partitions_serving")
    private let members = Meter(label: "lectern_members")
    private let strangers = Counter(label: "lectern_strangers_total")

    init() {
        rejected = Dictionary(
            uniqueKeysWithValues: RejectionCode.allCases.map { code in
                (code, Counter(label: "lectern_rejected_total", dimensions: [("code", code.rawValue)]))
            })
    }

    /// Adds what a room has counted.
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

    /// A room came into memory, or left it.
    func countRooms(_ change: Double) {
        rooms.increment(by: change)
    }

    /// The operations that a cohort holds, and the strokes under assembly, have changed.
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

    /// A daemon was heard whose settings do not go with this one's.
    func countStranger() {
        strangers.increment()
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

    func countJoin(_ outcome: String) {
        Counter(label: "lectern_joins_total", dimensions: [("outcome", outcome)]).increment()
    }
}
