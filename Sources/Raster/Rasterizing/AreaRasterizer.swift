internal import PathGeometry

/// Covers a mask with an area: a path that is filled by the nonzero rule, whose contours may overlap, and cross each other
/// and themselves.
///
/// Prefix sums of signed areas are the mean of the winding number over a pixel: exact for its covered part where the number
/// is 0 and 1 (or 0 and −1) in it, and no less than 1 where it is never 0. Elsewhere they are too much. So the pieces of the
/// outline in a row of pixels (``AreaEdges``) are put in clusters that have no column in common; between clusters the winding
/// number is the same whole number in all of the row. In a cluster of one piece the prefix sums are right, and so they are in
/// one of a few that do not cross each other, if the numbers between them are just 0 and one of 1 and −1, or never 0. In any
/// other one the winding number is sampled along ``lines`` lines across the row, on which its changes are exact: pixels
/// where it is not just 0 and one of 1 and −1 get the covered part of these lines, and all others keep the exact sums.
///
/// So pixels are exact but for the chords of curves, unless several borders share them; a border along the rows may then be
/// off by half a line.
struct AreaRasterizer {
    /// The lines across a row on which windings are sampled.
    private static let lines = 16
    /// Sums of coverages that differ by less are the same: the rounding errors of a row of them.
    private static let slack: Float = 0x1p-8

    private typealias Piece = AreaEdges.Piece

    private var edges = AreaEdges()
    private var order: [Piece] = []
    private var starts: [Int32] = []
    /// Where the outline crosses a line, and by how much the winding number changes there.
    private var crossings: [(x: Float, direction: Int32)] = []
    /// The heights at which lines of a cluster begin and end.
    private var levels: [Float] = []
    /// Where the outline crosses two of them.
    private var spans: [(top: Float, bottom: Float, direction: Int32)] = []
    /// For each column the change of what is covered of it, and of the winding number, from the column before.
    private var covered: [Float] = []
    private var wound: [Float] = []
    /// The cost of the last area on any machine: about the number of chords, of pixels, and of crossings with lines.
    private(set) var visited = 0
    private var visitedAtLastCheck = 0

    /// Covers the clear rows of a box. Returns false, and leaves them clear, where `isWanted`, which is asked about every
    /// ``StrokePainter/pixelsBetweenChecks`` visited pixels, is false.
    ///
    /// Rows with too many pieces for the memory are covered by halves: ``AreaEdges/maxPieces``.
    ///
    /// - Parameters:
    ///   - scale: pixels a unit of the path.
    ///   - box: the pixels of the canvas that the rows stand for.
    mutating func cover(
        _ rows: CoverageRows, with path: Path, scale: Double, box: PixelBox, _ buffer: inout AccumulationBuffer,
        while isWanted: () -> Bool
    ) -> Bool {
        visited = 0
        visitedAtLastCheck = 0
        var bands = [0..<box.height]
        while let band = bands.popLast() {
            let isOneRow = band.count == 1
            let result = buffer.withRows(width: box.width, height: band.count, isUnclipped: false) {
                cover(
                    rows.part(band), with: path, scale: scale,
                    origin: Point(Double(box.minX), Double(box.minY + band.lowerBound)), $0,
                    maxPieces: isOneRow ? .max : AreaEdges.maxPieces, while: isWanted)
            }
            switch result {
            case .covered: break
            case .tooMany:
                // What has been added of the edges is still there.
                buffer.discard()
                let middle = band.lowerBound + band.count / 2
                bands.append(middle..<band.upperBound)
                bands.append(band.lowerBound..<middle)
            case .unwanted:
                rows.wipe()
                return false
            }
        }
        return true
    }

    private enum CoverResult { case covered, tooMany, unwanted }

    private mutating func cover(
        _ rows: CoverageRows, with path: Path, scale: Double, origin: Point, _ accumulation: AccumulationRows,
        maxPieces: Int, while isWanted: () -> Bool
    ) -> CoverResult {
        var accumulation = accumulation
        edges.begin(width: rows.width, height: rows.height)
        for contour in path.contours {
            guard edges.add(contour, scale: scale, origin: origin, to: &accumulation, maxPieces: maxPieces) else {
                return .tooMany
            }
        }
        accumulation.flush()
        sortPieces(rows: rows.height)
        visited &+= edges.places.count &+ edges.pieces.count
        if covered.count < rows.width + 2 {
            covered = [Float](repeating: 0, count: rows.width + 2)
            wound = covered
        }
        var left: Int32 = 0
        var isStillWanted = true
        for y in 0..<rows.height {
            left &+= edges.leftWindings[y]
            // What is not wanted any more still has to be cleared.
            accumulation.resolveSizes(y, left: left, into: rows)
            guard isStillWanted else { continue }
            resolveClusters(y, left: left, rows)
            visited &+= rows.width
            if visited > visitedAtLastCheck &+ StrokePainter.pixelsBetweenChecks {
                visitedAtLastCheck = visited
                isStillWanted = isWanted()
            }
        }
        return isStillWanted ? .covered : .unwanted
    }

