import StrokeWire

/// Rule 6: the encoder sessions of a room, as its log names them.
///
/// The last 16 are remembered. Samples and operations of older ones are compared with them by number alone.
struct Epochs: Sendable {
    /// What the gate knows of one epoch.
    struct Epoch: Sendable {
        var number: Int64
        /// When it was logged.
        fileprivate(set) var began: Instant
        /// Gate time of the last operation that counts for it.
        var gateTime = MediaTime.none
        /// The same for cohorts in which strokes grow.
        var endTime = MediaTime.none
        /// The last operation whose time a clock has judged. Later ones are judged when the next clock comes.
        var judged = Judged()
        /// Of the operations forgotten before a clock judged them, the one with the greatest time.
        var unjudged: Unjudged?
        /// The farthest video time at which a cohort left it.
        var left: MediaTime?
        /// Where the teacher's time line was; nil while no operation was near a clock.
        var anchor: Anchor?
        /// Rule 18: that it waits for its number; the last epoch alone.
        fileprivate(set) var provisional: Provisional?
        /// Rule 18: whether it was provisional before the log named it.
        fileprivate(set) var wasProvisional = false

        /// Makes an epoch of a checkpoint a provisional one.
        mutating func await(_ provisional: Provisional) { self.provisional = provisional }
    }

    /// Rule 18: an epoch that a teacher's time line has begun, and that the delayed video has not reached yet.
    struct Provisional: Sendable, Equatable {
        /// A number above that of every epoch of the log. Another takes its place when the video gets there.
        fileprivate(set) var number: Int64
        /// Index of its first operation.
        let first: UInt64
        /// Microseconds by which the room's slowest video was behind.
        let age: Int64
    }

    /// Rule 18: what an operation of an epoch waits for that the teacher's time line began before the video.
    struct Foreseen: Sendable {
        /// Microseconds by which the room's slowest video was behind; nil once one has got there: it tells nothing of others.
        let age: Int64?
    }

    /// Rule 7: the last time of an operation that was near a clock when it was logged. The teacher's video goes on from
    /// there, whatever the students' does.
    struct Anchor: Sendable, Equatable {
        let time: MediaTime
        let loggedAt: Instant

        /// The farthest that the teacher's video can be when an operation is logged.
        func time(at loggedAt: Instant) -> MediaTime {
            time + max(0, loggedAt.nanoseconds(since: self.loggedAt)) / 1000
        }
    }

    struct Judged: Sendable {
        /// Index of the last operation judged, 0 for none.
        var through: UInt64 = 0
        /// Its gate time.
        var gateTime = MediaTime.none
        /// Its gate time in cohorts in which strokes grow.
        var endTime = MediaTime.none
    }

    struct Unjudged: Sendable {
        let time: MediaTime
        /// Microseconds from there to its last point.
        let reach: Int64
        let loggedAt: Instant
    }

    /// The number of the epoch before any is named; less than every `ep`.
    static let unnamed: Int64 = -1
    /// The greatest `ep` of a sample.
    static let greatest: Int64 = (1 << 53) - 1
    private static let remembered = 16

    /// Oldest first, never empty, numbers rising.
    private(set) var known: [Epoch]

    init(at now: Instant) { known = [Epoch(number: Self.unnamed, began: now)] }

    /// - Parameter known: oldest first, numbers rising.
    /// - Returns: nil where there is none, or more than are remembered.
    init?(_ known: [Epoch]) {
        guard (1...Self.remembered).contains(known.count) else { return nil }
        self.known = known
    }

    /// The epoch that operations logged now belong to.
    var current: Epoch { known[known.count - 1] }
    /// The newest epoch that the video has reached, or the log names.
    var confirmed: Epoch { known[known.count - (provisional == nil ? 1 : 2)] }
    /// Rule 18: what ``current`` waits for; nil where it waits for nothing.
    var provisional: Provisional? { known[known.count - 1].provisional }
    var isNamed: Bool { confirmed.number != Self.unnamed }

    /// Whether there was ever a clock, as far as is known.
    var haveSeenClock: Bool {
        isNamed || known.contains { $0.judged.through > 0 || $0.anchor != nil || $0.left != nil }
    }

