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
    private var spans = [Float](repeating: 0, count: SpanBatch.size)

    /// Lends clear cells for a box; `isUnclipped` promises that all edges lie in it. ``AccumulationRows/resolve(_:into:)``
    /// clears them again.
    mutating func withRows<Result>(
        width: Int, height: Int, isUnclipped: Bool, _ body: (AccumulationRows) -> Result
    ) -> Result {
        let blocks = DirtyBlocks(width: width)
        let stride = blocks.stride(width: width)
        let cells = stride * height
        let size = cells + height + 2
        if values.count < size { values.append(contentsOf: repeatElement(0, count: size - values.count)) }
        if dirty.count < height { dirty.append(contentsOf: repeatElement(0, count: height - dirty.count)) }
        return values.withUnsafeMutableBufferPointer { values in
            dirty.withUnsafeMutableBufferPointer { dirty in
                spans.withUnsafeMutableBufferPointer { spans in
                    guard let values = values.baseAddress, let dirty = dirty.baseAddress,
                        let spans = spans.baseAddress
                    else { preconditionFailure("a box has at least one pixel") }
                    return body(
                        AccumulationRows(
                            cells: values, cover: values + cells, dirty: dirty, blocks: blocks,
                            batch: SpanBatch(spans), stride: stride, width: width, height: height,
                            isUnclipped: isUnclipped))
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
/// Edges are made monotone and cut into spans at the borders of rows, four rows at a time. Spans wait in a ``SpanBatch``
/// and are integrated four at a time, those of different edges together.
struct AccumulationRows: EdgeSink {
    private let cells: UnsafeMutablePointer<Cell>
    /// The change of the cover from row to row, of the edges to the left of the box: its rows and two more.
    private let cover: UnsafeMutablePointer<Cell>
    /// The blocks of each row that edges have touched.
    private let dirty: UnsafeMutablePointer<UInt64>
    private let blocks: DirtyBlocks
    private var batch: SpanBatch
    private let stride: Int
    private let width: Int
    private let height: Int
    /// Whether all edges lie in the box.
    private let isUnclipped: Bool

    fileprivate init(
        cells: UnsafeMutablePointer<Cell>, cover: UnsafeMutablePointer<Cell>, dirty: UnsafeMutablePointer<UInt64>,
        blocks: DirtyBlocks, batch: SpanBatch, stride: Int, width: Int, height: Int, isUnclipped: Bool
    ) {
        self.cells = cells
        self.cover = cover
        self.dirty = dirty
        self.blocks = blocks
        self.batch = batch
        self.stride = stride
        self.width = width
        self.height = height
        self.isUnclipped = isUnclipped
    }

    mutating func add(_ edge: Edge) {
        guard isUnclipped || isInside(edge) else { return addClipped(edge) }
        guard edge.turnsBack else { return addMonotone(edge) }
        let (first, second) = edge.monotoneParts
        addMonotone(first, second)
    }

    @inline(__always)
    mutating func add(_ one: Edge, _ other: Edge) {
        if isUnclipped, !one.turnsBack, !other.turnsBack {
            addMonotone(one, other)
        } else {
            add(one)
            add(other)
        }
    }

    private func isInside(_ edge: Edge) -> Bool {
        func isInside(_ place: SIMD2<Float>) -> Bool {
            place.x >= 0 && place.y >= 0 && place.x < Float(width) && place.y < Float(height)
        }
        // A parabola stays within the triangle of its ends and its control point.
        return isInside(edge.start) && isInside(edge.end) && isInside((edge.start + edge.end) * 0.5 + edge.sag * 2)
    }

    private mutating func addMonotone(_ edge: Edge) {
        add(MonotoneEdgePair(edge, edge, lowest: Float(height).nextDown).first)
    }

    /// Adds two edges, computed in one vector.
    private mutating func addMonotone(_ one: Edge, _ other: Edge) {
        let edges = MonotoneEdgePair(one, other, lowest: Float(height).nextDown)
        if edges.areShort {
            edges.addShort(to: &batch)
            if batch.isFull { flush() }
        } else {
            add(edges.first)
            add(edges.second)
        }
    }

    @inline(__always)
    private mutating func add(_ edge: MonotoneEdge) {
        let first = edge.spans(from: edge.start, passed: 0)
        batch.add(first, count: edge.count)
        if edge.count > 4 { addRest(of: edge, behind: first.end) }
        if batch.isFull { flush() }
    }

    /// Adds the spans behind the first four, and makes room for them.
    private mutating func addRest(of edge: MonotoneEdge, behind end: MonotoneEdge.Place) {
        var end = end
        var passed = 4
        while passed < edge.count {
            if batch.isFull { flush() }
            let next = edge.spans(from: end, passed: passed)
            batch.add(next, count: edge.count &- passed)
            end = next.end
            passed &+= 4
        }
    }

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

    /// The widest span, in pixels, of those that are integrated four at a time: it touches four cells at most.
    private static let maxWidth: Float = 2

    /// Integrates the waiting spans and adds them to the cells.
    mutating func flush() {
        integrate()
        var index = 0
        while index &+ 4 <= batch.count {
            let sums = batch.sums(index)
            add(sums.x, index)
            add(sums.y, index &+ 1)
            add(sums.z, index &+ 2)
            add(sums.w, index &+ 3)
            index &+= 4
        }
        if index < batch.count {
            let sums = batch.sums(index)
            add(sums.x, index)
            if index &+ 1 < batch.count { add(sums.y, index &+ 1) }
            if index &+ 2 < batch.count { add(sums.z, index &+ 2) }
        }
        batch.removeAll()
    }

    /// Adds the sums of a span to its four cells.
    @inline(__always)
    private func add(_ sums: SIMD4<Float>, _ index: Int) {
        let y = Int(truncatingIfNeeded: batch.rows[index])
        let column = Int(truncatingIfNeeded: batch.columns[index])
        let cell = cells + (y &* stride &+ column)
        cell.store(cell.four + sums)
        let shift = UInt64(truncatingIfNeeded: blocks.shift)
        let first = UInt64(truncatingIfNeeded: column)
        dirty[y] |= 1 &<< (first &>> shift) | 1 &<< ((first &+ 3) &>> shift)
    }

    /// Replaces the waiting spans by what each adds to its four cells.
    ///
    /// The area between a span and the right border of a pixel is a sum of two: its height times the mean distance of
    /// its chord from that border, and the area of its bend. The part p of the width of a parabola with an upright axis,
    /// from the left, holds the part 3p² − 2p³ of that area; other parabolas are so narrow that it does not matter.
    private func integrate() {
        let right = Float(width)
        var index = 0
        while index < batch.count {
            let start = (batch.startX + index).four.raised(to: 0).lowered(to: right)
            let end = (batch.endX + index).four.raised(to: 0).lowered(to: right)
            let left = end.lowered(to: start)
            let extent = end.raised(to: start) - left
            var fall = (batch.fall + index).four
            var bend = (batch.bend + index).four
            let isWide = extent .> Self.maxWidth
            if any(isWide) {
                addWide(index, from: start, to: end)
                fall.replace(with: 0, where: isWide)
                bend.replace(with: 0, where: isWide)
            }
            // An upright span gets a width of a 256th of a pixel, for the sake of the division.
            let wide = extent.raised(to: 0x1p-8)
            let column = lanes_whole(left)
            UnsafeMutableRawPointer(batch.columns + index).storeBytes(of: column, as: SIMD4<Int32>.self)
            let first = left - lanes_floats(column)
            let last = first + wide
            let perWide = 1 / wide
            let half = fall * 0.5
            // The distances of both ends from the right borders of the first and of the second pixel.
            let first1 = 1 - first
            let last1 = (1 - last).raised(to: 0)
            let first2 = 2 - first
            let last2 = (2 - last).raised(to: 0)
            let part1 = (first1 - last1) * perWide
            let part2 = (first2 - last2) * perWide
            // The areas up to the right borders of the first three pixels.
            let to1 = part1 * ((first1 + last1) * half + part1 * (3 - 2 * part1) * bend)
            let to2 = part2 * ((first2 + last2) * half + part2 * (3 - 2 * part2) * bend)
            let to3 = (6 - first - last) * half + bend
            let covered2 = to2 - to1
            let covered3 = to3 - to2
            (batch.startX + index).store(to1)
            (batch.endX + index).store(covered2 - to1)
            (batch.fall + index).store(covered3 - covered2)
            (batch.bend + index).store(fall - covered3)
            index &+= 4
        }
    }

    /// Adds to the cells those of four spans that are wider than ``maxWidth``.
    private func addWide(_ index: Int, from start: SIMD4<Float>, to end: SIMD4<Float>) {
        for lane in 0..<min(4, batch.count &- index) where abs(end[lane] - start[lane]) > Self.maxWidth {
            addWide(
                row: Int(truncatingIfNeeded: batch.rows[index &+ lane]), from: start[lane], to: end[lane],
                fall: batch.fall[index &+ lane], bend: batch.bend[index &+ lane])
        }
    }

    /// Adds a span to any number of cells: a chord, and a parabola with an upright axis above it.
    private func addWide(row y: Int, from start: Float, to end: Float, fall: Float, bend: Float) {
        let left = start < end ? start : end
        let right = start < end ? end : start
        let wide = right - left
        let perColumn = 1 / wide
        let column = left.cell
        let row = UnsafeMutableRawPointer(cells + (y &* stride &+ Int(truncatingIfNeeded: column)))
        // The distances of the left borders of the columns from the left end.
        var border = SIMD4<Float>(0, 1, 2, 3) + (Float(column) - left)
        let steep = fall * 0.5
        var offset = 0
        var before = SIMD4<Float>.zero
        var covered = SIMD4<Float>.zero
        repeat {
            // The areas up to the right borders of the columns.
            let passed = (border + 1).raised(to: 0)
            let part = (passed * perColumn).lowered(to: 1)
            let behind = (passed - wide).raised(to: 0)
            let to = part * ((passed + behind) * steep + part * (3 - 2 * part) * bend)
            let share = to - lanes_behind(before, to)
            let change = share - lanes_behind(covered, share)
            let old = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<Float>.self)
            row.storeBytes(of: old + change, toByteOffset: offset, as: SIMD4<Float>.self)
            before = lanes_last(to)
            covered = lanes_last(share)
            border += 4
            offset &+= 16
        } while border.x < wide + 1
        dirty[y] |= blocks.bits(Int(column)..<Int(column) &+ offset / 4)
    }

    /// Writes the prefix sums of some rows as coverage, 0 … 255, into clear rows of a mask of the same box, and clears
    /// the cells. All edges have to be flushed.
    func resolve(_ rows: Range<Int>, into mask: CoverageRows) {
        var left: Float = 0
        for y in rows {
            left += cover[y]
            cover[y] = 0
            resolve(y, left: left, into: mask)
        }
        // An edge that ends at the last row leaves its change behind it.
        cover[rows.upperBound] = 0
        cover[rows.upperBound &+ 1] = 0
    }

    /// Resolves one row, which is covered by `left` at its left border.
    @inline(__always)
    private func resolve(_ y: Int, left: Float, into mask: CoverageRows) {
        var bits = dirty[y]
        dirty[y] = 0
        let row = UnsafeMutableRawPointer(cells + y &* stride)
        let bytes = UnsafeMutableRawPointer(mask.row(y))
        var carry = SIMD4<Float>(repeating: left)
        // A clean block between two dirty ones is resolved with them.
        bits |= (bits &<< 1) & (bits &>> 1)
        var covered = bits
        // Where the next dirty block begins.
        var x = 0
        while bits != 0 {
            let range = DirtyBlocks.takeRange(of: &bits)
            let first = blocks.first(range.lowerBound)
            let end = blocks.first(range.upperBound)
            if carry.x > Self.least, first != x { covered |= fill(bytes, x..<first, carry) }
            x = first
            repeat {
                var sum = row.loadUnaligned(fromByteOffset: x &* 4, as: SIMD4<Float>.self)
                row.storeBytes(of: .zero, toByteOffset: x &* 4, as: SIMD4<Float>.self)
                sum = lanes_sums(sum) + carry
                carry = lanes_last(sum)
                bytes.storeBytes(of: Self.levels(sum), toByteOffset: x, as: SIMD4<UInt8>.self)
                x &+= 4
            } while x < end
        }
        // An outline that is open at the right border of the box covers all up to it.
        if carry.x > Self.least, x < width { covered |= fill(bytes, x..<width, carry) }
        mask.dirty[y] = covered
        if !isUnclipped, x > width { (bytes + width).initializeMemory(as: UInt8.self, repeating: 0, count: x &- width) }
    }

    /// Less than this is a rounding error of a closed outline.
    private static let least: Float = 0x1p-10

    /// Covers the columns between two dirty blocks alike. Returns their blocks.
    private func fill(_ bytes: UnsafeMutableRawPointer, _ columns: Range<Int>, _ covered: SIMD4<Float>) -> UInt64 {
        (bytes + columns.lowerBound).initializeMemory(
            as: UInt8.self, repeating: Self.levels(covered).x, count: columns.count)
        return blocks.bits(columns)
    }

    /// Covered parts as whole numbers up to 255, rounded to nearest.
    @inline(__always)
    private static func levels(_ covered: SIMD4<Float>) -> SIMD4<UInt8> {
        lanes_bytes(lanes_whole(covered * 255 + 0.5))
    }
}