    /// Puts the pieces in the order of rows, and of columns in each row.
    private mutating func sortPieces(rows: Int) {
        starts.removeAll(keepingCapacity: true)
        starts.append(contentsOf: repeatElement(0, count: rows + 1))
        for piece in edges.pieces { starts[Int(piece.row) &+ 1] &+= 1 }
        for row in 0..<rows { starts[row &+ 1] &+= starts[row] }
        order.removeAll(keepingCapacity: true)
        guard let some = edges.pieces.first else { return }
        order.append(contentsOf: repeatElement(some, count: edges.pieces.count))
        var next = starts
        for piece in edges.pieces {
            let row = Int(piece.row)
            order[Int(next[row])] = piece
            next[row] &+= 1
        }
        order.withUnsafeMutableBufferPointer { order in
            for row in 0..<rows {
                let range = Int(starts[row])..<Int(starts[row &+ 1])
                Self.sort(UnsafeMutableBufferPointer(rebasing: order[range])) { $0.left > $1.left }
            }
        }
    }

    /// Sorts by insertion where there are few elements, as in most rows; equal ones stay in their order.
    @inline(__always)
    private static func sort<Element>(
        _ elements: UnsafeMutableBufferPointer<Element>, isBehind: (Element, Element) -> Bool
    ) {
        var elements = elements
        guard elements.count <= 16 else { return elements.sort { isBehind($1, $0) } }
        var index = 1
        while index < elements.count {
            let element = elements[index]
            var place = index
            while place > 0, isBehind(elements[place &- 1], element) {
                elements[place] = elements[place &- 1]
                place &-= 1
            }
            elements[place] = element
            index &+= 1
        }
    }

    private mutating func resolveClusters(_ y: Int, left: Int32, _ rows: CoverageRows) {
        var winding = left
        let middle = Float(y) + 0.5
        var first = Int(starts[y])
        let end = Int(starts[y &+ 1])
        while first < end {
            var right = order[first].right
            var next = first &+ 1
            while next < end, order[next].left <= right {
                right = max(right, order[next].right)
                next &+= 1
            }
            if next &- first > 1, !isPlain(first..<next, left: winding) {
                sample(first..<next, through: Int(right), y: y, left: winding, rows)
            }
            // Behind the cluster the winding number is the same in all of the row.
            for piece in order[first..<next] where piece.top <= middle && middle < piece.bottom {
                winding &+= piece.direction
            }
            first = next
        }
    }

    /// Clusters of more pieces, or of lines that begin and end at more heights, are sampled.
    private static let maxPlainPieces = 6
    private static let maxPlainLevels = 16
    /// Pieces that are nearer, in pixels, may cross.
    private static let plainSlack: Float = 0x1p-10

    /// Whether the prefix sums are right in a cluster: its pieces do not cross each other, and the winding numbers between
    /// them are just 0 and one of 1 and −1, or never 0.
    private mutating func isPlain(_ cluster: Range<Int>, left: Int32) -> Bool {
        guard cluster.count <= Self.maxPlainPieces else { return false }
        levels.removeAll(keepingCapacity: true)
        for index in cluster {
            let piece = order[index]
            guard Int(piece.last &- piece.first) <= Self.maxPlainLevels else { return false }
            addLevel(piece.top)
            addLevel(piece.bottom)
            var place = Int(piece.first) &+ 1
            while place < Int(piece.last) {
                let y = edges.places[place].y
                if piece.top < y, y < piece.bottom { addLevel(y) }
                place &+= 1
            }
        }
        guard levels.count <= Self.maxPlainLevels else { return false }
        var (lowest, highest) = (left, left)
        var level = 1
        while level < levels.count {
            let (top, bottom) = (levels[level &- 1], levels[level])
            level &+= 1
            spans.removeAll(keepingCapacity: true)
            for index in cluster where order[index].top <= top && bottom <= order[index].bottom {
                let piece = order[index]
                let line = line(of: piece, at: (top + bottom) * 0.5)
                var place = spans.count
                let span = (x(on: line, at: top), x(on: line, at: bottom), piece.direction)
                spans.append(span)
                while place > 0, spans[place &- 1].top + spans[place &- 1].bottom > span.0 + span.1 {
                    spans[place] = spans[place &- 1]
                    place &-= 1
                }
                spans[place] = span
            }
            var winding = left
            for place in spans.indices {
                let span = spans[place]
                if place > 0 {
                    let last = spans[place &- 1]
                    guard last.top < span.top + Self.plainSlack, last.bottom < span.bottom + Self.plainSlack else {
                        return false
                    }
                }
                winding &+= span.direction
                lowest = min(lowest, winding)
                highest = max(highest, winding)
            }
        }
        return lowest > 0 || highest < 0 || (lowest == 0 && highest <= 1) || (lowest >= -1 && highest == 0)
    }

