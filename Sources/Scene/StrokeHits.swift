internal import Ink
public import PathGeometry
internal import Raster

/// Finds the strokes of a page that an eraser of whole strokes touches, where they are seen: lassos have moved some of them.
///
/// Texts count as strokes, with their boxes; erasers, images and lassos do not. What an eraser has wiped of a stroke
/// above the last lasso still counts as there.
public struct StrokeHits: Sendable {
    /// Points of ink that a call decodes before it ends; a call of the next movement goes on, for it knows more boxes.
    public static let pointBound = 1 << 17

    /// Where entries lie by their ids; nowhere for those that are no strokes. What it takes is bounded by the page's entries.
    private var boxes: [UInt64: Box] = [:]

    public init() {}

    /// The entries whose ink is closer to a path than the eraser's radius, from the top to the bottom, by their ids.
    ///
    /// - Parameters:
    ///   - path: places in board units, one or more; what lies between two is touched, too.
    ///   - radius: in board units.
    ///   - longerSide: of the board, in its units.
    public mutating func strokes<Entries: PageEntries>(
        under path: [Point], radius: Double, of page: PagePicture<Entries>, longerSide: Double
    ) -> [UInt64] {
        guard !path.isEmpty, radius.isFinite else { return [] }
        let eraser = Eraser(path: path, radius: radius)
        var left = Self.pointBound
        var found: [UInt64] = []
        var places: Set<Int> = []
        for layer in page.layers.indices.reversed() where left > 0 {
            guard let (entry, part) = page.ink(of: layer), !places.contains(entry) else { continue }
            let isTouched: Bool
            if let part {
                left -= part.contours.reduce(0) { $0 + $1.segments.count }
                isTouched = eraser.touches(part)
            } else {
                isTouched = touches(eraser, entry, of: page, longerSide, &left)
            }
            guard isTouched else { continue }
            places.insert(entry)
            found.append(page.id(ofEntry: entry))
        }
        return found
    }

    /// Whether an entry as it was drawn is touched.
    private mutating func touches<Entries: PageEntries>(
        _ eraser: Eraser, _ entry: Int, of page: PagePicture<Entries>, _ longerSide: Double, _ left: inout Int
    ) -> Bool {
        let id = page.id(ofEntry: entry)
        if let box = boxes[id], !box.intersects(eraser.reach) { return false }
        let content = page.content(ofEntry: entry)
        if case .image(let image)? = content, image.text != nil {
            boxes[id] = image.area.controlBounds
            return image.area.controlBounds.intersects(eraser.reach) && eraser.touches(image.area)
        }
        guard case .stroke(let painted)? = content, !painted.stroke.isErasing else {
            boxes[id] = .empty
            return false
        }
        left -= painted.stroke.points.count
        let box = DrawableStroke.bounds(of: painted)
        boxes[id] = box
        guard box.intersects(eraser.reach) else { return false }
        // One whose outline is too long to be compared counts as touched.
        guard let areas = DrawableStroke.areas(of: painted, longerSide: longerSide) else { return true }
        return areas.contains { eraser.touches($0.path) }
    }
}

/// What an eraser has moved over.
struct Eraser {
    let path: [Point]
    let radius: Double
    /// Around all of it.
    let reach: Box
    /// Around each part of the path with so many lines.
    private let parts: [Box]
    private static let linesOfPart = 32

    /// - Parameters:
    ///   - path: places in board units, one or more.
    ///   - radius: in board units.
    init(path: [Point], radius: Double) {
        (self.path, self.radius) = (path, radius)
        func reach(_ path: ArraySlice<Point>) -> Box {
            let box = path.reduce(into: Box.empty) { $0.extend(to: $1) }
            return Box(lower: box.lower - radius, upper: box.upper + radius)
        }
        self.reach = reach(path[...])
        parts = stride(from: 0, to: max(path.count - 1, 1), by: Self.linesOfPart).map { first in
            reach(path[first...min(first + Self.linesOfPart, path.count - 1)])
        }
    }

    /// Chords of a curve that stand for it.
    private static let chords = 8

    func touches(_ area: Path) -> Bool {
        var comparisons = Int.max
        return touches(area, within: &comparisons)
    }

    /// - Parameter comparisons: how many pairs of lines may be compared yet. Where none is left, it counts as touched.
    func touches(_ area: Path, within comparisons: inout Int) -> Bool {
        for contour in area.contours {
            for segment in contour.segments where segment.controlBounds.intersects(reach) {
                if case .line(let start, let end) = segment {
                    if touches(start, end, &comparisons) { return true }
                    continue
                }
                var last = segment.start
                for step in 1...Self.chords {
                    let next = segment.point(at: Double(step) / Double(Self.chords))
                    if touches(last, next, &comparisons) { return true }
                    last = next
                }
            }
        }
        // No border is near: all of it is inside or outside.
        return area.contains(path[0])
    }

    /// Whether a line comes closer than the radius.
    private func touches(_ start: Point, _ end: Point, _ comparisons: inout Int) -> Bool {
        guard path.count > 1 else { return path[0].distance(fromLine: start, end) <= radius }
        let line = Box(from: start, to: end)
        for (number, part) in parts.enumerated() where part.intersects(line) {
            let first = number * Self.linesOfPart
            let last = min(first + Self.linesOfPart, path.count - 1)
            comparisons -= last - first
            guard comparisons >= 0 else { return true }
            for place in first..<last where touches(start, end, path[place], path[place + 1]) { return true }
        }
        return false
    }

    /// Whether two lines come closer than the radius. They are closest at an end of one of them, unless they cross.
    private func touches(_ start: Point, _ end: Point, _ from: Point, _ to: Point) -> Bool {
        from.distance(fromLine: start, end) <= radius || to.distance(fromLine: start, end) <= radius
            || start.distance(fromLine: from, to) <= radius || end.distance(fromLine: from, to) <= radius
            || crosses(from, to, start, end)
    }

    private func crosses(_ a: Point, _ b: Point, _ c: Point, _ d: Point) -> Bool {
        func side(_ p: Point, _ q: Point, _ r: Point) -> Double { (q - p).cross(r - p) }
        return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
    }
}
