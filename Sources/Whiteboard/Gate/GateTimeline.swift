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

    /// - Parameter entries: those of the operations after `index`.
    init(after index: UInt64, _ entries: [Entry], _ epochs: Epochs) {
        forgotten = index
        self.entries = Deque(entries)
        self.epochs = epochs
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
        entries.append(placed(entry, at: last + 1, clocks: clocks))
    }

    /// A clock of an epoch has come: operations that were logged while there was none are judged now.
    mutating func judge(epoch number: Int64, clocks: EpochClocks) {
        guard let epoch = epochs[number] else { return }
        epochs[number]?.gateTime = epoch.judged.gateTime
        epochs[number]?.unjudged = nil
        if let old = epoch.unjudged {
            let entry = Entry(epoch: number, time: old.time, gateTime: .none, loggedAt: old.loggedAt)
            _ = placed(entry, at: forgotten, clocks: clocks)
        }
        for index in max(forgotten, epoch.judged.through)..<max(last, epoch.judged.through) {
            let position = Int(index - forgotten)
            guard entries[position].epoch == number else { continue }
            entries[position] = placed(entries[position], at: index + 1, clocks: clocks)
        }
    }

    /// The entry with its gate time.
    private mutating func placed(_ entry: Entry, at index: UInt64, clocks: EpochClocks?) -> Entry {
        var entry = entry
        switch clocks?.judgement(of: entry) {
        case .usable, nil: break
        case .straggler(let epoch): entry.epoch = epoch
        case .absurd:
            entry.time = .none
            clampedCount += 1
        }
        entry.gateTime = epochs.count(entry.time, in: entry.epoch, judged: clocks == nil ? nil : index)
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

    /// Drops the entries through `index`. Of those that no clock has judged yet, the greatest time goes on counting for
    /// e(i − 1).
    mutating func forget(through index: UInt64) {
        while forgotten < min(index, last) {
            let entry = entries.removeFirst()
            forgotten += 1
            guard let epoch = epochs[entry.epoch], forgotten > epoch.judged.through,
                entry.time > epoch.unjudged?.time ?? .none
            else { continue }
            epochs[entry.epoch]?.unjudged = Epochs.Unjudged(time: entry.time, loggedAt: entry.loggedAt)
        }
        // A room at rest keeps no memory for them.
        if entries.isEmpty { entries = [] }
    }
}
