public import StrokeWire

/// The points of one stroke while it is drawn, and after: fed by the touches of a pen (``receive(_:)-(TouchEvent)``) or by
/// the updates of another client (``receive(_:update:)``), read by renderers, by senders, and by the service.
///
/// Confirmed points come first, predicted ones after them. What was once confirmed may still change: a pen delivers force
/// and angles late. In the end the points are those of the operation alone, whatever came before: see
/// ``complete(with:)``.
///
/// Each change has a version, and ``changes(since:)`` tells which places differ since one. The model remembers a bounded
/// number of changes; since a version before them, everything has changed. Nothing is allocated for a point beyond the
/// growth of arrays: 48 bytes each.
public struct StrokeModel: Sendable {
    /// How far the stroke is.
    public enum Phase: Sendable, Equatable {
        /// The pen is down.
        case open
        /// The pen is up. Late values may still come.
        case ended
        /// The points are those of the operation.
        case complete
        /// Given up: nothing of it stays.
        case cancelled
    }

    /// What became of an update, or of a touch event.
    public enum Outcome: Sendable, Equatable {
        /// Taken. The first place with another confirmed point than before, if there is one.
        case taken(firstChanged: Int?)
        /// Not newer than the last one: ignored.
        case repeated
        /// It begins beyond the confirmed points known, or tells of a sample that is not: ignored.
        case gap
        /// The stroke is complete or was given up: ignored.
        case closed
    }

    /// What is known of a point.
    public enum PointStatus: Sendable, Equatable {
        case confirmed
        /// Confirmed, but the pen has announced better values.
        case estimated
        /// Holds until the next update.
        case predicted
    }

    /// All points to be shown: the confirmed ones, then the predicted ones.
    public private(set) var points: [StrokePoint] = []
    /// How many of ``points`` are confirmed.
    public private(set) var confirmedCount = 0
    public private(set) var phase = Phase.open
    /// Counts the changes; 0 for no point and no change.
    public private(set) var version: UInt64 = 0
    /// Number of the last update; 0 before the first.
    public private(set) var update: Int64 = 0

    private var log: ChangeLog
    /// Samples with values that are still to come, in the order of the points.
    private(set) var estimates: [Estimate] = []

    /// The number of changes that a model remembers unless told otherwise.
    public static let rememberedChanges = 64

    /// Makes a stroke without points.
    /// - Parameter rememberedChanges: how many changes ``changes(since:)`` tells apart, 16 bytes each; 0 for none.
    public init(rememberedChanges: Int = StrokeModel.rememberedChanges) {
        log = ChangeLog(capacity: rememberedChanges)
    }

    /// Makes the stroke of an operation.
    public init(complete points: [StrokePoint]) {
        log = ChangeLog(capacity: 0)
        self.points = points
        confirmedCount = points.count
        version = points.isEmpty ? 0 : 1
        phase = .complete
    }

    /// The confirmed points.
    public var confirmed: ArraySlice<StrokePoint> { points[..<confirmedCount] }

    /// The predicted points, which come after the confirmed ones.
    public var predicted: ArraySlice<StrokePoint> { points[confirmedCount...] }

    /// Whether no point will change any more, but for the operation.
    public var isSettled: Bool { phase != .open && estimates.isEmpty }

    /// What is known of a point.
    /// - Precondition: `place` is one of ``points``.
    public func status(of place: Int) -> PointStatus {
        guard place < confirmedCount else { return .predicted }
        return estimates.contains { $0.place == place } ? .estimated : .confirmed
    }
}

// MARK: - Updates

extension StrokeModel {
    /// Why an update would be ignored; nil where it would be taken.
    /// - Parameters:
    ///   - update: its number, from 1; nil where updates have none and none is lost, as on `.wet.<cohort>`.
    ///   - first: the place of its first point.
    public func refusal(of update: Int64?, first: Int) -> Outcome? {
        guard phase == .open || phase == .ended else { return .closed }
        if let update, update <= self.update { return .repeated }
        return first <= confirmedCount ? nil : .gap
    }

