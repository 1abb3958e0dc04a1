public import StrokeWire

/// The gate times of a recorded room's operations, computed from its log.
///
/// Rule 2 of the release gate: e(i) = max(t(i), e(i−1)) within an epoch. Where rules 6 and 7 ask the clocks of the class,
/// which are in no log, the operations after it decide: a time is absurd where it lies more than 60 s ahead of the last
/// good one, the log's time since counted, and also more than 60 s ahead of all of the next eight. What is logged within
/// 5 s after the beginning of an epoch and is more than 10 s nearer to the end of the one before still belongs to that.
public struct ReplayTimes: Sendable {
    /// What the log says of an operation.
    struct Entry: Sendable {
        /// The encoder session in force when it was logged.
        var epoch: Int64
        /// When that had begun.
        var epochBegan: Instant
        /// nil where the message gave none.
        let time: MediaTime?
        /// Microseconds from its time to its last point.
        let reach: Int64
        let loggedAt: Instant
    }

    /// When an operation is released.
    public struct Time: Sendable, Equatable {
        /// The encoder session on whose time line it lies.
        public var epoch: Int64
        /// Where strokes appear whole.
        public var gateTime: MediaTime
        /// Where they grow: the time of the last point.
        public var endTime: MediaTime
    }

    /// An encoder session of a recording.
    public struct Span: Sendable, Equatable {
        public let number: Int64
        /// Its first and its last operation.
        public internal(set) var indices: ClosedRange<UInt64>
        /// The first and the last gate time.
        public internal(set) var from: MediaTime
        public internal(set) var through: MediaTime
    }

    private var times: [Time] = []
    /// The greatest epoch and gate time up to each operation: it rises, whatever straggles.
    private var order: [(epoch: Int64, gateTime: MediaTime)] = []
    public private(set) var spans: [Span] = []

    private static let absurd: Int64 = 60_000_000
    private static let lookahead = 8
    private static let stragglerTime = Duration.seconds(5)
    private static let stragglerAhead: Int64 = 10_000_000

    init(_ entries: [Entry]) {
        times.reserveCapacity(entries.count)
        order.reserveCapacity(entries.count)
        var good: (time: MediaTime, loggedAt: Instant, epoch: Int64)?
        var greatest: [Int64: (gateTime: MediaTime, endTime: MediaTime)] = [:]
        for (place, entry) in entries.enumerated() {
            var epoch = entry.epoch
            var time = entry.time
            if let last = good, last.epoch < epoch, let new = time,
                entry.loggedAt - entry.epochBegan <= Self.stragglerTime, new <= last.time + 1_000_000,
                Self.liesAhead(new, of: entries, after: place, by: Self.stragglerAhead, epoch: epoch)
            {
                epoch = last.epoch
            } else if let new = time, Self.isAbsurd(new, at: place, of: entries, after: good) {
                time = nil
            }
            if let time, good.map({ $0.epoch <= epoch }) ?? true { good = (time, entry.loggedAt, epoch) }
            let before = greatest[epoch] ?? (.distantPast, .distantPast)
            let gateTime = max(time ?? .distantPast, before.gateTime)
            let endTime = max(time.map { $0 + entry.reach } ?? .distantPast, before.endTime)
            greatest[epoch] = (gateTime, endTime)
            add(Time(epoch: epoch, gateTime: gateTime, endTime: endTime))
        }
    }

    private static func isAbsurd(
        _ time: MediaTime, at place: Int, of entries: [Entry],
        after good: (time: MediaTime, loggedAt: Instant, epoch: Int64)?
    ) -> Bool {
        if let good, good.epoch == entries[place].epoch {
            let passed = max(0, entries[place].loggedAt.nanoseconds(since: good.loggedAt)) / 1000
            guard time - (good.time + passed) > absurd else { return false }
        }
        return liesAhead(time, of: entries, after: place, by: absurd, epoch: entries[place].epoch)
    }

    /// Whether a time is so far ahead of all of the next operations of its epoch, and there is one.
    private static func liesAhead(
        _ time: MediaTime, of entries: [Entry], after place: Int, by distance: Int64, epoch: Int64
    ) -> Bool {
        let next = entries[(place + 1)...].prefix(lookahead).filter { $0.epoch == epoch }.compactMap { $0.time }
        return !next.isEmpty && next.allSatisfy { time - $0 > distance }
    }

    private mutating func add(_ time: Time) {
        times.append(time)
        let index = UInt64(times.count)
        let last = order.last ?? (time.epoch, .distantPast)
        order.append(
            time.epoch < last.epoch
                ? last : (time.epoch, max(time.gateTime, time.epoch == last.epoch ? last.gateTime : .distantPast)))
        if let place = spans.lastIndex(where: { $0.number == time.epoch }) {
            spans[place].indices = spans[place].indices.lowerBound...index
            if spans[place].from == .distantPast { spans[place].from = time.gateTime }
            spans[place].through = max(spans[place].through, time.gateTime)
        } else {
            spans.append(
                Span(number: time.epoch, indices: index...index, from: time.gateTime, through: time.gateTime))
        }
    }

    var count: Int { times.count }

    /// - Precondition: `1 <= index && index <= count`
    subscript(index: UInt64) -> Time { times[Int(index - 1)] }

    /// See ``RecordedRoom/index(before:epoch:through:)``.
    func index(before time: MediaTime, epoch: Int64?, through last: UInt64) -> UInt64 {
        let seen = spans.last { $0.indices.lowerBound <= last }
        guard let epoch = epoch ?? seen?.number else { return 0 }
        return UInt64(order.partitioningIndex { $0 >= (epoch, time) })
    }
}
