internal import PathGeometry

/// The lines of an area's outline in a box of pixels, cut at the borders of rows.
///
/// Curves become chords that are off by at most ``tolerance``. What lies above, below and to the right of the box changes
/// nothing in it; what lies to the left of it turns around whole rows, whose winding numbers are counted. So a segment
/// outside of the box costs O(1), and another one O(rows and chords in the box).
///
/// Places are pixels from the upper left corner of the box, in double precision until they are cut at its borders: an area
/// may be as large as 65536 board units.
struct AreaEdges {
    /// The largest distance of a curve from its chords, in pixels.
    private static let tolerance = 1.0 / 160
    /// A curve of more chords is halved first, and the half outside of the box is dropped.
    private static let maxChords = 32
    /// After so many halvings a curve is taken for its chord.
    private static let maxHalvings = 16

    /// As in set operations of paths, contours with greater coordinates have no part.
    private static let maxCoordinate = 1e12

    /// A part of the outline in one row that leads up or down all the time: lines in a row, as places.
    struct Piece {
        var row: Int32
        /// Its lines lead from `places[first]` to `places[last]`; those at its ends may leave the row.
        var first, last: Int32
        /// The columns of its pixels.
        var left, right: Int32
        /// Its ends in the row, from the upper border of the box.
        var top, bottom: Float
        /// 1 where it leads down, −1 where it leads up, 0 where it leads along the row.
        var direction: Int32
    }

    private(set) var places: [SIMD2<Float>] = []
    private(set) var pieces: [Piece] = []
    /// The change of the winding number at the left border of the box from row to row, and of one row more.
    private(set) var leftWindings: [Int32] = []
    private var width = 0.0
    private var height = 0.0
    private var columns: Int32 = 0
    /// Whether the last piece ends at the last place, in its row.
    private var goesOn = false

    /// Begins with a box of so many pixels.
    mutating func begin(width: Int, height: Int) {
        self.width = Double(width)
        self.height = Double(height)
        columns = Int32(width)
        places.removeAll(keepingCapacity: true)
        pieces.removeAll(keepingCapacity: true)
        leftWindings.removeAll(keepingCapacity: true)
        leftWindings.append(contentsOf: repeatElement(0, count: height + 1))
        goesOn = false
    }

    /// Adds a contour, closed by a line where it is open, and hands its lines to the accumulation; nothing where numbers
    /// are not finite, or beyond all sizes.
    ///
    /// - Parameters:
    ///   - scale: pixels a unit of the contour.
    ///   - origin: the upper left corner of the box, in pixels.
    mutating func add(
        _ contour: PathGeometry.Contour, scale: Double, origin: Point, to accumulation: inout AccumulationRows
    ) {
        guard contour.segments.allSatisfy({ $0.isFinite && $0.controlBounds.isWithin(Self.maxCoordinate) }) else {
            return
        }
        goesOn = false
        for segment in contour.segments {
            switch segment {
            case .line(let p, let q): addLine(p * scale - origin, q * scale - origin, &accumulation)
            case .quadratic(let p, let c, let q):
                addQuadratic((p * scale - origin, c * scale - origin, q * scale - origin), 0, &accumulation)
            case .cubic(let p, let c1, let c2, let q):
                addCubic(
                    (p * scale - origin, c1 * scale - origin, c2 * scale - origin, q * scale - origin), 0,
                    &accumulation)
            }
        }
        if contour.end != contour.start {
            addLine(contour.end * scale - origin, contour.start * scale - origin, &accumulation)
        }
        goesOn = false
    }

    /// Adds a part of the outline of which only the ends count, if all of it lies beside the box.
    private mutating func addOutside(
        _ low: Point, _ high: Point, _ start: Point, _ end: Point, _ accumulation: inout AccumulationRows
    ) -> Bool {
        if low.x > 0, low.y > 0, high.x < width, high.y < height { return false }
        if high.y <= 0 || low.y >= height || low.x >= width {
            goesOn = false
            return true
        }
        guard high.x <= 0 else { return false }
        goesOn = false
        addLeft(
            Float(min(max(start.y, 0), height)), Float(min(max(end.y, 0), height)), &accumulation)
        return true
    }