    /// Takes an update: its points take the places from `first` on, those behind them stay, and its predicted points
    /// replace those of the last update.
    /// - Parameter update: its number, from 1; nil where updates have none.
    public mutating func receive(_ points: WetPoints, update: Int64? = nil) -> Outcome {
        if let refusal = refusal(of: update, first: points.first) { return refusal }
        self.update = update ?? self.update
        return .taken(firstChanged: replace(from: points.first, by: points.points, predicted: points.predicted))
    }

    /// Gives the stroke up: nothing of it stays.
    /// - Parameter update: the number of the update that says so, if it has one.
    @discardableResult
    public mutating func cancel(update: Int64? = nil) -> Outcome {
        if let refusal = refusal(of: update, first: 0) { return refusal }
        self.update = update ?? self.update
        phase = .cancelled
        estimates = []
        let isChanged = confirmedCount > 0
        set([])
        return .taken(firstChanged: isChanged ? 0 : nil)
    }

    /// Ends the stroke with the points of its operation, whatever the updates said. Nothing is taken afterwards.
    public mutating func complete(with points: [StrokePoint]) {
        phase = .complete
        estimates = []
        set(points)
    }

    /// The points that changed since a version, as an update for others who know the stroke as it was then: with all
    /// predicted points.
    public func update(since version: UInt64, style: WetStrokeStyle) -> WetPoints {
        let changed = changes(since: version)?.places.clamped(to: 0..<confirmedCount) ?? confirmedCount..<confirmedCount
        return WetPoints(
            style: style, first: changed.lowerBound, points: Array(points[changed]), predicted: Array(predicted))
    }
}

// MARK: - Changes

extension StrokeModel {
    /// Places of points that differ from what they were.
    public struct Change: Sendable, Equatable {
        /// From the first to the last place with another point, or another status, than before, or with none before.
        public var places: Range<Int>
        /// The number of points now. Those that were at this place and behind it are gone.
        public var count: Int

        public init(places: Range<Int>, count: Int) {
            self.places = places
            self.count = count
        }
    }

    /// What has changed since a version; nil for nothing. Since a version that is no longer remembered, all places have.
    ///
    /// The range is the hull of what each change touched: two changes far apart have the points between them in it, and
    /// a point that was changed and changed back is in it, too.
    public func changes(since version: UInt64) -> Change? {
        guard version != self.version else { return nil }
        let range = log.hull(after: version, through: self.version) ?? 0..<points.count
        return Change(places: range.clamped(to: 0..<points.count), count: points.count)
    }

    /// Puts points to the places from `first` on, which are confirmed then, and others behind the confirmed ones.
    /// - Returns: the first place with another confirmed point than before; nil where there is none.
    mutating func replace(
        from first: Int, by new: [StrokePoint], predicted: [StrokePoint]
    ) -> Int? {
        var touched = TouchedPlaces()
        var firstChanged: Int?
        let known = confirmedCount
        confirmedCount = max(known, first + new.count)
        for (offset, point) in new.enumerated() {
            let place = first + offset
            let isOther = put(point, at: place)
            guard isOther || place >= known else { continue }
            touched.insert(place)
            firstChanged = firstChanged ?? place
        }
        predict(predicted, known: known, &touched)
        note(touched)
        return firstChanged
    }

    /// Puts predicted points behind the confirmed ones.
    private mutating func predict(_ predicted: [StrokePoint], known: Int, _ touched: inout TouchedPlaces) {
        for (offset, point) in predicted.enumerated() where put(point, at: confirmedCount + offset) {
            touched.insert(confirmedCount + offset)
        }
        let end = confirmedCount + predicted.count
        guard points.count > end else { return }
        points.removeLast(points.count - end)
        touched.cut(at: end)
    }

