import DequeModule
import StrokeWire

/// Rule 2: the gate times of a room's operations, in log order, the same for all cohorts whose strokes appear whole; and
/// the later ones of cohorts in which they grow, where there may be such.
///
/// Takes 32 bytes for each operation until ``forget(through:)``, 48 with the times of growing strokes.
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

    /// What cohorts in which strokes grow have beside an ``Entry``.
    struct End: Sendable, Equatable {
        /// Microseconds from the operation's time to its last point; 0 where that is absurd.
        var reach: Int64
        /// e(i): the greatest time of a last point so far in the epoch.
        var gateTime: MediaTime
    }

    private var entries: Deque<Entry> = []
    /// As many as entries where a cohort is progressive, otherwise none.
    private var lastPoints: Deque<End> = []
    private let hasEnds: Bool
    /// When the last operation was logged, forgotten or not: the log's clock may be set back.
    private var lastLogged = Instant.distantPast
    /// Index of the last operation forgotten.
    private(set) var forgotten: UInt64
    private(set) var epochs: Epochs
    /// Number of operations ever whose time was absurd (rule 7).
    private(set) var clampedCount = 0

    /// - Parameter hasEnds: whether a cohort may be progressive.
    init(after index: UInt64, hasEnds: Bool = false, at now: Instant) {
        forgotten = index
        epochs = Epochs(at: now)
        self.hasEnds = hasEnds
    }

    /// - Parameters:
    ///   - entries: those of the operations after `index`.
    ///   - ends: as many, or none where they are not known: all points of these operations count as at their times.
    init(after index: UInt64, _ entries: [Entry], ends: [End], hasEnds: Bool, _ epochs: Epochs) {
        forgotten = index
        self.entries = Deque(entries)
        lastLogged = entries.last?.loggedAt ?? .distantPast
        (self.epochs, self.hasEnds) = (epochs, hasEnds)
        guard hasEnds else { return }
        let isKnown = ends.count == entries.count
        lastPoints = Deque(isKnown ? ends : entries.map { End(reach: 0, gateTime: $0.gateTime) })
    }

    /// Index of the room's last operation.
    var last: UInt64 { forgotten + UInt64(entries.count) }

    /// - Precondition: `forgotten < index && index <= last`
    subscript(index: UInt64) -> Entry { entries[Int(index - forgotten - 1)] }

    /// Whether a clock has judged the time of an operation.
    /// - Precondition: `forgotten < index && index <= last`
    func isJudged(_ index: UInt64) -> Bool { epochs[self[index].epoch].map { $0.judged.through >= index } ?? true }

    /// The operation after `index`; nil where it is the last one.
    /// - Precondition: `forgotten <= index`
    func operation(after index: UInt64) -> Entry? { index < last ? self[index + 1] : nil }

    /// The operation after `index` with its gate time in cohorts of a kind; nil where it is the last one.
    /// - Precondition: `forgotten <= index`
    func operation(after index: UInt64, ink: CohortSettings.Ink) -> Entry? {
        guard var entry = operation(after: index) else { return nil }
        if ink == .progressive, let end = end(of: index + 1) { entry.gateTime = end.gateTime }
        return entry
    }

    /// What progressive cohorts know of an operation; nil where there are none.
    /// - Precondition: `forgotten < index && index <= last`
    func end(of index: UInt64) -> End? { hasEnds ? lastPoints[Int(index - forgotten - 1)] : nil }

    /// The same of all operations kept.
    var ends: Deque<End>? { hasEnds ? lastPoints : nil }

    /// Adds an operation.
    /// - Parameters:
    ///   - reach: microseconds from its time to its last point, 0 or more.
    ///   - clocks: what the clocks of the current epoch say; nil where it has none.
    ///   - isNearClock: whether the time lies within 60 s of one of them.
    mutating func append(
        time: MediaTime, reach: Int64 = 0, at loggedAt: Instant, clocks: EpochClocks?, isNearClock: Bool
    ) {
        lastLogged = max(loggedAt, lastLogged)
        let entry = Entry(epoch: epochs.current.number, time: time, gateTime: .none, loggedAt: lastLogged)
        let (placed, end) = placed(entry, reach: hasEnds ? reach : 0, at: last + 1, clocks: clocks)
        entries.append(placed)
        if hasEnds { lastPoints.append(end) }
        guard isNearClock, placed.epoch == entry.epoch, placed.time != .none else { return }
        epochs.anchor(Epochs.Anchor(time: placed.time, loggedAt: placed.loggedAt))
    }

    /// Judges the operations of an epoch that were logged before it had a clock.
    mutating func judge(epoch number: Int64, clocks: EpochClocks) {
        guard let epoch = epochs[number] else { return }
        epochs[number]?.gateTime = epoch.judged.gateTime
        epochs[number]?.endTime = epoch.judged.endTime
        epochs[number]?.unjudged = nil
        if let old = epoch.unjudged {
            let entry = Entry(epoch: number, time: old.time, gateTime: .none, loggedAt: old.loggedAt)
            _ = placed(entry, reach: old.reach, at: forgotten, clocks: clocks)
        }
        for index in max(forgotten, epoch.judged.through)..<max(last, epoch.judged.through) {
            let position = Int(index - forgotten)
            guard entries[position].epoch == number else { continue }
            let (entry, end) = placed(
                entries[position], reach: hasEnds ? lastPoints[position].reach : 0, at: index + 1, clocks: clocks)
            entries[position] = entry
            if hasEnds { lastPoints[position] = end }
        }
    }

    /// Gives an entry its gate times.
    private mutating func placed(
        _ entry: Entry, reach: Int64, at index: UInt64, clocks: EpochClocks?
    ) -> (Entry, End) {
        var entry = entry
        var reach = reach
        switch clocks?.judgement(of: entry, anchor: epochs[entry.epoch]?.anchor) {
        case .usable where reach > 0:
            // Rule 7, for the last point: where its time is absurd, all points lie at the operation's time.
            var last = entry
            last.time = entry.time + reach
            if clocks?.judgement(of: last, anchor: epochs[entry.epoch]?.anchor) == .absurd { reach = 0 }
        case .usable, nil: break
        case .straggler(let epoch):
            entry.epoch = epoch
            // On the old time line, which the new one's clocks know nothing of.
            if reach > GateThresholds.absurd { reach = 0 }
        case .absurd:
            entry.time = .none
            clampedCount += 1
        }
        if entry.time == .none { reach = 0 }
        let times = epochs.count(
            entry.time, end: entry.time + reach, in: entry.epoch, judged: clocks == nil ? nil : index)
        entry.gateTime = times.gateTime
        return (entry, End(reach: reach, gateTime: times.endTime))
    }

    /// Rule 6: names the epoch that is there already.
    mutating func name(_ epoch: Int64) {
        let waiting = epochs.provisional?.number
        epochs.name(epoch)
        for position in entries.indices {
            if entries[position].epoch == waiting, let number = epochs.provisional?.number {
                entries[position].epoch = number
            } else {
                entries[position].epoch = epoch
            }
        }
    }

    /// Rule 18: starts an epoch whose number is not known yet, with an operation that is logged already.
    mutating func beginProvisional(first: UInt64, age: Int64, at now: Instant) {
        let old = epochs.current.number
        epochs.beginProvisional(first: first, age: age, at: now)
        move(after: first - 1, from: old, to: epochs.current.number)
    }

    /// Rule 18: the log names the provisional epoch.
    mutating func confirm(_ epoch: Int64, at now: Instant) {
        let waiting = epochs.current.number
        epochs.confirm(epoch, at: now)
        for position in entries.indices where entries[position].epoch == waiting { entries[position].epoch = epoch }
    }

    /// Rule 18: the operations of the provisional epoch belong to the one before.
    mutating func endProvisional() {
        guard let waiting = epochs.provisional else { return }
        epochs.endProvisional()
        move(after: waiting.first - 1, from: waiting.number, to: epochs.current.number)
    }

    /// Counts the operations of one epoch for another, which is later in the log than what it has so far.
    private mutating func move(after index: UInt64, from old: Int64, to new: Int64) {
        for index in max(index, forgotten)..<max(last, index) {
            let position = Int(index - forgotten)
            guard entries[position].epoch == old else { continue }
            let reach = hasEnds ? lastPoints[position].reach : 0
            let time = entries[position].time
            let times = epochs.count(time, end: time + reach, in: new, judged: nil)
            entries[position].epoch = new
            entries[position].gateTime = times.gateTime
            if hasEnds { lastPoints[position].gateTime = times.endTime }
        }
    }

    /// Rule 18: notes that an epoch was provisional, as a checkpoint has it.
    mutating func restoreForeseen(_ epoch: Int64) { epochs.restoreForeseen(epoch) }

    /// Rule 6: starts an epoch, to which operations logged from now on belong.
    mutating func begin(_ epoch: Int64, at now: Instant) { epochs.begin(epoch, at: now) }

    /// Notes the video time at which a cohort leaves an epoch.
    mutating func leave(_ epoch: Int64, at video: MediaTime) { epochs.leave(epoch, at: video) }

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
            let reach = hasEnds ? lastPoints.removeFirst().reach : 0
            forgotten += 1
            guard let epoch = epochs[entry.epoch], forgotten > epoch.judged.through,
                entry.time > epoch.unjudged?.time ?? .none
            else { continue }
            epochs[entry.epoch]?.unjudged = Epochs.Unjudged(
                time: entry.time, reach: reach, loggedAt: entry.loggedAt)
        }
        // A quiet room keeps no memory for them.
        if entries.isEmpty { (entries, lastPoints) = ([], []) }
    }
}