    subscript(number: Int64) -> Epoch? {
        get { known.last { $0.number == number } }
        set {
            guard let newValue, let position = known.lastIndex(where: { $0.number == number }) else { return }
            known[position] = newValue
        }
    }

    /// Rule 18: of an operation that was logged while the last epoch was provisional, although a video may have reached that since;
    /// nil for others.
    func foreseen(_ entry: GateTimeline.Entry) -> Foreseen? {
        let last = known.count - 1
        guard known[last].number == entry.epoch else { return nil }
        if let provisional = known[last].provisional { return Foreseen(age: provisional.age) }
        return known[last].wasProvisional && entry.loggedAt <= known[last].began ? Foreseen(age: nil) : nil
    }

    /// The logged epoch before `number`.
    func predecessor(of number: Int64) -> Epoch? { known.last { $0.number < number } }

    /// The epoch that stands for `ep` + 1: the next that the log has, otherwise the next number.
    func successor(of number: Int64) -> Int64 {
        known.first { $0.number > number && $0.provisional == nil }?.number ?? min(max(0, number), Self.greatest - 1)
            + 1
    }

    /// The number of an epoch that was saved, as the log has it: the first one may have been named since, and a log that has
    /// lost its end may not have the last one.
    func number(ofSaved number: Int64) -> Int64 {
        min(number == Self.unnamed ? known[0].number : number, confirmed.number)
    }

    /// Names the epoch that is there already.
    mutating func name(_ number: Int64) {
        let isWaiting = provisional != nil
        known[known.count - (isWaiting ? 2 : 1)].number = number
        if isWaiting { renumberProvisional(min(number, Self.greatest) + 1) }
    }

    mutating func begin(_ number: Int64, at now: Instant) {
        if known.count == Self.remembered { known.removeFirst() }
        known.append(Epoch(number: number, began: now))
    }

    /// Rule 18: begins an epoch whose number is not known yet.
    /// - Precondition: there is no provisional epoch.
    mutating func beginProvisional(first: UInt64, age: Int64, at now: Instant) {
        let number = current.number + 1
        begin(number, at: now)
        known[known.count - 1].provisional = Provisional(number: number, first: first, age: age)
    }

    /// Rule 18: the video has reached the provisional epoch.
    /// - Precondition: there is a provisional epoch.
    mutating func confirm(_ number: Int64, at now: Instant) {
        known[known.count - 1].number = number
        known[known.count - 1].began = now
        known[known.count - 1].provisional = nil
        known[known.count - 1].wasProvisional = true
    }

    /// Rule 18: notes that an epoch was provisional. One that is not remembered changes nothing.
    mutating func restoreForeseen(_ number: Int64) { self[number]?.wasProvisional = true }

    /// Rule 18: the video has not reached the provisional epoch: there is none.
    mutating func endProvisional() {
        if provisional != nil { known.removeLast() }
    }

    private mutating func renumberProvisional(_ number: Int64) {
        known[known.count - 1].number = number
        known[known.count - 1].provisional?.number = number
    }

    /// Counts an operation for an epoch.
    /// - Parameters:
    ///   - end: the time of its last point.
    ///   - judged: its index, where a clock has judged it.
    /// - Returns: its gate times, the latter in cohorts in which strokes grow.
    mutating func count(
        _ time: MediaTime, end: MediaTime, in number: Int64, judged index: UInt64?
    ) -> (gateTime: MediaTime, endTime: MediaTime) {
        guard let position = known.lastIndex(where: { $0.number == number }) else { return (time, end) }
        let gateTime = max(time, known[position].gateTime)
        let endTime = max(end, known[position].endTime)
        known[position].gateTime = gateTime
        known[position].endTime = endTime
        if let index { known[position].judged = Judged(through: index, gateTime: gateTime, endTime: endTime) }
        return (gateTime, endTime)
    }

    /// Rule 7: an operation logged in the current epoch was near a clock.
    mutating func anchor(_ anchor: Anchor) { known[known.count - 1].anchor = anchor }

    /// Notes the video time at which a cohort leaves an epoch.
    mutating func leave(_ number: Int64, at video: MediaTime) {
        guard let left = self[number]?.left else {
            self[number]?.left = video
            return
        }
        self[number]?.left = max(left, video)
    }
}