    private mutating func addQuadratic(
        _ curve: (Point, Point, Point), _ halvings: Int, _ accumulation: inout AccumulationRows
    ) {
        let (p, c, q) = curve
        let (low, high) = (pointwiseMin(pointwiseMin(p, c), q), pointwiseMax(pointwiseMax(p, c), q))
        if addOutside(low, high, p, q, &accumulation) { return }
        let bend = p - c * 2 + q
        // The chords are off by a quarter of the second difference over the square of their number (Wang, 1984, The
        // division process for Bézier curves).
        let count = Self.chordCount((bend * bend).sum().squareRoot() / 4)
        guard count <= Self.maxChords || halvings == Self.maxHalvings else {
            let (a, b) = ((p + c) * 0.5, (c + q) * 0.5)
            let middle = (a + b) * 0.5
            addQuadratic((p, a, middle), halvings + 1, &accumulation)
            addQuadratic((middle, b, q), halvings + 1, &accumulation)
            return
        }
        var last = p
        for step in 1..<max(count, 1) {
            let t = Double(step) / Double(count)
            let next = p + ((c - p) * 2 + bend * t) * t
            addLine(last, next, &accumulation)
            last = next
        }
        addLine(last, q, &accumulation)
    }

    private mutating func addCubic(
        _ curve: (Point, Point, Point, Point), _ halvings: Int, _ accumulation: inout AccumulationRows
    ) {
        let (p, c1, c2, q) = curve
        let low = pointwiseMin(pointwiseMin(p, c1), pointwiseMin(c2, q))
        let high = pointwiseMax(pointwiseMax(p, c1), pointwiseMax(c2, q))
        if addOutside(low, high, p, q, &accumulation) { return }
        let (first, second) = (p - c1 * 2 + c2, c1 - c2 * 2 + q)
        let count = Self.chordCount(max((first * first).sum(), (second * second).sum()).squareRoot() * 0.75)
        guard count <= Self.maxChords || halvings == Self.maxHalvings else {
            let (a, b, c) = ((p + c1) * 0.5, (c1 + c2) * 0.5, (c2 + q) * 0.5)
            let (d, e) = ((a + b) * 0.5, (b + c) * 0.5)
            let middle = (d + e) * 0.5
            addCubic((p, a, d, middle), halvings + 1, &accumulation)
            addCubic((middle, e, c, q), halvings + 1, &accumulation)
            return
        }
        var last = p
        for step in 1..<max(count, 1) {
            let t = Double(step) / Double(count)
            let s = 1 - t
            let next = (p * s + c1 * (3 * t)) * (s * s) + (c2 * (3 * s) + q * t) * (t * t)
            addLine(last, next, &accumulation)
            last = next
        }
        addLine(last, q, &accumulation)
    }

    /// How many chords keep within the tolerance of a curve whose only chord is off by a distance.
    private static func chordCount(_ distance: Double) -> Int {
        Int(min((distance / tolerance).squareRoot(), 1e6).rounded(.up))
    }

    private mutating func addLine(_ p: Point, _ q: Point, _ accumulation: inout AccumulationRows) {
        let (low, high) = (pointwiseMin(p, q), pointwiseMax(p, q))
        if low.x >= 0, low.y >= 0, high.x <= width, high.y <= height {
            return addInside(SIMD2<Float>(p), SIMD2<Float>(q), &accumulation)
        }
        if addOutside(low, high, p, q, &accumulation) { return }
        addClipped(p, q, &accumulation)
    }

    private mutating func addClipped(_ p: Point, _ q: Point, _ accumulation: inout AccumulationRows) {
        let way = q - p
        func place(atY y: Double) -> Point { Point(p.x + (y - p.y) / way.y * way.x, y) }
        func limited(_ point: Point) -> Point {
            point.y < 0 ? place(atY: 0) : point.y > height ? place(atY: height) : point
        }
        let (start, end) = (limited(p), limited(q))
        func inside(_ point: Point) -> SIMD2<Float> {
            SIMD2(Float(min(max(point.x, 0), width)), Float(point.y))
        }
        guard start.y != end.y else { return addInside(inside(start), inside(end), &accumulation) }
        func y(atX x: Double) -> Double {
            min(max(p.y + (x - p.x) / way.x * way.y, min(start.y, end.y)), max(start.y, end.y))
        }
        var places = [start]
        for border in way.x > 0 ? [0, width] : [width, 0]
        where min(start.x, end.x) < border && border < max(start.x, end.x) {
            places.append(Point(border, y(atX: border)))
        }
        places.append(end)
        for (from, to) in zip(places, places.dropFirst()) {
            let middle = (from.x + to.x) / 2
            if middle <= 0 {
                goesOn = false
                addLeft(Float(from.y), Float(to.y), &accumulation)
            } else if middle >= width {
                goesOn = false
            } else {
                addInside(inside(from), inside(to), &accumulation)
            }
        }
    }

