import StrokeWire

/// Rule 6: the encoder sessions of a room, as its log names them.
///
/// The last 16 are remembered; samples and operations of older ones are compared with them by number alone.
struct Epochs: Sendable {
    /// What the gate knows of one epoch.
    struct Epoch: Sendable {
        var number: Int64
        /// When it came to be in the log.
        let began: Instant
        /// Gate time of the last operation that counts for it.
        var gateTime = MediaTime.none
        /// How far the times of its operations were judged by a clock: the others are when the next clock comes.
        var judged = Judged()
        /// Of the operations that the gate let go of before a clock could judge them, the one with the greatest time.
        var unjudged: Unjudged?
        /// The farthest video time at which a cohort left it.
        var left: MediaTime?
    }

    struct Judged: Sendable {
        /// Index of the last operation judged, 0 for none.
        var through: UInt64 = 0
        /// Its gate time.
        var gateTime = MediaTime.none
    }

    struct Unjudged: Sendable {
        let time: MediaTime
        let loggedAt: Instant
    }

    /// The number of the epoch that is there before any is named; less than every `ep`.
    static let unnamed: Int64 = -1
    /// The greatest `ep` of a sample.
    static let greatest: Int64 = (1 << 53) - 1
    private static let remembered = 16

    /// Oldest first, never empty, numbers rising.
    private(set) var known: [Epoch]

    init(at now: Instant) {
        known = [Epoch(number: Self.unnamed, began: now)]
    }

    /// - Parameter known: oldest first, numbers rising.
    /// - Returns: nil where there is none, or more than are remembered.
    init?(_ known: [Epoch]) {
        guard (1...Self.remembered).contains(known.count) else { return nil }
        self.known = known
    }

    /// The epoch that operations logged now belong to.
    var current: Epoch { known[known.count - 1] }
    var isNamed: Bool { current.number != Self.unnamed }

    subscript(number: Int64) -> Epoch? {
        get { known.last { $0.number == number } }
        set {
            guard let newValue, let position = known.lastIndex(where: { $0.number == number }) else { return }
            known[position] = newValue
        }
    }

    /// The epoch that the log knows before another.
    func predecessor(of number: Int64) -> Epoch? {
        known.last { $0.number < number }
    }

    /// The epoch that stands for `ep` + 1: the next that the log knows, else the number after.
    func successor(of number: Int64) -> Int64 {
        known.first { $0.number > number }?.number ?? min(max(0, number), Self.greatest - 1) + 1
    }

    /// Names the epoch that is there already.
    mutating func name(_ number: Int64) {
        known[known.count - 1].number = number
    }

    mutating func begin(_ number: Int64, at now: Instant) {
        if known.count == Self.remembered { known.removeFirst() }
        known.append(Epoch(number: number, began: now))
    }

    /// An operation counts for an epoch.
    /// - Parameter judged: its index, where a clock has judged it.
    /// - Returns: its gate time.
    mutating func count(_ time: MediaTime, in number: Int64, judged index: UInt64?) -> MediaTime {
        guard let position = known.lastIndex(where: { $0.number == number }) else { return time }
        let gateTime = max(time, known[position].gateTime)
        known[position].gateTime = gateTime
        if let index { known[position].judged = Judged(through: index, gateTime: gateTime) }
        return gateTime
    }

    /// A cohort goes on to another epoch from where its video was.
    mutating func leave(_ number: Int64, at video: MediaTime) {
        guard let left = self[number]?.left else {
            self[number]?.left = video
            return
        }
        self[number]?.left = max(left, video)
    }
}
