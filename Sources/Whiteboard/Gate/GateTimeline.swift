internal import DequeModule
import StrokeWire

/// Rule 2: the gate times of a room's operations, in the order of its log, the same for all its cohorts.
///
/// Takes 32 bytes an operation, from when it is logged until ``forget(through:)``.
struct GateTimeline: Sendable {
    struct Entry: Sendable {
        var epoch: Int64
        /// The operation's own time; none where it has no usable one.
        var time: MediaTime
        /// e(i)
        var gateTime: MediaTime
        /// Never before that of the operation before.
        let loggedAt: Instant
    }

    private var entries: Deque<Entry> = []
    /// The index that the first entry comes after.
    private(set) var forgotten: UInt64
    private(set) var epochs: Epochs
    /// Operations whose time was absurd (rule 7), ever.
    private(set) var clampedCount = 0

    init(after index: UInt64, at now: Instant) {
        forgotten = index
        epochs = Epochs(at: now)
    }

    /// Index of the room's last operation.
    var last: UInt64 { forgotten + UInt64(entries.count) }

    /// - Precondition: `forgotten < index && index <= last`
    subscript(index: UInt64) -> Entry { entries[Int(index - forgotten - 1)] }

    /// The operation after the last.
    /// - Parameter clocks: what the clocks of the current epoch say, nil where there is none yet.
    mutating func append(time: Int64?, at loggedAt: Instant, clocks: EpochClocks?) {
        let entry = Entry(
            epoch: epochs.current.number, time: time.map(MediaTime.init(milliseconds:)) ?? .none, gateTime: .none,
            loggedAt: max(loggedAt, entries.last?.loggedAt ?? .distantPast))
        entries.append(placed(entry, clocks: clocks))
    }

    /// The first clock of an epoch has come: operations logged before it are judged now.
    mutating func judge(epoch number: Int64, clocks: EpochClocks) {
        guard let epoch = epochs[number], !epoch.hasClock else { return }
        epochs[number]?.hasClock = true
        epochs[number]?.gateTime = .none
        for position in entries.indices where entries[position].epoch == number {
            entries[position] = placed(entries[position], clocks: clocks)
        }
    }

    /// The entry with its gate time.
    private mutating func placed(_ entry: Entry, clocks: EpochClocks?) -> Entry {
        var entry = entry
        switch clocks?.judgement(of: entry) {
        case .usable, nil: break
        case .straggler(let epoch): entry.epoch = epoch
        case .absurd:
            entry.time = .none
            clampedCount += 1
        }
        entry.gateTime = max(entry.time, epochs[entry.epoch]?.gateTime ?? .none)
        epochs[entry.epoch]?.gateTime = entry.gateTime
        return entry
    }

    /// Rule 6: names the epoch that is there already.
    mutating func name(_ epoch: Int64) {
        epochs.name(epoch)
        for position in entries.indices { entries[position].epoch = epoch }
    }

    /// Rule 6: operations logged from now on belong to another epoch, and their gate times start anew.
    mutating func begin(_ epoch: Int64, at now: Instant) {
        epochs.begin(epoch, at: now)
    }

    /// A cohort goes on to another epoch from where its video was.
    mutating func leave(_ epoch: Int64, at video: MediaTime) {
        epochs.leave(epoch, at: video)
    }

    /// The usable time of the first operation of an epoch after `index` that has one.
    func firstTime(after index: UInt64, of epoch: Int64) -> MediaTime? {
        let rest = entries.dropFirst(Int(max(index, forgotten) - forgotten))
        return rest.first { $0.epoch == epoch && $0.time != .none }?.time
    }

    /// Drops the entries through `index`. Those that no clock has judged by then no longer count for e(i − 1).
    mutating func forget(through index: UInt64) {
        guard index > forgotten else { return }
        let count = min(index, last) - forgotten
        entries.removeFirst(Int(count))
        forgotten += count
    }
}
