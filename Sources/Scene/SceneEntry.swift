public import PathGeometry
internal import StrokeWire

/// One visible entry of a page: what a display list is made of.
///
/// Coordinates are board units, x to the right and y down. Areas are filled by the nonzero rule.
public struct SceneEntry: Sendable, Equatable {
    /// The effect of an entry on the page.
    public enum Kind: Sendable, Equatable {
        /// Ink or an image.
        case drawing
        /// Removes what is below it.
        case eraser
        /// Moves, copies or removes what is below it and inside a path.
        case lasso(Lasso)
    }

    /// Tells it from all other entries, and is the same wherever the entry is: the index of its operation.
    public var id: UInt64
    public var kind: Kind
    /// A box around its areas. May be larger than they are, which costs time alone; an empty one is of an entry without any.
    /// That of a lasso is not looked at.
    public var bounds: Box
    /// How much dearer it is to paint than ink that covers as much, and how many boards of ink it counts for at least:
    /// all pixels of an image may be looked at, however small it has become.
    public var coverWeight: Double
    public var leastCover: Double

    public init(id: UInt64, _ kind: Kind, bounds: Box, coverWeight: Double = 1, leastCover: Double = 0) {
        (self.id, self.kind, self.bounds, self.coverWeight, self.leastCover) = (
            id, kind, bounds, coverWeight, leastCover
        )
    }

    public init(id: UInt64, _ lasso: Lasso) {
        self.init(id: id, .lasso(lasso), bounds: Path(polygon: lasso.points).controlBounds)
    }
}

/// A path that takes what is inside of it to another place.
public struct Lasso: Sendable, Equatable {
    /// Its corners; the last one is joined to the first, and what is passed around twice is outside (even–odd rule).
    public var points: [Point]
    /// Where the inside goes; nil to remove it.
    public var map: AffineMap?
    /// Whether the original stays where it is.
    public var keepsOriginal: Bool

    public init(points: [Point], map: AffineMap?, keepsOriginal: Bool = false) {
        (self.points, self.map, self.keepsOriginal) = (points, map, keepsOriginal)
    }
}

/// A part of a page's picture: a drawing as it was drawn, or what lassos and erasers have made of one of its areas.
public struct DisplayItem: Sendable, Equatable {
    /// The part of a drawing that is shown.
    public enum Content: Sendable, Equatable {
        /// All of it, where it was drawn; or an eraser that could not be subtracted, which is to be painted.
        case whole
        /// What is left of the area with that number: a path of its own for ink that is evenly filled, and a clip for what
        /// ``DisplayItem/map`` makes of an image. After the move. Nonzero rule; curves are still curves.
        case area(Int, Path)
    }

    /// The place of its drawing among the entries.
    public let entry: Int
    public fileprivate(set) var content: Content
    /// Equal for equal pictures of one entry: a hash of the entry's id, the area, and the id and side of each lasso and
    /// eraser that has cut or moved it. That of a whole drawing is the entry's id.
    public fileprivate(set) var id: UInt64
    /// How the drawing is moved.
    public fileprivate(set) var map: AffineMap
    public fileprivate(set) var isMoved: Bool
    /// Whether the area is less than the moved one of the drawing.
    public fileprivate(set) var isCut: Bool
    /// A box around what is shown.
    public fileprivate(set) var bounds: Box
    /// How many segments it holds.
    package fileprivate(set) var segmentCount: Int

    let isEraser: Bool
    let coverWeight, leastCover: Double
    /// Of a whole drawing: its areas, once a border came near.
    fileprivate var areas: [Path]?

    /// The area; nil of a whole drawing.
    public var area: Path? {
        if case .area(_, let path) = content { path } else { nil }
    }

    /// Whether the drawing is shown as it was drawn.
    public var isWhole: Bool { content == .whole }

    init(_ entry: SceneEntry, at place: Int) {
        self.entry = place
        content = .whole
        id = entry.id
        map = .identity
        isMoved = false
        isCut = false
        bounds = entry.bounds
        segmentCount = 0
        isEraser = entry.kind == .eraser
        (coverWeight, leastCover) = (entry.coverWeight, entry.leastCover)
    }

    fileprivate init(_ whole: DisplayItem, area number: Int, _ path: Path) {
        self = whole
        content = .area(number, path)
        id = whole.id.chained(UInt64(number), .area)
        areas = nil
        bounds = path.controlBounds
        segmentCount = path.segmentCount
    }

    /// Whether its areas have to be asked for before a border can cut it.
    var needsAreas: Bool { isWhole && areas == nil }

    mutating func take(_ areas: [Path]) {
        self.areas = areas
        segmentCount = areas.reduce(0) { $0 + $1.segmentCount }
    }

    /// The areas that a border can cut: one each, or itself.
    var parts: [DisplayItem] {
        guard isWhole else { return [self] }
        return (areas ?? []).enumerated().map { DisplayItem(self, area: $0.offset, $0.element) }
    }

    func cut(to path: Path, by border: UInt64, _ side: BorderSide) -> DisplayItem {
        guard case .area(let number, _) = content else { return self }
        var item = self
        item.content = .area(number, path)
        item.id = id.chained(border, side)
        item.isCut = true
        item.bounds = path.controlBounds
        item.segmentCount = path.segmentCount
        return item
    }

    /// The item in another place; nil where nothing of it can be seen: where all of it becomes a line, or is beyond all
    /// numbers.
    func moved(by map: AffineMap, _ border: UInt64) -> DisplayItem? {
        guard case .area(let number, let path) = content else { return nil }
        var item = self
        item.map = self.map.followed(by: map)
        guard item.map.determinant != 0, item.map.determinant.isFinite else { return nil }
        let moved = path.transformed(by: map).clamped(to: DisplayList.maxCoordinate)
        item.content = .area(number, moved)
        item.id = id.chained(border, .moved)
        item.bounds = moved.controlBounds
        item.isMoved = true
        return (item.bounds.upper - item.bounds.lower).min() > 0 ? item : nil
    }
}

/// What has become of an item at a border.
enum BorderSide: UInt64 {
    case outside, inside, moved, area
}

extension UInt64 {
    /// A hash of this one, a number and a side.
    func chained(_ number: UInt64, _ side: BorderSide) -> UInt64 {
        splitMix64Finalizer(
            splitMix64Finalizer(self &+ 0x9e37_79b9_7f4a_7c15)
                ^ splitMix64Finalizer(number &* 4 &+ side.rawValue &+ 1))
    }
}

extension Path {
    var segmentCount: Int { contours.reduce(0) { $0 + $1.segments.count } }
}
