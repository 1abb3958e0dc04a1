public import PathGeometry

/// One visible entry of a page, as an area of the board: what a display list is made of.
///
/// Coordinates are board units, x to the right and y down. Areas are filled by the nonzero rule.
public enum SceneEntry: Sendable {
    /// Ink or an image, with the area on which it draws: the outline of ink that is evenly filled, and else an area that it
    /// does not leave, such as an image's rectangle.
    case drawing(Path)
    /// Removes what is below it.
    case eraser(Path)
    /// Moves, copies or removes what is below it and inside a path.
    case lasso(Lasso)
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
        self.points = points
        self.map = map
        self.keepsOriginal = keepsOriginal
    }
}

/// A part of a page's picture: a drawing, or what lassos and erasers have left of it.
public struct DisplayItem: Sendable, Equatable {
    /// The index of its drawing among the entries.
    public fileprivate(set) var entry: Int
    /// The area that is shown, after the move: a path of its own for ink that is evenly filled, and a clip for what ``map``
    /// makes of any other drawing. Nonzero rule; curves of the drawing's area and of erasers are still curves.
    public fileprivate(set) var area: Path
    /// How the drawing is moved.
    public fileprivate(set) var map: AffineMap
    public fileprivate(set) var isMoved: Bool
    /// Whether the area is less than the moved one of the drawing.
    public fileprivate(set) var isCut: Bool
    /// A box around the area: that of its control points.
    public fileprivate(set) var bounds: Box
    /// How many segments the area has.
    public fileprivate(set) var segmentCount: Int

    /// Whether the drawing is shown as it was drawn.
    public var isOriginal: Bool { !isMoved && !isCut }

    fileprivate init(entry: Int, area: Path) {
        self.entry = entry
        self.area = area
        map = .identity
        isMoved = false
        isCut = false
        bounds = area.controlBounds
        segmentCount = area.segmentCount
    }

    fileprivate func cut(to area: Path) -> DisplayItem {
        var item = self
        item.area = area
        item.isCut = true
        item.bounds = area.controlBounds
        item.segmentCount = area.segmentCount
        return item
    }

    /// The item in another place; nil where nothing of it can be seen: where all of it becomes a line, or is beyond all
    /// numbers.
    fileprivate func moved(by map: AffineMap) -> DisplayItem? {
        var item = self
        item.map = self.map.followed(by: map)
        guard item.map.determinant != 0, item.map.determinant.isFinite else { return nil }
        item.area = area.transformed(by: map).clamped(to: DisplayList.maxCoordinate)
        item.bounds = item.area.controlBounds
        item.isMoved = true
        return (item.bounds.upper - item.bounds.lower).min() > 0 ? item : nil
    }
}

/// The picture of a page as areas on each other, with lassos applied and erasers subtracted.
///
/// A lasso makes of each item below it one that is cut to the outside of its path, in place, and above all of these, in the
/// same order, one that is cut to the inside and moved. An eraser is subtracted from the items below it, so that what it has
/// removed moves with the ink, and it removes nothing of what it is moved over. Nothing is painted white and nothing is
/// masked: the items, painted from the first to the last, are the picture.
///
/// Entries are applied in order, each to the items in its box alone, by ``PathCutter``: O(items) to look at all boxes and
/// O(m log m) for an item of m segments that a border crosses. A lasso without `keepsOriginal` adds as many items as its path
/// cuts, and one with it as many as are inside: n nested ones on as many drawings, each copied, are 2ⁿ times as many, and so
/// are those of n lassos that each fold the page onto itself. So a lasso or an eraser is not applied, and is told in
/// ``skippedEntries``, that would lead to more than 65,536 items or 1,048,576 segments of 80 bytes, or for which, with those
/// before it, more than 524,288 items or 8,388,608 segments would be compared with a border.
public struct DisplayList: Sendable {
    /// The items, bottom to top, none of them empty.
    public private(set) var items: [DisplayItem] = []
    /// The lassos and erasers that were not applied, as indices of the entries.
    public private(set) var skippedEntries: [Int] = []
    /// The segments of all items' areas.
    private var segmentCount = 0

