internal import CLanes

/// What an edge adds to a pixel: the running sum of the cells of a row, from the left, is the covered part of each pixel
/// times the winding number.
typealias Cell = Float

/// The memory of an ``AccumulationRows``: a cell for every pixel of a box, all of them 0 between runs.
///
/// Grows to the largest box asked for.
struct AccumulationBuffer: Sendable {
    /// The cells, row by row, then the cover of the rows.
    private var values: [Cell] = []
    private var dirty: [UInt64] = []
    private var edges = [Float](repeating: 0, count: EdgeBatch.size)
    private let kernels: Kernels

    init(kernels: Kernels) { self.kernels = kernels }

    /// Forgets edges that were added and not resolved.
    mutating func discard() {
        values = []
        dirty = []
    }

    /// Lends clear cells for a box; `isUnclipped` promises that all edges lie in it. ``AccumulationRows/resolve(_:into:)``
    /// clears them again.
    mutating func withRows<Result>(
        width: Int, height: Int, isUnclipped: Bool, _ body: (AccumulationRows) -> Result
    ) -> Result {
        let blocks = DirtyBlocks(width: width)
        let stride = blocks.stride(width: width)
        let cells = stride * height
        let kernels = kernels
        let size = cells + height + 2
        if values.count < size { values.append(contentsOf: repeatElement(0, count: size - values.count)) }
        if dirty.count < height { dirty.append(contentsOf: repeatElement(0, count: height - dirty.count)) }
        return values.withUnsafeMutableBufferPointer { values in
            dirty.withUnsafeMutableBufferPointer { dirty in
                edges.withUnsafeMutableBufferPointer { edges in
                    guard let values = values.baseAddress, let dirty = dirty.baseAddress,
                        let edges = edges.baseAddress
                    else { preconditionFailure("a box has at least one pixel") }
                    return body(
                        AccumulationRows(
                            cells: values, cover: values + cells, dirty: dirty, blocks: blocks,
                            batch: EdgeBatch(edges, kernels: kernels), kernels: kernels, stride: stride, width: width,
                            height: height, isUnclipped: isUnclipped))
                }
            }
        }
    }
}

/// Turns edges into coverage; a view of an ``AccumulationBuffer`` that is lent.
///
/// An edge adds to the cells of each row by how much it changes the area to its right: ``resolve(_:into:)`` makes the
/// prefix sums, which are exact areas (the method of FreeType's and font-rs's rasterizers, in single precision, and for
/// parabolas). Edges may lie anywhere: above, below and to the right of the box they cover nothing of it; to the left of
/// it they cover whole rows, which costs two additions an edge.
///
/// Edges are made monotone and wait in an ``EdgeBatch``, eight of which are cut into spans and added at a time.
struct AccumulationRows: EdgeSink {
    private let cells: UnsafeMutablePointer<Cell>
    /// The change of the cover from row to row, of the edges to the left of the box: its rows and two more.
    private let cover: UnsafeMutablePointer<Cell>
    /// The blocks of each row that edges have touched.
    private let dirty: UnsafeMutablePointer<UInt64>
    private let blocks: DirtyBlocks
    private var batch: EdgeBatch
    private let kernels: Kernels
    private let box: lanes_cells
    private let stride: Int
    private let width: Int
    private let height: Int
    /// Whether all edges lie in the box.
    private let isUnclipped: Bool

    fileprivate init(
        cells: UnsafeMutablePointer<Cell>, cover: UnsafeMutablePointer<Cell>, dirty: UnsafeMutablePointer<UInt64>,
        blocks: DirtyBlocks, batch: EdgeBatch, kernels: Kernels, stride: Int, width: Int, height: Int, isUnclipped: Bool
    ) {
        self.cells = cells
        self.cover = cover
        self.dirty = dirty
        self.blocks = blocks
        self.batch = batch
        self.kernels = kernels
        box = lanes_cells(
            cells: cells, dirty: dirty, stride: stride, width: Int32(truncatingIfNeeded: width),
            height: Int32(truncatingIfNeeded: height), shift: Int32(truncatingIfNeeded: blocks.shift))
        self.stride = stride
        self.width = width
        self.height = height
        self.isUnclipped = isUnclipped
    }

    mutating func add(_ edge: Edge) {
        guard isUnclipped || isInside(edge) else { return addClipped(edge) }
        guard edge.turnsBack else { return addMonotone(edge) }
        let (first, second) = edge.monotoneParts
        addMonotone(first)
        addMonotone(second)
    }

    @inline(__always)
    mutating func add(_ one: Edge, _ other: Edge) {
        if isUnclipped, !one.turnsBack, !other.turnsBack {
            addMonotone(one)
            addMonotone(other)
        } else {
            add(one)
            add(other)
        }
    }

    /// Adds a line in the box, borders included: it is not looked at where it lies.
    @inline(__always)
    mutating func addInside(from start: SIMD2<Float>, to end: SIMD2<Float>) {
        addMonotone(Edge(start: start, end: end, sign: 1))
    }

    private func isInside(_ edge: Edge) -> Bool {
        func isInside(_ place: SIMD2<Float>) -> Bool {
            place.x >= 0 && place.y >= 0 && place.x < Float(width) && place.y < Float(height)
        }
        // A parabola stays within the triangle of its ends and its control point.
        return isInside(edge.start) && isInside(edge.end) && isInside((edge.start + edge.end) * 0.5 + edge.sag * 2)
    }

    @inline(__always)
    private mutating func addMonotone(_ edge: Edge) { batch.add(edge, to: box) }

    /// Adds all edges that wait to the cells.
    mutating func flush() { batch.flush(to: box) }

    /// Chords of clipped edges are off by at most the inverse of this, in pixels.
    private static let chordsPerSag: Float = 64
    private static let maxChords: Float = 64

