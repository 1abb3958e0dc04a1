public import StrokeWire

/// The centre line of a ``StrokeModel`` in one style, kept up to date: only what lies behind the first changed point is
/// traced again, and only segments that come out different count as changed.
///
/// It is exactly the line of an ``InkStroke`` with the same points, predicted ones included. It remembers its last
/// changes, so that several renderers may follow one path at their own pace; since a version before them, everything has
/// changed. Takes about 80 bytes a segment, and a tracer for each ``pointsPerCheckpoint`` points.
public struct StrokePath: Sendable {
    public let element: Element
    public let style: InkStyle
    /// The line width in board units.
    public let width: Double
    /// See ``InkStroke/unit``.
    public let unit: Double
    /// See ``InkStroke/tip``.
    public let tip: InkTip
    /// The whole line: one `begin`, then all segments.
    public private(set) var segments: [PathSegment] = []
    /// The version of the model that the path shows.
    public private(set) var version: UInt64 = 0

    /// Tracers before the points 0, 16, 32 …, and how many segments they have made.
    private var checkpoints: [Checkpoint]
    /// The last changes, the oldest first.
    private var changes: [Change] = []
    /// The version after the last change that is no longer remembered.
    private var forgotten: UInt64 = 0

    private struct Checkpoint: Sendable {
        var tracer: StrokeTracer
        var segmentCount: Int
    }

    /// As many points at most are traced again before the first changed one.
    public static let pointsPerCheckpoint = 16
    /// The number of changes that a path remembers.
    public static let rememberedChanges = 32

    /// Makes the path of a stroke without points.
    /// - Parameters:
    ///   - width: the line width in board units.
    ///   - unit: see ``InkStroke/unit``.
    ///   - tip: see ``InkStroke/tip``.
    public init(element: Element, style: InkStyle, width: Double, unit: Double = 1, tip: InkTip = .round) {
        self.element = element
        self.style = style
        self.width = width
        self.unit = unit
        self.tip = tip
        let tracer = StrokeTracer(element: element, style: style, width: width, unit: unit, tip: tip)
        checkpoints = [Checkpoint(tracer: tracer, segmentCount: 0)]
    }

    /// The whole stroke, with the points of a model.
    public func stroke(of model: StrokeModel) -> InkStroke {
        InkStroke(element: element, style: style, width: width, points: model.points, unit: unit, tip: tip)
    }

    /// What differs between two versions of a path.
    public struct Change: Sendable, Equatable {
        /// The version before.
        public var since: UInt64
        /// The version after.
        public var version: UInt64
        /// From the first to the last segment that lies elsewhere, or has another width or opacity, than the one that had
        /// its place, or where there was none. Empty where segments are gone and none is another.
        public var segments: Range<Int>
        /// The number of segments now. Those that were at this place and behind it are gone.
        public var count: Int
        /// Around all that was or is drawn of changed segments, in board units.
        public var box: BoundingBox
        /// Around all that was or is drawn from the first changed segment to the end. Ink that depends on the way so far
        /// changes within it: stamps, which are placed by the length of the line, and the cuts of an outline.
        public var tailBox: BoundingBox

        fileprivate func followed(by later: Change) -> Change {
            let lower = min(segments.lowerBound, later.segments.lowerBound, later.count)
            let upper = min(max(segments.upperBound, later.segments.upperBound), later.count)
            return Change(
                since: since, version: later.version, segments: lower..<max(lower, upper), count: later.count,
                box: box.union(later.box), tailBox: tailBox.union(later.tailBox))
        }
    }