    /// Adds a height, in order.
    @inline(__always)
    private mutating func addLevel(_ y: Float) {
        levels.append(y)
        var place = levels.count &- 1
        while place > 0, levels[place &- 1] >= y {
            guard levels[place &- 1] > y else {
                levels.remove(at: place)
                return
            }
            levels.swapAt(place &- 1, place)
            place &-= 1
        }
    }

    /// Samples the winding numbers of a cluster, and writes the pixels where they are not just 0 and one of 1 and −1.
    private mutating func sample(_ cluster: Range<Int>, through right: Int, y: Int, left: Int32, _ rows: CoverageRows) {
        let first = Int(order[cluster.lowerBound].left)
        for line in 0..<Self.lines {
            findCrossings(cluster, y: Float(y) + (Float(line) + 0.5) / Float(Self.lines))
            var winding = left
            mark(winding != 0 ? 1 : 0, Float(winding), at: Float(first))
            for crossing in crossings {
                let before: Float = winding != 0 ? 1 : 0
                winding &+= crossing.direction
                let after: Float = winding != 0 ? 1 : 0
                mark(after - before, Float(crossing.direction), at: crossing.x)
            }
            visited &+= crossings.count
        }
        let row = rows.row(y)
        var (cover, wind): (Float, Float) = (0, 0)
        for x in first...right {
            cover += covered[x]
            wind += wound[x]
            covered[x] = 0
            wound[x] = 0
            let mean = cover / Float(Self.lines)
            if abs(mean - abs(wind) / Float(Self.lines)) > Self.slack {
                row[x] = UInt8(truncatingIfNeeded: (mean.raised(to: 0).lowered(to: 1) * 255).roundedToInt)
            }
        }
        covered[right &+ 1] = 0
        wound[right &+ 1] = 0
        rows.dirty[y] |= rows.blocks.bits(first..<right &+ 1)
    }

    /// Changes what is covered, and the winding number, to the right of a place on a line.
    @inline(__always)
    private mutating func mark(_ cover: Float, _ winding: Float, at x: Float) {
        let column = Int(x.cell)
        let part = Float(column &+ 1) - x
        covered[column] += cover * part
        covered[column &+ 1] += cover * (1 - part)
        wound[column] += winding * part
        wound[column &+ 1] += winding * (1 - part)
    }

    /// Finds where the pieces of a cluster cross a line across the row, from the left.
    private mutating func findCrossings(_ cluster: Range<Int>, y: Float) {
        crossings.removeAll(keepingCapacity: true)
        for index in cluster {
            let piece = order[index]
            guard piece.top <= y, y < piece.bottom else { continue }
            let x = x(on: line(of: piece, at: y), at: y)
            // Rounded, a crossing may be beside its pixels.
            crossings.append((x.raised(to: Float(piece.left)).lowered(to: Float(piece.right &+ 1)), piece.direction))
        }
        crossings.withUnsafeMutableBufferPointer { Self.sort($0) { $0.x > $1.x } }
    }

    /// The place at which the line of a piece begins that crosses a height between its ends.
    @inline(__always)
    private func line(of piece: Piece, at y: Float) -> Int {
        var place = Int(piece.first)
        // Of lines that lead down the first one that ends below, of those that lead up the first one that ends above.
        while place &+ 1 < Int(piece.last) {
            let end = edges.places[place &+ 1].y
            if piece.direction > 0 ? end > y : end <= y { break }
            place &+= 1
        }
        return place
    }

    @inline(__always)
    private func x(on line: Int, at y: Float) -> Float {
        let (from, to) = (edges.places[line], edges.places[line &+ 1])
        return from.x + (y - from.y) / (to.y - from.y) * (to.x - from.x)
    }
}