    /// Adds the part of an edge in the box, as chords, and the cover of the part to the left of it.
    private mutating func addClipped(_ edge: Edge) {
        let (start, end, sag, sign) = (edge.start, edge.end, edge.sag, edge.sign)
        let control = (start + end) * 0.5 + sag * 2
        let low = pointwiseMin(pointwiseMin(start, end), control)
        let high = pointwiseMax(pointwiseMax(start, end), control)
        guard high.y > 0, low.y < Float(height), low.x < Float(width) else { return }
        guard high.x > 0 else { return addCover(from: start.y, to: end.y, sign: sign) }
        // A chord is off its part of the parabola by the sag over the square of their number.
        let count = max(Int((sag.length * Self.chordsPerSag).root.lowered(to: Self.maxChords).rounded(.up)), 1)
        var place = start
        for index in 1...count {
            let at = Float(index) / Float(count)
            let next = index == count ? end : start + ((end - start) + sag * (4 * (1 - at))) * at
            addClippedChord(from: place, to: next, sign: sign)
            place = next
        }
    }

    private mutating func addClippedChord(from start: SIMD2<Float>, to end: SIMD2<Float>, sign: Float) {
        let (top, low) = start.y < end.y ? (start, end) : (end, start)
        let sign = start.y < end.y ? sign : -sign
        let right = Float(width).nextDown
        let y0 = top.y.raised(to: 0)
        let y1 = low.y.lowered(to: Float(height).nextDown)
        guard y0 < y1 else { return }
        let slope = (low.x - top.x) / (low.y - top.y)
        // The heights at which the chord passes the left and the right border.
        func level(_ x: Float) -> Float {
            slope == 0 ? y0 : (top.y + (x - top.x) / slope).raised(to: y0).lowered(to: y1)
        }
        func place(_ y: Float) -> Float { y == top.y ? top.x : y == low.y ? low.x : top.x + (y - top.y) * slope }
        let borders = (level(0), level(right))
        let first = borders.0.lowered(to: borders.1)
        let second = borders.0.raised(to: borders.1)
        for (from, to) in [(y0, first), (first, second), (second, y1)] where from < to {
            let middle = place((from + to) * 0.5)
            guard middle < right else { continue }
            guard middle > 0 else {
                addCover(from: from, to: to, sign: sign)
                continue
            }
            let begin = place(from).raised(to: 0).lowered(to: right)
            let finish = place(to).raised(to: 0).lowered(to: right)
            addMonotone(Edge(start: SIMD2(begin, from), end: SIMD2(finish, to), sign: sign))
        }
    }

    /// Adds an edge to the left of the box: it covers whole rows between its ends.
    private func addCover(from start: Float, to end: Float, sign: Float) {
        for (level, sign) in [(start, sign), (end, -sign)] {
            let y = level.raised(to: 0).lowered(to: Float(height))
            let row = Int(y.cell)
            let part = Float(row &+ 1) - y
            cover[row] += part * sign
            cover[row &+ 1] += (1 - part) * sign
        }
    }

    /// Writes the prefix sums of some rows as coverage, 0 … 255, into clear rows of a mask of the same box, and clears
    /// the cells. All edges have to be flushed.
    func resolve(_ rows: Range<Int>, into mask: CoverageRows) {
        var left: Float = 0
        for y in rows {
            left += cover[y]
            cover[y] = 0
            resolve(y, left: left, into: mask, isSigned: true)
        }
        // An edge that ends at the last row leaves its change behind it.
        cover[rows.upperBound] = 0
        cover[rows.upperBound &+ 1] = 0
    }

    /// Writes the sizes of the prefix sums of one row, where the winding number is `left` at its left border, as coverage.
    /// All edges have to be flushed, and none of them may lie to the left of the box.
    func resolveSizes(_ y: Int, left: Int32, into mask: CoverageRows) {
        resolve(y, left: Float(left), into: mask, isSigned: false)
    }

    /// Resolves one row, which is covered by `left` at its left border.
    @inline(__always)
    private func resolve(_ y: Int, left: Float, into mask: CoverageRows, isSigned: Bool) {
        let resolve = isSigned ? kernels.loops.resolve : kernels.loops.resolve_size
        var bits = dirty[y]
        dirty[y] = 0
        let row = cells + y &* stride
        let bytes = mask.row(y)
        var carry = left
        // A clean block between two dirty ones is resolved with them.
        bits |= (bits &<< 1) & (bits &>> 1)
        var covered = bits
        // Where the next dirty block begins.
        var x = 0
        func fillClean(to end: Int) {
            let level = isSigned ? carry : abs(carry)
            if level > Self.least, end > x { covered |= fill(bytes, x..<end, level) }
        }
        while bits != 0 {
            let range = DirtyBlocks.takeRange(of: &bits)
            let first = blocks.first(range.lowerBound)
            let end = blocks.first(range.upperBound)
            fillClean(to: first)
            carry = resolve!(row + first, bytes + first, end &- first, carry)
            x = end
        }
        // An outline that is open at the right border of the box covers all up to it.
        fillClean(to: width)
        mask.dirty[y] = covered
        if !isUnclipped, stride > width { (bytes + width).update(repeating: 0, count: stride &- width) }
    }

    /// Less than this is a rounding error of a closed outline.
    private static let least: Float = 0x1p-10

    /// Covers the columns between two dirty blocks alike. Returns their blocks.
    private func fill(_ bytes: UnsafeMutablePointer<UInt8>, _ columns: Range<Int>, _ covered: Float) -> UInt64 {
        let level = (covered * 255 + 0.5).lowered(to: 255).raised(to: 0)
        (bytes + columns.lowerBound).update(repeating: UInt8(level), count: columns.count)
        return blocks.bits(columns)
    }
}