    /// Adds what lies to the left of the box: whole rows are counted, and those at its ends have a line along the border.
    private mutating func addLeft(_ from: Float, _ to: Float, _ accumulation: inout AccumulationRows) {
        guard from != to else { return }
        let direction: Int32 = from < to ? 1 : -1
        let (top, bottom) = from < to ? (from, to) : (to, from)
        let (firstFull, endFull) = (top.rounded(.up), bottom.rounded(.down))
        func addBorder(_ top: Float, _ bottom: Float, _ accumulation: inout AccumulationRows) {
            guard top < bottom else { return }
            goesOn = false
            let (upper, lower) = (SIMD2<Float>(0, top), SIMD2<Float>(0, bottom))
            addInside(direction > 0 ? upper : lower, direction > 0 ? lower : upper, &accumulation)
            goesOn = false
        }
        guard firstFull <= endFull else { return addBorder(top, bottom, &accumulation) }
        addBorder(top, firstFull, &accumulation)
        addBorder(endFull, bottom, &accumulation)
        leftWindings[Int(firstFull)] &+= direction
        leftWindings[Int(endFull)] &-= direction
    }

    /// Adds a line along the rows: it changes no winding number, but joins pieces in its row, unless it is the border of it.
    private mutating func addLevel(_ first: Int32, _ from: SIMD2<Float>, _ to: SIMD2<Float>) {
        let row = from.y.cell
        guard from.y != Float(row) else { return }
        let left = min(min(from.x, to.x).cell, columns &- 1)
        let right = min(max(from.x, to.x).cell, columns &- 1)
        if goesOn, let last = pieces.last, last.row == row {
            let place = pieces.count &- 1
            pieces[place].last = first &+ 1
            pieces[place].left = min(last.left, left)
            pieces[place].right = max(last.right, right)
        } else {
            pieces.append(
                Piece(
                    row: row, first: first, last: first &+ 1, left: left, right: right, top: from.y, bottom: from.y,
                    direction: 0))
        }
        goesOn = true
    }

    /// Adds a line in the box.
    private mutating func addInside(
        _ from: SIMD2<Float>, _ to: SIMD2<Float>, _ accumulation: inout AccumulationRows
    ) {
        // What lies outside between two lines is left out.
        if !goesOn || places.last != from {
            goesOn = false
            places.append(from)
        }
        let first = Int32(truncatingIfNeeded: places.count &- 1)
        places.append(to)
        guard from.y != to.y else { return addLevel(first, from, to) }
        accumulation.addInside(from: from, to: to)
        let isDown = from.y < to.y
        let (top, bottom) = isDown ? (from, to) : (to, from)
        let direction: Int32 = isDown ? 1 : -1
        let firstRow = Int32(top.y.cell)
        // A line that ends on the border of a row has no part in the next one.
        let lastRow = Int32(bottom.y.rounded(.up)) &- 1
        let slope = (to.x - from.x) / (to.y - from.y)
        var row = isDown ? firstRow : lastRow
        let end = isDown ? lastRow : firstRow
        while true {
            let (upper, lower) = (Float(row), Float(row &+ 1))
            let isAtTop = top.y >= upper
            let isAtBottom = bottom.y <= lower
            let upperX = isAtTop ? top.x : top.x + (upper - top.y) * slope
            let lowerX = isAtBottom ? bottom.x : top.x + (lower - top.y) * slope
            let left = min(max(min(upperX, lowerX).cell, 0), columns &- 1)
            let right = min(max(max(upperX, lowerX).cell, 0), columns &- 1)
            let (upperY, lowerY) = (isAtTop ? top.y : upper, isAtBottom ? bottom.y : lower)
            if goesOn, let last = pieces.last, last.row == row, last.direction == direction {
                let place = pieces.count &- 1
                pieces[place].last = first &+ 1
                pieces[place].left = min(last.left, left)
                pieces[place].right = max(last.right, right)
                pieces[place].top = min(last.top, upperY)
                pieces[place].bottom = max(last.bottom, lowerY)
            } else {
                pieces.append(
                    Piece(
                        row: row, first: first, last: first &+ 1, left: left, right: right, top: upperY,
                        bottom: lowerY, direction: direction))
            }
            goesOn = true
            if row == end { break }
            row &+= direction
        }
    }
}

extension Box {
    fileprivate func isWithin(_ limit: Double) -> Bool {
        lower.x >= -limit && lower.y >= -limit && upper.x <= limit && upper.y <= limit
    }
}
