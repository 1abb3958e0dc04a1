public import PathGeometry

/// The picture of a page as areas on each other, with lassos applied and erasers subtracted.
///
/// A lasso makes of each item below it one that is cut to the outside of its path, in place, and above all of these, in the
/// same order, one that is cut to the inside and moved. An eraser is a lasso whose inside goes nowhere: what it has removed
/// is gone from the items below, so that the hole moves with the ink, and it removes nothing of what it is moved over.
/// Nothing is painted white and nothing is masked: the items, painted from the first to the last, are the picture.
///
/// Entries are applied in order, each to the items in its box alone, by ``PathCutter``: O(items) to look at all boxes and
/// O(m log m) for an item of m segments that a border crosses. The areas of a drawing are asked for when the first border
/// comes near it; a drawing that none cuts stays whole. A lasso without `keepsOriginal` adds as many items as its path cuts,
/// and one with it as many as are inside: n nested ones on as many drawings, each copied, are 2ⁿ times as many, and so are
/// those of n lassos that each fold the page onto itself. So a lasso or an eraser is not applied, and is told in
/// ``skippedEntries``, that would go beyond the ``Limits``; such an eraser is an item to be painted.
///
/// A value: a list to which entries are added is the same as one made of all of them, whatever the steps.
public struct DisplayList: Sendable {
    /// The items, bottom to top, none of them empty.
    public private(set) var items: [DisplayItem] = []
    /// The lassos and erasers that were not applied, as places among the entries.
    public private(set) var skippedEntries: [Int] = []
    /// How many entries were added.
    public private(set) var entryCount = 0
    /// Items that were compared with borders in whose box they lie, their segments, and the steps that it took: what the list
    /// has cost so far.
    package private(set) var comparedItems = 0
    package private(set) var comparedSegments = 0
    package private(set) var steps: Int64 = 0
    /// The segments of all items' areas.
    package private(set) var segmentCount = 0
    /// How much of the board all drawings cover as they were drawn, each with its box, and how much the areas that borders have
    /// made of them: in boards.
    private var drawnCover = 0.0
    package private(set) var cutCover = 0.0

    private let limits: Limits
    private let board: Box?
    /// What it takes to look at an item, and to keep it.
    private static let stepsOfItem = 8
    /// What it takes to outline a segment.
    private static let stepsOfOutline: Int64 = 64

    /// What lassos and erasers may add up to. Whole drawings count, but are never left out.
    public struct Limits: Sendable, Hashable {
        /// Items of the list.
        public var items = 1 << 16
        /// Segments of all items' areas, of 80 bytes each.
        public var segments = 1 << 20
        /// Items that lassos and erasers are compared with, because they are in their boxes, all together, and their
        /// segments: some seconds of work.
        public var comparedItems = 1 << 19
        public var comparedSegments = 1 << 23
        /// How often areas may cover the board, with their boxes, beyond what drawings cover as they were drawn: a lasso may make
        /// of a dot what fills the page, and copy it. Some seconds of painting.
        public var cover = 1024.0
        /// Steps of all lassos and erasers together: of 3 ns, about. They are counted, so that a service and a browser skip the
        /// same entries.
        public var steps: Int64 = 1 << 32
        /// Steps of a lasso or an eraser.
        public var stepsOfBorder: Int64 = 1 << 31
        /// Steps of an outline that becomes a border or is cut by one. It takes 300 MB with them, about. A lasso of 1,024
        /// points that crosses itself 170,000 times takes half of them.
        public var stepsOfCut: Int64 = 1 << 29

        /// 65,536 items, 1,048,576 segments; 524,288 items compared, and 8,388,608 segments; 1,024 boards covered; 2³² steps, 2³¹
        /// for a border and 2²⁹ for a cut.
        public init() {}

        /// The default ones, or as many items and segments as take at most so many bytes, with what cutting takes besides.
        public init(bytes: Int) {
            segments = min(segments, bytes / Self.segmentBytes)
            items = min(items, bytes / Self.itemBytes)
        }

        /// Bytes that a list within these limits takes at most, about.
        public var bytes: Int { max(segments * Self.segmentBytes, items * Self.itemBytes) }

        /// A segment is kept once, and some of them are in work.
        private static let segmentBytes = 128
        private static let itemBytes = 1024
    }

    /// Moved coordinates beyond it become it.
    public static let maxCoordinate = 65536.0

    /// A list without entries.
    /// - Parameter board: what is seen of the plane. Without it, what areas cover is not counted.
    public init(limits: Limits = Limits(), board: Box? = nil) { (self.limits, self.board) = (limits, board) }

    /// Bytes that the list takes, about.
    public var byteCount: Int { segmentCount * 80 + items.count * 256 }

    /// Adds the next entry of the page, above all others.
    ///
    /// - Parameter outline: returns the areas of an entry by its place: of even ink, or an image's rectangle; nil where they
    ///   have more segments than a list may have, so that no border is applied that needs them. Called when they are needed,
    ///   most often once for each entry, also for one added before.
    public mutating func add(_ entry: SceneEntry, outline: (Int) -> [Path]?) {
        let place = entryCount
        switch entry.kind {
        case .drawing:
            let item = DisplayItem(entry, at: place)
            drawnCover += cover(of: item)
            add(item)
        case .eraser, .lasso:
            guard !apply(entry, at: place, outline) else { break }
            skippedEntries.append(place)
            if entry.kind == .eraser { add(DisplayItem(entry, at: place)) }
        }
        entryCount += 1
    }