    /// Goes on to the points that a model has now: always one and the same model.
    /// - Returns: what has changed; nil for nothing.
    @discardableResult
    public mutating func update(to model: StrokeModel) -> Change? {
        guard let changed = model.changes(since: version) else { return nil }
        let since = version
        version = model.version
        let from = min(changed.places.lowerBound / Self.pointsPerCheckpoint, checkpoints.count - 1)
        checkpoints.removeLast(checkpoints.count - 1 - from)
        var tracer = checkpoints[from].tracer
        var writer = PathWriter(segments: segments, next: checkpoints[from].segmentCount)
        // The writer has them alone, so that they are not copied.
        segments = []
        var place = from * Self.pointsPerCheckpoint
        while place < model.points.count {
            let end = min(place + Self.pointsPerCheckpoint, model.points.count)
            tracer.add(model.points[place..<end], into: &writer)
            if end - place == Self.pointsPerCheckpoint {
                checkpoints.append(Checkpoint(tracer: tracer, segmentCount: writer.next))
            }
            place = end
        }
        tracer.finish(into: &writer)
        writer.finish()
        segments = writer.segments
        guard let first = writer.firstChanged else { return nil }
        let change = Change(
            since: since, version: version, segments: first..<max(first, writer.changedEnd), count: segments.count,
            box: writer.box, tailBox: writer.tailBox)
        if changes.count == Self.rememberedChanges { forgotten = changes.removeFirst().version }
        changes.append(change)
        return change
    }

    /// What has changed since a version that the path had; nil for nothing. Since one that is no longer remembered,
    /// everything has, and no box bounds what was drawn then.
    public func changes(since version: UInt64) -> Change? {
        guard version < self.version else { return nil }
        guard let first = changes.firstIndex(where: { $0.version > version }) else { return nil }
        guard version >= forgotten else {
            return Change(
                since: version, version: self.version, segments: 0..<segments.count, count: segments.count,
                box: .everything, tailBox: .everything)
        }
        return changes[(first + 1)...].reduce(changes[first]) { $0.followed(by: $1) }
    }

    /// Sends the line to a sink, from a segment on.
    public func trace(from first: Int = 0, into sink: inout some CurveSink) {
        for segment in segments[min(first, segments.count)...] { segment.send(to: &sink) }
    }
}

/// A part of a centre line: what a ``CurveSink`` gets in one call.
public struct PathSegment: Sendable, Equatable {
    /// The curve of the segment; `begin` starts a line and draws nothing.
    public enum Kind: UInt8, Sendable {
        case begin, line, quadratic, cubic
        /// A quadratic with a quadratic nib: ``SwellingQuadratic``.
        case swelling
    }

    /// The nibs of a ``Kind/swelling`` segment beside that at its end.
    public struct Swelling: Sendable, Equatable {
        public var start: Nib
        public var control: Nib
    }

    public var kind: Kind
    /// The control of a quadratic, the first of a cubic; else where the segment ends.
    public var control1: Vector
    /// The second control of a cubic, the start of a swelling quadratic; else where the segment ends.
    public var control2: Vector
    public var end: Vector
    /// The nib at the end.
    public var nib: Nib
    /// The other nibs of a swelling quadratic.
    public var swelling: Swelling?

    /// Sends the segment to a sink.
    public func send(to sink: inout some CurveSink) {
        switch kind {
        case .begin: sink.begin(at: end, nib: nib)
        case .line: sink.line(to: end, nib: nib)
        case .quadratic: sink.quadratic(control: control1, to: end, nib: nib)
        case .cubic: sink.cubic(control1: control1, control2: control2, to: end, nib: nib)
        case .swelling:
            sink.quadratic(
                SwellingQuadratic(
                    start: PenSample(position: control2, nib: swelling?.start ?? nib),
                    control: PenSample(position: control1, nib: swelling?.control ?? nib),
                    end: PenSample(position: end, nib: nib)))
        }
    }

    /// Around all that is drawn of it: its controls, whose hull contains the curve, and the nibs at both ends.
    fileprivate func box(after last: PathSegment?) -> BoundingBox {
        var box = BoundingBox(around: end, radius: nib.width * 0.5)
        guard let last, kind != .begin else { return box }
        let radius = max(last.nib.width, nib.width, swelling?.control.width ?? 0) * 0.5
        for corner in [last.end, control1, control2, end] { box.formUnion(BoundingBox(around: corner, radius: radius)) }
        return box
    }
}

