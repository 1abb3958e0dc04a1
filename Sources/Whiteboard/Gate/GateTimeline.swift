import DequeModule
import StrokeWire

/// Rule 2: the gate times of a room's operations, in log order, the same for all cohorts.
///
/// Takes 32 bytes for each operation until ``forget(through:)``.
struct GateTimeline: Sendable {
    struct Entry: Sendable {
        var epoch: Int64
        /// The operation's own time; `none` where it has no usable one.
        var time: MediaTime
        /// e(i): the greatest time so far in the epoch.
        var gateTime: MediaTime
        /// Not before that of the preceding operation.
        let loggedAt: Instant
    }

    private var entries: Deque<Entry> = []
    /// Index of the last operation forgotten.
    private(set) var forgotten: UInt64
    private(set) var epochs: Epochs
    /// Number of operations ever whose time was absurd (rule 7).
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

    /// The operation after `index`; nil where it is the last one.
    /// - Precondition: `forgotten <= index`
    func operation(after index: UInt64) -> Entry? { index < last ? self[index + 1] : nil }

    /// Adds an operation.
    /// - Parameters:
    ///   - clocks: what the clocks of the current epoch say; nil where it has none.
    ///   - isNearClock: whether the time lies within 60 s of one of them.
    mutating func append(time: MediaTime, at loggedAt: Instant, clocks: EpochClocks?, isNearClock: Bool) {
        let entry = Entry(
            epoch: epochs.current.number, time: time, gateTime: .none,
            loggedAt: max(loggedAt, entries.last?.loggedAt ?? .distantPast))
        let placed = placed(entry, at: last + 1, clocks: clocks)
        entries.append(placed)
        guard isNearClock, placed.epoch == entry.epoch, placed.time != .none else { return }
        epochs.anchor(Epochs.Anchor(time: placed.time, loggedAt: placed.loggedAt))
    }

    /// Judges the operations of an epoch that were logged before it had a clock.
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

    /// Gives an entry its gate time.
    private mutating func placed(_ entry: Entry, at index: UInt64, clocks: EpochClocks?) -> Entry {
        var entry = entry
        switch clocks?.judgement(of: entry, anchor: epochs[entry.epoch]?.anchor) {
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

    /// Rule 6: starts an epoch, to which operations logged from now on belong.
    mutating func begin(_ epoch: Int64, at now: Instant) {
        epochs.begin(epoch, at: now)
    }

    /// Notes the video time at which a cohort leaves an epoch.
    mutating func leave(_ epoch: Int64, at video: MediaTime) {
        epochs.leave(epoch, at: video)
    }

    /// The first usable time of an epoch's operations after `index`.
    func firstTime(after index: UInt64, of epoch: Int64) -> MediaTime? {
        let rest = entries.dropFirst(Int(max(index, forgotten) - forgotten))
        return rest.first { $0.epoch == epoch && $0.time != .none }?.time
    }

    /// Drops the entries through `index`. The greatest time that no clock has judged yet still counts for later gate
    /// times.
    mutating func forget(through index: UInt64) {
        while forgotten < min(index, last) {
            let entry = entries.removeFirst()
            forgotten += 1
            guard let epoch = epochs[entry.epoch], forgotten > epoch.judged.through,
                entry.time > epoch.unjudged?.time ?? .none
            else { continue }
            epochs[entry.epoch]?.unjudged = Epochs.Unjudged(time: entry.time, loggedAt: entry.loggedAt)
        }
        // A quiet room keeps no memory for them.
        if entries.isEmpty { entries = [] }
    }
}