    private mutating func apply(_ entry: SceneEntry, at place: Int, _ outline: (Int) -> [Path]?) -> Bool {
        steps += Int64(items.count)
        guard steps <= limits.steps else { return false }
        guard items.contains(where: { $0.isBelow(entry.bounds) }) else { return true }
        guard case .lasso(let lasso) = entry.kind else {
            guard let areas = outlined(place, outline) else { return false }
            let area = Path(areas.flatMap { $0.contours })
            return apply(Border(id: entry.id, area: area, fillRule: .nonzero), outline)
        }
        // One that copies nothing changes nothing.
        guard !lasso.keepsOriginal || lasso.map != nil else { return true }
        let border = Border(
            id: entry.id, area: Path(polygon: lasso.points), fillRule: .evenOdd, map: lasso.map,
            keepsOriginal: lasso.keepsOriginal)
        return apply(border, outline)
    }

    private mutating func add(_ item: DisplayItem) {
        if !item.bounds.isEmpty { items.append(item) }
    }

    /// The areas of an entry, which cost steps also where they are too much.
    private mutating func outlined(_ place: Int, _ outline: (Int) -> [Path]?) -> [Path]? {
        let areas = outline(place)
        let segments = areas.map { $0.reduce(0) { $0 + $1.segmentCount } } ?? limits.segments
        steps += Int64(segments) * Self.stepsOfOutline
        return areas
    }

    /// How much of the board an item covers, with its box, in boards of ink.
    private func cover(of item: DisplayItem) -> Double {
        guard let board, item.bounds.intersects(board) else { return 0 }
        let low = pointwiseMax(item.bounds.lower, board.lower)
        let seen = pointwiseMin(item.bounds.upper, board.upper) - low
        let size = board.upper - board.lower
        return max(item.coverWeight * seen.x * seen.y / (size.x * size.y), item.leastCover)
    }

    /// A closed path, and what becomes of what is inside.
    private struct Border {
        let id: UInt64
        let area: Path
        let fillRule: FillRule
        var map: AffineMap?
        var keepsOriginal = false
    }

    /// - Returns: false where it would be beyond the limits; then the items are as before.
    private mutating func apply(_ border: Border, _ outline: (Int) -> [Path]?) -> Bool {
        let box = border.area.controlBounds
        guard items.contains(where: { $0.isBelow(box) }) else { return true }
        var budget = CuttingBudget(
            steps: min(limits.stepsOfBorder, limits.steps - steps), ofOperation: limits.stepsOfCut)
        defer { steps += budget.spent }
        guard (try? budget.spend(Self.stepsOfItem * items.count)) != nil,
            let cutter = try? PathCutter(border.area, fillRule: border.fillRule, within: &budget)
        else { return false }
        var result = CutItems(segments: segmentCount, cover: cutCover)
        result.left.reserveCapacity(items.count)
        for item in items {
            guard item.isBelow(box) else {
                result.left.append(item)
                continue
            }
            var item = item
            if item.needsAreas {
                guard let areas = outlined(item.entry, outline) else { return false }
                item.take(areas)
                result.segments += item.segmentCount
            }
            guard cut(item, at: border, box, by: cutter, &budget, &result) else { return false }
            guard result.segments <= limits.segments, result.left.count + result.moved.count <= limits.items,
                result.cover <= limits.cover + drawnCover
            else { return false }
        }
        (items, segmentCount, cutCover) = (result.left + result.moved, result.segments, result.cover)
        return true
    }

    /// The items below a border: what is left of each in its place, and what is moved above all of them.
    private struct CutItems {
        var left: [DisplayItem] = []
        var moved: [DisplayItem] = []
        var segments: Int
        var cover: Double
    }

    /// - Returns: false where it would be beyond the limits.
    private mutating func cut(
        _ item: DisplayItem, at border: Border, _ box: Box, by cutter: PathCutter,
        _ budget: inout CuttingBudget, _ result: inout CutItems
    ) -> Bool {
        var parts: [DisplayItem] = []
        var isChanged = false
        for part in item.parts {
            guard part.bounds.intersects(box) else {
                parts.append(part)
                continue
            }
            comparedItems += 1
            comparedSegments += part.segmentCount
            guard comparedItems <= limits.comparedItems, comparedSegments <= limits.comparedSegments,
                let area = part.area, let cut = try? cutter.cut(area, within: &budget)
            else { return false }
            guard !cut.inside.isEmpty else {
                parts.append(part)
                continue
            }
            let isWhole = cut.outside.isEmpty
            if !border.keepsOriginal {
                isChanged = true
                if !isWhole { parts.append(part.cut(to: cut.outside, by: border.id, .outside)) }
            }
            let inside = isWhole ? part : part.cut(to: cut.inside, by: border.id, .inside)
            if let map = border.map, let copy = inside.moved(by: map, border.id) {
                result.moved.append(copy)
                result.segments += copy.segmentCount
                result.cover += cover(of: copy)
            }
        }
        if isChanged {
            result.segments += parts.reduce(0) { $0 + $1.segmentCount } - item.segmentCount
            result.cover += parts.reduce(0) { $0 + cover(of: $1) } - (item.isWhole ? 0 : cover(of: item))
        }
        result.left += isChanged ? parts : [item]
        return true
    }
}

extension DisplayItem {
    /// Whether a border in that box may cut it.
    fileprivate func isBelow(_ box: Box) -> Bool { !isEraser && bounds.intersects(box) }
}
