import Locking
import Metrics
import StrokeWire
import Whiteboard

/// What the rooms in memory wait for and take, all together: every worker looks at a few of its rooms at a time, and handles
/// other items in between. Rooms that are hibernated have no clocks.
struct RoomSurvey: Sendable {
    /// What is told of the cohorts of one name.
    struct Cohorts: Sendable, Equatable {
        /// How long ago the clock that is heard least was heard, of rooms that hold something back.
        var oldestClock = Duration.zero
        /// Rooms that hold something back and whose clock is stale, or was never heard.
        var stale = 0
    }

    /// Between two surveys of a worker.
    static let interval = Duration.seconds(10)
    /// Rooms in one turn, in less than a millisecond.
    static let stride = 64
    /// Names of cohorts, which clients choose; all others count as `other`.
    fileprivate static let mostCohorts = 64

    private(set) var cohorts: [String: Cohorts] = [:]
    private(set) var heldBytes = 0
    private(set) var keptBytes = 0
    /// The age of the oldest record that is in no checkpoint.
    private(set) var oldestUnsaved = Duration.zero

    /// - Parameter unsavedSince: when the first record was taken that the room's checkpoint does not hold; nil for none.
    mutating func add(_ room: Room, unsavedSince: Instant?, at now: Instant) {
        if let unsavedSince { oldestUnsaved = max(oldestUnsaved, now - unsavedSince) }
        let bytes = room.operationBytes
        heldBytes += bytes.held
        keptBytes += bytes.kept
        room.forEachWaitingCohort(at: now) { name, age, isStale in
            add(Cohorts(oldestClock: age ?? .zero, stale: isStale ? 1 : 0), of: name.text)
        }
    }

    private mutating func add(_ more: Cohorts, of name: String) {
        let name = cohorts[name] != nil || cohorts.count < Self.mostCohorts ? name : "other"
        cohorts[name, default: Cohorts()].stale += more.stale
        cohorts[name, default: Cohorts()].oldestClock = max(cohorts[name]?.oldestClock ?? .zero, more.oldestClock)
    }

    mutating func formUnion(_ other: RoomSurvey) {
        heldBytes += other.heldBytes
        keptBytes += other.keptBytes
        oldestUnsaved = max(oldestUnsaved, other.oldestUnsaved)
        for (name, cohorts) in other.cohorts { add(cohorts, of: name) }
    }
}

/// A survey of one worker under way.
struct SurveyTurn: Sendable {
    let surveys: RoomSurveys
    let worker: Int
    var survey = RoomSurvey()
    /// The rooms that are still to be looked at; nil for all.
    var remaining: ArraySlice<RoomID>?
}

/// The surveys of all workers, as metrics. Any thread.
final class RoomSurveys: Sendable {
    private struct State {
        var ofWorkers: [Int: RoomSurvey] = [:]
        /// Workers that have not ended the last survey: one that hangs is not asked again.
        var underWay: Set<Int> = []
        /// Cohorts that have been told of: one that no longer waits is told to be fine, or no more where there are many.
        var told: Set<String> = []
    }

    private let state = Locked(State())
    private let held = Meter(label: "lectern_held_bytes")
    private let kept = Meter(label: "lectern_tail_bytes")
    private let unsaved = Meter(label: "lectern_checkpoint_age_seconds")

    /// Has the workers make surveys until the task is cancelled.
    func run(_ workers: [RoomWorker]) async {
        while !Task.isCancelled {
            for (number, worker) in workers.enumerated()
            where state.withLock({ $0.underWay.insert(number).inserted }) {
                worker.post(.survey(SurveyTurn(surveys: self, worker: number)))
            }
            try? await Task.sleep(for: RoomSurvey.interval)
        }
    }

    /// Takes the whole survey of a worker.
    func complete(_ survey: RoomSurvey, of worker: Int) {
        let (all, quiet, keepsQuiet) = state.withLock { state -> (RoomSurvey, Set<String>, Bool) in
            state.underWay.remove(worker)
            state.ofWorkers[worker] = survey
            var all = RoomSurvey()
            for survey in state.ofWorkers.values { all.formUnion(survey) }
            let quiet = state.told.subtracting(all.cohorts.keys)
            let keepsQuiet = all.cohorts.count + quiet.count <= RoomSurvey.mostCohorts
            state.told = keepsQuiet ? quiet.union(all.cohorts.keys) : Set(all.cohorts.keys)
            return (all, quiet, keepsQuiet)
        }
        held.set(all.heldBytes)
        kept.set(all.keptBytes)
        unsaved.set(all.oldestUnsaved / .seconds(1))
        for name in quiet {
            let (age, stale) = Self.meters(of: name)
            for meter in [age, stale] { if keepsQuiet { meter.set(0) } else { meter.destroy() } }
        }
        for (name, cohorts) in all.cohorts {
            let (age, stale) = Self.meters(of: name)
            age.set(cohorts.oldestClock / .seconds(1))
            stale.set(cohorts.stale)
        }
    }

    private static func meters(of cohort: String) -> (age: Meter, stale: Meter) {
        let label = [("cohort", cohort)]
        return (
            Meter(label: "lectern_clock_age_seconds", dimensions: label),
            Meter(label: "lectern_stale_clocks", dimensions: label)
        )
    }
}