/// A rectangle in board units; empty until something is added.
public struct BoundingBox: Sendable, Equatable {
    public private(set) var low = Vector(repeating: .infinity)
    public private(set) var high = Vector(repeating: -.infinity)

    public init() {}

    /// A square around a place.
    public init(around centre: Vector, radius: Double) {
        low = centre - radius
        high = centre + radius
    }

    /// The whole plane.
    public static let everything = BoundingBox(around: .zero, radius: .infinity)

    public var isEmpty: Bool { low.x > high.x || low.y > high.y }

    public mutating func formUnion(_ other: BoundingBox) {
        low = pointwiseMin(low, other.low)
        high = pointwiseMax(high, other.high)
    }

    public func union(_ other: BoundingBox) -> BoundingBox {
        var box = self
        box.formUnion(other)
        return box
    }
}

/// Writes segments over those of an earlier version, and finds out which differ.
private struct PathWriter: CurveSink {
    private(set) var segments: [PathSegment]
    /// Where the next segment goes.
    private(set) var next: Int
    private(set) var firstChanged: Int?
    /// Behind the last changed segment.
    private(set) var changedEnd = 0
    private(set) var box = BoundingBox()
    private(set) var tailBox = BoundingBox()
    /// The segments before ``next`` as they were and as they are.
    private var lastOld: PathSegment?
    private var lastNew: PathSegment?

    init(segments: [PathSegment], next: Int) {
        self.segments = segments
        self.next = next
        lastNew = next > 0 ? segments[next - 1] : nil
        lastOld = lastNew
    }

    mutating func begin(at point: Vector, nib: Nib) {
        write(PathSegment(kind: .begin, control1: point, control2: point, end: point, nib: nib))
    }

    mutating func line(to end: Vector, nib: Nib) {
        write(PathSegment(kind: .line, control1: end, control2: end, end: end, nib: nib))
    }

    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        write(PathSegment(kind: .quadratic, control1: control, control2: end, end: end, nib: nib))
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        write(PathSegment(kind: .cubic, control1: control1, control2: control2, end: end, nib: nib))
    }

    mutating func quadratic(_ segment: SwellingQuadratic) {
        write(
            PathSegment(
                kind: .swelling, control1: segment.control.position, control2: segment.start.position,
                end: segment.end.position, nib: segment.end.nib,
                swelling: .init(start: segment.start.nib, control: segment.control.nib)))
    }

    private mutating func write(_ segment: PathSegment) {
        let old = next < segments.count ? segments[next] : nil
        // A segment begins where the one before it ends.
        let isSame = old == segment && (segment.kind == .begin || Self.endsAlike(lastOld, lastNew))
        if let old { note(old.box(after: lastOld), isSame: isSame) }
        note(segment.box(after: lastNew), isSame: isSame)
        if !isSame { changedEnd = next + 1 }
        if old == nil { segments.append(segment) } else { segments[next] = segment }
        (lastOld, lastNew) = (old ?? lastOld, segment)
        next += 1
    }

    private static func endsAlike(_ a: PathSegment?, _ b: PathSegment?) -> Bool { a?.end == b?.end && a?.nib == b?.nib }

    private mutating func note(_ area: BoundingBox, isSame: Bool) {
        if !isSame {
            firstChanged = firstChanged ?? next
            box.formUnion(area)
        }
        if firstChanged != nil { tailBox.formUnion(area) }
    }

    /// Removes the segments that were there before and are not written again.
    mutating func finish() {
        for place in next..<max(next, segments.count) {
            let old = segments[place]
            firstChanged = firstChanged ?? next
            box.formUnion(old.box(after: lastOld))
            tailBox.formUnion(old.box(after: lastOld))
            lastOld = old
        }
        segments.removeLast(max(segments.count - next, 0))
    }
}