    /// What lassos and erasers may add up to; the drawings count too, but are never left out.
    package struct Limits: Sendable {
        /// Items of the list.
        package var items = 1 << 16
        /// Segments of all items' areas, of 80 bytes each.
        package var segments = 1 << 20
        /// Items that a lasso or an eraser is compared with, because they are in its box, all together, and their segments:
        /// some seconds of work.
        package var cutItems = 1 << 19
        package var cutSegments = 1 << 23

        package init() {}
    }

    /// Moved coordinates beyond it become it.
    public static let maxCoordinate = 65536.0

    /// What is left of the limits' cuts.
    private var cutItems, cutSegments: Int

    /// - Parameter entries: the visible entries of the page, bottom to top.
    public init(_ entries: some Sequence<SceneEntry>) {
        self.init(entries, limits: Limits())
    }

    package init(_ entries: some Sequence<SceneEntry>, limits: Limits) {
        (cutItems, cutSegments) = (limits.cutItems, limits.cutSegments)
        for (index, entry) in entries.enumerated() {
            let isApplied: Bool
            switch entry {
            case .drawing(let area):
                add(DisplayItem(entry: index, area: area))
                isApplied = true
            case .eraser(let area): isApplied = erase(area, limits)
            case .lasso(let lasso): isApplied = apply(lasso, limits)
            }
            if !isApplied { skippedEntries.append(index) }
        }
    }

    private mutating func add(_ item: DisplayItem) {
        guard !item.bounds.isEmpty else { return }
        items.append(item)
        segmentCount += item.segmentCount
    }

    private mutating func mayCut(_ item: DisplayItem) -> Bool {
        cutItems -= 1
        cutSegments -= item.segmentCount
        return cutItems >= 0 && cutSegments >= 0
    }

    private mutating func erase(_ area: Path, _ limits: Limits) -> Bool {
        let box = area.controlBounds
        guard items.contains(where: { $0.bounds.intersects(box) }) else { return true }
        let eraser = PathCutter(area, fillRule: .nonzero)
        var segments = segmentCount
        var left: [DisplayItem] = []
        left.reserveCapacity(items.count)
        for item in items {
            guard item.bounds.intersects(box) else {
                left.append(item)
                continue
            }
            guard mayCut(item) else { return false }
            let parts = eraser.cut(item.area)
            guard !parts.inside.isEmpty else {
                left.append(item)
                continue
            }
            segments -= item.segmentCount
            guard !parts.outside.isEmpty else { continue }
            left.append(item.cut(to: parts.outside))
            segments += left[left.count - 1].segmentCount
            guard segments <= limits.segments else { return false }
        }
        (items, segmentCount) = (left, segments)
        return true
    }

    private mutating func apply(_ lasso: Lasso, _ limits: Limits) -> Bool {
        let path = Path(polygon: lasso.points)
        let box = path.controlBounds
        guard items.contains(where: { $0.bounds.intersects(box) }) else { return true }
        let cutter = PathCutter(path, fillRule: .evenOdd)
        var segments = segmentCount
        var left: [DisplayItem] = []
        left.reserveCapacity(items.count)
        var moved: [DisplayItem] = []
        for item in items {
            guard item.bounds.intersects(box) else {
                left.append(item)
                continue
            }
            guard mayCut(item) else { return false }
            let parts = cutter.cut(item.area)
            guard !parts.inside.isEmpty else {
                left.append(item)
                continue
            }
            if lasso.keepsOriginal {
                left.append(item)
            } else {
                segments -= item.segmentCount
                if !parts.outside.isEmpty {
                    left.append(item.cut(to: parts.outside))
                    segments += left[left.count - 1].segmentCount
                }
            }
            if let map = lasso.map,
                let inside = (parts.outside.isEmpty ? item : item.cut(to: parts.inside)).moved(by: map)
            {
                moved.append(inside)
                segments += inside.segmentCount
            }
            guard segments <= limits.segments, left.count + moved.count <= limits.items else { return false }
        }
        (items, segmentCount) = (left + moved, segments)
        return true
    }
}

extension Path {
    fileprivate var segmentCount: Int { contours.reduce(0) { $0 + $1.segments.count } }
}
