public import StrokeWire

/// A stroke under the pen.
public struct PenStroke: Sendable, Equatable {
    /// In board units, with the milliseconds since the first one.
    public fileprivate(set) var points: [StrokePoint] = []
    /// Where the system expects the pen next: never a part of the stroke.
    public fileprivate(set) var predicted: [StrokePoint] = []
    /// Whether the pen's eraser end or button draws it.
    public let isErasing: Bool
    /// Time of the first sample in milliseconds.
    fileprivate let start: Double
}

/// The pointers on a board: pens, fingers and mice, of which one draws.
///
/// A finger does not draw while a pen is used, and of two fingers none draws. It has no clock: samples have times, in
/// milliseconds of any clock that never steps back.
public struct Pen: Sendable {
    /// What touches the board.
    public enum Kind: UInt8, Sendable {
        case mouse, touch, pen
    }

    /// A pointer from when it touches the board until it is lifted.
    public struct Pointer: Sendable, Equatable {
        public let id: Int
        public let kind: Kind
        /// Whether it is the only one of its kind as far as the system knows.
        public let isPrimary: Bool
        /// Whether it is the eraser end of a pen, or its button is held.
        public let isEraser: Bool

        public init(id: Int, kind: Kind, isPrimary: Bool = true, isEraser: Bool = false) {
            (self.id, self.kind, self.isPrimary, self.isEraser) = (id, kind, isPrimary, isEraser)
        }
    }

    /// Where a pointer was at a time.
    public struct Sample: Sendable, Equatable {
        /// In board units.
        public let x, y: Double
        /// In milliseconds.
        public let time: Double
        /// 0 … 1; nil where the device does not know.
        public let force: Double?
        /// In radians, π/2 for an upright pen.
        public let altitude: Double?
        /// In radians.
        public let azimuth: Double?

        public init(
            x: Double, y: Double, time: Double, force: Double? = nil, altitude: Double? = nil, azimuth: Double? = nil
        ) {
            (self.x, self.y, self.time) = (x, y, time)
            (self.force, self.altitude, self.azimuth) = (force, altitude, azimuth)
        }
    }

    /// What has become of the stroke, in the order of the properties.
    public struct Change: Sendable, Equatable {
        /// It is given up; nothing of it stays.
        public var isCancelled = false
        /// A stroke begins.
        public var hasBegun = false
        /// Index of the first point that is new or other than before; nil where only predictions are new, or nothing is.
        public var first: Int?
        /// The pen is lifted.
        public var hasEnded = false

        public init(isCancelled: Bool = false, hasBegun: Bool = false, first: Int? = nil, hasEnded: Bool = false) {
            (self.isCancelled, self.hasBegun, self.first, self.hasEnded) = (isCancelled, hasBegun, first, hasEnded)
        }
    }

    /// Points of one stroke at most; a longer one is ended.
    public static let mostPoints = 50_000
    /// Points that are predicted, at most.
    public static let mostPredicted = 8
    /// Size of a coordinate at most, as in messages.
    private static let mostCoordinate = 65536.0
    /// A touch so long after the pen is the palm, in milliseconds.
    private static let palmTime = 1500.0

    /// Whether strokes begin.
    public var isEnabled = false
    /// Whether fingers draw, too.
    public var drawsWithFingers = true
    /// What is being drawn, or was last.
    public private(set) var stroke = PenStroke(isErasing: false, start: 0)
    /// The pointer that draws.
    private var drawing: Pointer?
    private var penTime = -Double.infinity
    private var fingers: Set<Int> = []

    public init() {}

    /// Whether a stroke is being drawn.
    public var isDown: Bool { drawing != nil }

    /// Whether a touch would draw, or the pen.
    public func draws(_ kind: Kind) -> Bool { isEnabled && (kind != .touch || drawsWithFingers) }

    /// A pointer touches the board.
    public mutating func down(_ pointer: Pointer, _ sample: Sample) -> Change {
        var change = Change()
        if pointer.kind == .pen {
            penTime = sample.time
            // The hand often touches before the pen does.
            if drawing?.kind == .touch { change.isCancelled = end() }
        }
        if pointer.kind == .touch {
            // The only one, whatever was missed of others.
            if pointer.isPrimary { fingers.removeAll() }
            fingers.insert(pointer.id)
            if fingers.count > 1 {
                if drawing?.kind == .touch { change.isCancelled = end() }
                return change
            }
        }
        let isPalm = pointer.kind == .touch && sample.time - penTime < Self.palmTime
        guard draws(pointer.kind), !isPalm, drawing == nil else { return change }
        drawing = pointer
        stroke = PenStroke(isErasing: pointer.kind == .pen && pointer.isEraser, start: sample.time)
        add(sample)
        change.hasBegun = true
        return change
    }

    /// A pointer has moved.
    /// - Parameters:
    ///   - samples: all since the last call, oldest first.
    ///   - predicted: where it is expected next.
    public mutating func move(_ id: Int, kind: Kind, _ samples: [Sample], predicted: [Sample] = []) -> Change {
        if kind == .pen, let last = samples.last { penTime = last.time }
        guard id == drawing?.id else { return Change() }
        let count = stroke.points.count
        for sample in samples { add(sample) }
        stroke.predicted.removeAll(keepingCapacity: true)
        for sample in predicted.prefix(Self.mostPredicted) where sample.x.isFinite && sample.y.isFinite {
            stroke.predicted.append(point(sample))
        }
        var change = Change(first: stroke.points.count > count ? count : nil)
        if stroke.points.count >= Self.mostPoints { change.hasEnded = end() }
        return change
    }

    /// Values of a point of the stroke being drawn have come late, as those of UIKit's estimated touches do.
    /// - Parameter place: index of the point.
    public mutating func revise(_ place: Int, _ sample: Sample) -> Change {
        guard isDown, stroke.points.indices.contains(place) else { return Change() }
        var point = point(sample)
        point.milliseconds = stroke.points[place].milliseconds
        guard stroke.points[place] != point else { return Change() }
        stroke.points[place] = point
        return Change(first: place)
    }

    /// A pointer is lifted, or the system has taken it away without a word on its stroke.
    public mutating func up(_ id: Int) -> Change {
        fingers.remove(id)
        return Change(hasEnded: id == drawing?.id ? end() : false)
    }

    /// The system takes the stroke of a pointer back.
    public mutating func cancel(_ id: Int) -> Change {
        fingers.remove(id)
        return Change(isCancelled: id == drawing?.id ? end() : false)
    }

    private mutating func end() -> Bool {
        drawing = nil
        return true
    }

    private mutating func add(_ sample: Sample) {
        guard sample.x.isFinite, sample.y.isFinite else { return }
        let point = point(sample)
        if let last = stroke.points.last, last.x == point.x, last.y == point.y, last.force == point.force { return }
        stroke.points.append(point)
    }

    private func point(_ sample: Sample) -> StrokePoint {
        StrokePoint(
            x: min(max(sample.x, -Self.mostCoordinate), Self.mostCoordinate).rounded(parts: 100),
            y: min(max(sample.y, -Self.mostCoordinate), Self.mostCoordinate).rounded(parts: 100),
            force: sample.force?.rounded(parts: 1000), altitude: sample.altitude?.rounded(parts: 1000),
            azimuth: sample.azimuth?.rounded(parts: 1000),
            milliseconds: max(sample.time - stroke.start, 0).rounded(parts: 10))
    }
}

extension Double {
    /// The nearest multiple of a part of 1, which has few digits.
    func rounded(parts: Double) -> Double { (self * parts).rounded() / parts }
}
