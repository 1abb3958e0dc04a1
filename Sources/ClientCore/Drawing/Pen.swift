internal import Ink
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

    /// A stroke that begins with a point; without one where its place is no number.
    init(_ sample: Pen.Sample, isErasing: Bool = false) {
        (self.isErasing, start) = (isErasing, sample.time)
        add(sample)
    }

    fileprivate init(points: [StrokePoint] = [], isErasing: Bool, start: Double) {
        (self.points, self.isErasing, self.start) = (points, isErasing, start)
    }

    /// Adds a point; not where the pen rests.
    /// - Parameter constraint: what it is held to from the first point on.
    mutating func add(_ sample: Pen.Sample, held constraint: Pen.Constraint? = nil) {
        guard sample.x.isFinite, sample.y.isFinite else { return }
        var point = point(sample)
        if let first = points.first, let constraint { constraint.hold(&point, to: first) }
        if let last = points.last, last.x == point.x, last.y == point.y, last.force == point.force { return }
        points.append(point)
    }

    fileprivate func point(_ sample: Pen.Sample) -> StrokePoint {
        StrokePoint(
            x: min(max(sample.x, -Pen.mostCoordinate), Pen.mostCoordinate).rounded(parts: 100),
            y: min(max(sample.y, -Pen.mostCoordinate), Pen.mostCoordinate).rounded(parts: 100),
            force: sample.force?.rounded(parts: 1000), altitude: sample.altitude?.rounded(parts: 1000),
            azimuth: sample.azimuth?.rounded(parts: 1000),
            milliseconds: max(sample.time - start, 0).rounded(parts: 10))
    }

    /// The points until so many milliseconds after the first: the last one says how long the pen has rested there.
    func points(until milliseconds: Double) -> [StrokePoint] {
        guard var last = points.last, last.milliseconds ?? 0 < milliseconds else { return points }
        last.milliseconds = milliseconds.rounded(parts: 10)
        return points + [last]
    }

    /// The pen has rested at the last point until a time in milliseconds.
    fileprivate mutating func rested(until time: Double) {
        guard let last = points.indices.last, time.isFinite else { return }
        points[last].milliseconds = max(time - start, points[last].milliseconds ?? 0).rounded(parts: 10)
    }

    /// The stroke of an even shape in its place, from the time at which it began to the end.
    fileprivate func made(_ shape: EvenShape, end: Double) -> PenStroke {
        var stroke = PenStroke(isErasing: isErasing, start: start)
        let first = points.first
        let places = shape.places
        for (place, point) in places.enumerated() {
            let part = places.count > 1 ? Double(place) / Double(places.count - 1) : 0
            stroke.points.append(
                StrokePoint(
                    x: point.x.rounded(parts: 100), y: point.y.rounded(parts: 100), force: first?.force,
                    altitude: first?.altitude, azimuth: first?.azimuth, milliseconds: (end * part).rounded(parts: 10)))
        }
        return stroke
    }

    /// The rest of the stroke, which begins where the pen is so many milliseconds after the first point.
    func rest(after milliseconds: Double) -> PenStroke {
        var points = Array(points.suffix(1))
        if !points.isEmpty { points[0].milliseconds = 0 }
        return PenStroke(points: points, isErasing: isErasing, start: start + milliseconds)
    }
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
        /// So many fingers, 2 or 3, have tapped the board; 0 for no tap. Two mean undo, three redo.
        public var tap = 0

        public init(
            isCancelled: Bool = false, hasBegun: Bool = false, first: Int? = nil, hasEnded: Bool = false, tap: Int = 0
        ) {
            (self.isCancelled, self.hasBegun, self.first, self.hasEnded) = (isCancelled, hasBegun, first, hasEnded)
            self.tap = tap
        }
    }

    /// A geometric rule that each stroke keeps to, relative to its first point.
    public enum Constraint: Sendable, Equatable {
        /// Its last point lies at a multiple of 15° from the first: for lines and arrows.
        case angle
        /// Its box is a square: for ellipses and rectangles.
        case square
    }

    /// Points of one stroke at most; a longer one is ended.
    public static let mostPoints = 50_000
    /// Points that are predicted, at most.
    public static let mostPredicted = 8
    /// Size of a coordinate at most, as in messages.
    fileprivate static let mostCoordinate = 65536.0
    /// A touch so long after the pen is the palm, in milliseconds.
    private static let palmTime = 1500.0
    /// A tap takes so long at most, in milliseconds, and moves so far in board units.
    private static let (tapTime, tapReach) = (300.0, 24.0)

    /// Whether strokes begin.
    public var isEnabled = false
    /// Whether fingers draw, too.
    public var drawsWithFingers = true
    /// What points that come are held to; nil for none.
    public var constraint: Constraint?
    /// What is being drawn, or was last.
    public private(set) var stroke = PenStroke(isErasing: false, start: 0)
    /// The pointer that draws.
    private var drawing: Pointer?
    /// Whether the stroke is an even shape already: nothing is added.
    private var isShaped = false
    private var penTime = -Double.infinity
    private var fingers: Set<Int> = []
    /// The fingers since the board was touched by none, where they touched it; nil where they do not tap.
    private var tapping: (places: [Int: SIMD2<Double>], start: Double)?

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
            // The hand often touches before the pen does, and taps nothing then.
            tapping = nil
            if drawing?.kind == .touch { change.isCancelled = end() }
        }
        if pointer.kind == .touch {
            // The only one, whatever was missed of others.
            if pointer.isPrimary { fingers.removeAll() }
            if fingers.isEmpty { tapping = ([:], sample.time) }
            fingers.insert(pointer.id)
            tapping?.places[pointer.id] = SIMD2(sample.x, sample.y)
            if sample.time - penTime < Self.palmTime { tapping = nil }
            if fingers.count > 1 {
                if drawing?.kind == .touch { change.isCancelled = end() }
                return change
            }
        }
        let isPalm = pointer.kind == .touch && sample.time - penTime < Self.palmTime
        guard draws(pointer.kind), !isPalm, drawing == nil else { return change }
        (drawing, isShaped) = (pointer, false)
        stroke = PenStroke(sample, isErasing: pointer.kind == .pen && pointer.isEraser)
        change.hasBegun = true
        return change
    }

    /// A pointer has moved.
    /// - Parameters:
    ///   - samples: all since the last call, oldest first.
    ///   - predicted: where it is expected next.
    public mutating func move(_ id: Int, kind: Kind, _ samples: [Sample], predicted: [Sample] = []) -> Change {
        if kind == .pen, let last = samples.last { penTime = last.time }
        if kind == .touch, let place = tapping?.places[id] {
            let isFar = samples.contains { abs($0.x - place.x) > Self.tapReach || abs($0.y - place.y) > Self.tapReach }
            if isFar { tapping = nil }
        }
        guard id == drawing?.id, !isShaped else { return Change() }
        let count = stroke.points.count
        for sample in samples { stroke.add(sample, held: constraint) }
        stroke.predicted.removeAll(keepingCapacity: true)
        for sample in predicted.prefix(Self.mostPredicted) where sample.x.isFinite && sample.y.isFinite {
            stroke.predicted.append(stroke.point(sample))
        }
        var change = Change(first: stroke.points.count > count ? count : nil)
        if stroke.points.count >= Self.mostPoints { change.hasEnded = end() }
        return change
    }

    /// A pointer rests where it is. A rough shape becomes an even one, which the rest of the stroke does not change.
    /// - Parameters:
    ///   - time: now, on the clock of samples.
    ///   - reach: board units within which it rests.
    /// - Returns: the shape, and the rough stroke; nil where there is none.
    mutating func rest(_ id: Int, at time: Double, within reach: Double) -> (shape: EvenShape, rough: PenStroke)? {
        guard id == drawing?.id, !isShaped, !stroke.isErasing,
            let points = ShapeRecognizer.beforeRest(stroke.points, until: time - stroke.start, within: reach),
            let shape = ShapeRecognizer.shape(of: points)
        else { return nil }
        let rough = stroke
        stroke = rough.made(shape, end: time - stroke.start)
        isShaped = true
        return (shape, rough)
    }

    /// Values of a point of the stroke being drawn have come late, as those of UIKit's estimated touches do.
    /// - Parameter place: index of the point.
    public mutating func revise(_ place: Int, _ sample: Sample) -> Change {
        guard isDown, !isShaped, stroke.points.indices.contains(place) else { return Change() }
        var point = stroke.point(sample)
        point.milliseconds = stroke.points[place].milliseconds
        guard stroke.points[place] != point else { return Change() }
        stroke.points[place] = point
        return Change(first: place)
    }

    /// A pointer is lifted, or the system has taken it away without a word on its stroke.
    /// - Parameter time: of the lift, on the clock of samples.
    public mutating func up(_ id: Int, time: Double) -> Change {
        let wasFinger = fingers.remove(id) != nil
        if id == drawing?.id, isShaped { stroke.rested(until: time) }
        var change = Change(hasEnded: id == drawing?.id ? end() : false)
        if wasFinger, fingers.isEmpty, let tapping {
            let count = tapping.places.count
            if (2...3).contains(count), time - tapping.start < Self.tapTime { change.tap = count }
            self.tapping = nil
        }
        return change
    }

    /// The system takes the stroke of a pointer back.
    public mutating func cancel(_ id: Int) -> Change {
        fingers.remove(id)
        tapping = nil
        return Change(isCancelled: id == drawing?.id ? end() : false)
    }

    /// Goes on in another stroke from so many milliseconds after the first point.
    mutating func cut(after milliseconds: Double) { stroke = stroke.rest(after: milliseconds) }

    private mutating func end() -> Bool {
        drawing = nil
        return true
    }
}