    /// Puts a point to a place, at most behind the last.
    /// - Returns: whether there was none, or another one.
    private mutating func put(_ point: StrokePoint, at place: Int) -> Bool {
        if place == points.count {
            points.append(point)
        } else if points[place] == point {
            return false
        } else {
            points[place] = point
        }
        return true
    }

    /// Makes the points these, all confirmed.
    private mutating func set(_ new: [StrokePoint]) {
        var touched = TouchedPlaces()
        let known = confirmedCount
        if new.count < points.count {
            points.removeLast(points.count - new.count)
            touched.cut(at: new.count)
        }
        confirmedCount = new.count
        for (place, point) in new.enumerated() {
            let isOther = put(point, at: place)
            if isOther || place >= known { touched.insert(place) }
        }
        note(touched)
    }

    private mutating func note(_ touched: TouchedPlaces) {
        guard let range = touched.range else { return }
        version += 1
        log.add(range, version: version)
    }

    fileprivate struct TouchedPlaces {
        private var lower = Int.max
        private var upper = 0

        mutating func insert(_ place: Int) {
            lower = min(lower, place)
            upper = max(upper, place + 1)
        }

        /// Nothing is left from a place on.
        mutating func cut(at place: Int) { lower = min(lower, place) }

        /// nil where nothing has changed; empty where points are gone and none is another.
        var range: Range<Int>? { lower == .max ? nil : lower..<max(lower, upper) }
    }
}

/// The last changes of a list, a bounded number of them.
struct ChangeLog: Sendable {
    private struct Entry {
        var lower: Int
        var upper: Int
    }

    /// By the version modulo ``capacity``.
    private var entries: [Entry] = []
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(0, capacity) }

    /// Notes the places that a change has touched. Versions come one after the other, from 1.
    mutating func add(_ places: Range<Int>, version: UInt64) {
        guard capacity > 0 else { return }
        let entry = Entry(lower: places.lowerBound, upper: places.upperBound)
        if entries.count < capacity {
            entries.append(entry)
        } else {
            entries[Int((version - 1) % UInt64(capacity))] = entry
        }
    }

    /// The hull of all places touched after a version, up to and including another one; nil where that is not known.
    func hull(after version: UInt64, through last: UInt64) -> Range<Int>? {
        guard version < last, last - version <= UInt64(entries.count) else { return nil }
        var lower = Int.max
        var upper = 0
        for later in version + 1...last {
            let entry = entries[Int((later - 1) % UInt64(capacity))]
            lower = min(lower, entry.lower)
            upper = max(upper, entry.upper)
        }
        return lower..<max(lower, upper)
    }
}

// MARK: - Late values

extension StrokeModel {
    /// A sample with values that are still to come.
    struct Estimate: Sendable {
        let index: Int64
        let place: Int
        var expected: TouchProperties
    }

    /// Samples that may wait for values. Those of older samples are ignored when they come.
    public static let awaitedSamples = 1024

    mutating func expect(_ expected: TouchProperties, of place: Int, index: Int64) {
        if estimates.count == Self.awaitedSamples { estimates.removeFirst() }
        estimates.append(Estimate(index: index, place: place, expected: expected))
    }

    mutating func end() {
        if phase == .open { phase = .ended }
    }

    /// Takes values that a pen delivers late: those that the sample was announced to get, and none else.
    public mutating func receive(_ late: LateTouchValues) -> Outcome {
        guard phase == .open || phase == .ended else { return .closed }
        guard let waiting = estimates.firstIndex(where: { $0.index == late.estimationIndex }) else { return .gap }
        let (place, expected) = (estimates[waiting].place, estimates[waiting].expected)
        let left = expected.intersection(late.stillExpected)
        if left.isEmpty { estimates.remove(at: waiting) } else { estimates[waiting].expected = left }
        var touched = TouchedPlaces()
        let isOther = put(late.point.merged(into: points[place], expected), at: place)
        if isOther || left.isEmpty { touched.insert(place) }
        note(touched)
        return .taken(firstChanged: isOther ? place : nil)
    }
}
