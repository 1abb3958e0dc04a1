import Hosting
import Journal
import Locking
import Logging
import Synchronization
import Whiteboard

/// What a partition's journal was found to lack while it was read.
enum JournalLoss: Sendable {
    /// Records that newer checkpoints hold, or the whole log: what was made of it is discarded.
    case records
    /// Its end: what was made of it is all that there is, and is saved.
    case end
}

/// The state of one partition in this daemon, from the decision to open it until its rooms are evicted.
final class PartitionWork: Sendable {
    private let partition: Int
    /// Number of workers, each of which has a share of the rooms.
    private let workers: Int
    let onLost: @Sendable (JournalLoss) -> Void
    private let began = MonotonicClock.now()
    private let records = Atomic<Int>(0)
    private let rooms = Atomic<Int>(0)
    private let discarded = Atomic<Bool>(false)
    private let state = Locked(State())

    private struct State {
        var opening: Task<Void, Never>?
        var reader: PartitionReader?
        var ready = 0
        var closed = 0
        var isClosing = false
        /// The last record delivered when closing began.
        var lastPosition: UInt64?
        var isWhole = true
        /// Once all workers are ready.
        var recovery: (duration: Duration, records: Int)?
    }

    init(_ partition: Int, workers: Int, onLost: @escaping @Sendable (JournalLoss) -> Void) {
        self.partition = partition
        self.workers = workers
        self.onLost = onLost
    }

    var isReady: Bool { state.withLock { $0.recovery != nil } }
    var isClosing: Bool { state.withLock { $0.isClosing } }
    /// The last record delivered; nil once the rooms are discarded: records after that are dropped.
    var position: UInt64? { state.withLock { position($0) } }

    /// The order counts: what was read before the rooms were discarded was delivered.
    private func position(_ state: State) -> UInt64? {
        let position = state.reader?.position
        return isDiscarded ? nil : position
    }

    /// Whether the rooms made from the journal are discarded: further events are ignored.
    var isDiscarded: Bool { discarded.load(ordering: .acquiring) }

    func discard() { discarded.store(true, ordering: .releasing) }

    func begin(_ opening: Task<Void, Never>) {
        state.withLock { $0.opening = opening }
    }

    /// Runs a closure unless closing has begun; returns whether it ran.
    func unlessClosing(_ body: () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isClosing else { return false }
            body()
            return true
        }
    }

    /// Attaches the journal's reader; cancels it if the partition is being closed already.
    func attach(_ reader: PartitionReader) {
        let isTooLate = state.withLock { state in
            state.reader = reader
            return state.isClosing
        }
        if isTooLate { reader.cancel() }
    }

    func countRecord() { records.add(1, ordering: .relaxed) }
    func countRooms(_ count: Int) { rooms.store(count, ordering: .relaxed) }

    /// - Returns: whether all workers are ready.
    func countReady() -> Bool {
        state.withLock { state in
            state.ready += 1
            guard state.ready == workers else { return false }
            state.recovery = (MonotonicClock.now() - began, records.load(ordering: .relaxed))
            return true
        }
    }

    /// - Parameter isWhole: whether the worker saved everything passed to it before the closing.
    /// - Returns: whether all workers have closed their shares.
    func countClosed(isWhole: Bool) -> Bool {
        state.withLock { state in
            state.closed += 1
            state.isWhole = state.isWhole && isWhole
            return state.closed == workers
        }
    }

    /// Last record that checkpoints hold with all before it, once all workers have closed; nil if not known.
    var covered: UInt64? { state.withLock { $0.isWhole ? $0.lastPosition : nil } }

    /// Stops reading; may be called again.
    func close() {
        let (opening, reader) = state.withLock { state in
            // Records delivered from now on come after the closing and are not applied.
            if !state.isClosing { state.lastPosition = position(state) }
            state.isClosing = true
            return (state.opening, state.reader)
        }
        opening?.cancel()
        reader?.cancel()
    }

    /// From the decision to open it to the last worker's readiness, and the records read meanwhile.
    var recovery: (duration: Duration, records: Int) { state.withLock { $0.recovery } ?? (.zero, 0) }

    /// Figures on the recovery, for the log.
    var figures: Logger.Metadata {
        let recovery = recovery
        let seconds = max(recovery.duration / .seconds(1), 0.001)
        let rooms = rooms.load(ordering: .relaxed)
        return [
            "partition": "\(partition)", "rooms": "\(rooms)", "records": "\(recovery.records)",
            "seconds": "\((seconds * 1000).rounded() / 1000)",
            "records_per_second": "\(Int(Double(recovery.records) / seconds))",
            "rooms_per_second": "\(Int(Double(rooms) / seconds))",
        ]
    }
}