extension Pen.Constraint {
    /// Every 15°, by the cosines of 0°, 15° … 90°.
    private static let directions: [SIMD2<Double>] = {
        let cosines = [
            1, 0.965_925_826_289_068_3, 0.866_025_403_784_438_6, 0.707_106_781_186_547_5, 0.5,
            0.258_819_045_102_520_76, 0,
        ]
        return (0..<6).flatMap { place -> [SIMD2<Double>] in
            let (x, y) = (cosines[place], cosines[6 - place])
            return [SIMD2(x, y), SIMD2(-y, x), SIMD2(-x, -y), SIMD2(y, -x)]
        }
    }()

    /// Moves a point to where the constraint has it.
    fileprivate func hold(_ point: inout StrokePoint, to first: StrokePoint) {
        let (x, y) = (point.x - first.x, point.y - first.y)
        switch self {
        case .square:
            let side = max(abs(x), abs(y))
            (point.x, point.y) = (first.x + (x < 0 ? -side : side), first.y + (y < 0 ? -side : side))
        case .angle:
            // The nearest of 24 directions: where the point lies farthest along.
            var (best, along) = (SIMD2(0.0, 0.0), -Double.infinity)
            for direction in Self.directions {
                let length = x * direction.x + y * direction.y
                if length > along { (best, along) = (direction, length) }
            }
            (point.x, point.y) = (first.x + best.x * along, first.y + best.y * along)
        }
        point.x = min(max(point.x, -Pen.mostCoordinate), Pen.mostCoordinate).rounded(parts: 100)
        point.y = min(max(point.y, -Pen.mostCoordinate), Pen.mostCoordinate).rounded(parts: 100)
    }
}

extension Double {
    /// The nearest multiple of a part of 1, which has few digits.
    func rounded(parts: Double) -> Double { (self * parts).rounded() / parts }
}
