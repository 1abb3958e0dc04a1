internal import Ink

/// The opacity of the ink of a stroke, for pens whose ink varies: a byte a pixel, on the stroke and beside it. Where the
/// stroke crosses itself the darker part counts.
///
/// The coverage of the whole stroke is multiplied by it once.
struct AlphaMask {
    let rows: CoverageRows

    /// The byte for an opacity of 0 … 1, rounded as ``CoverageRows/raise(_:_:)`` does.
    @inline(__always)
    static func level(_ opacity: Float) -> Int {
        Int(truncatingIfNeeded: (opacity * 255 + 12_582_912).bitPattern & 0xFF)
    }

    /// Raises the pixels beside a segment, and up to `before` and `after` pixels beyond its ends, to the opacity of the
    /// disc that is nearest to them. Returns the number of pixels.
    func raise(_ segment: StrokeSegment, before: Float, after: Float) -> Int {
        var visited = 0
        let start = segment.start
        let taper = segment.taper
        let shift = taper / (1 - taper * taper).root
        let frame = SegmentRows(segment, before: before + segment.skew, after: after + segment.skew)
        let thinning = (segment.end.opacity - start.opacity) / segment.length
        for y in frame.rows(rows) {
            let columns = frame.columns(y, rows)
            guard !columns.isEmpty else { continue }
            visited &+= columns.count
            markDirty(y, columns)
            let row = rows.row(y)
            let dy = Float(y) + 0.5 - start.y
            let alongRow = dy * segment.direction.y
            let acrossRow = dy * segment.direction.x
            var x = columns.lowerBound
            var dx = SIMD4<Float>(0.5, 1.5, 2.5, 3.5) + (Float(x) - start.x)
            while x < columns.upperBound {
                let along = dx * segment.direction.x + alongRow
                let across = acrossRow - dx * segment.direction.y
                let aside = across.replacing(with: -across, where: across .< 0)
                let foot = (along - aside * shift).raised(to: 0).lowered(to: segment.length)
                CoverageRows.raise(row + x, (start.opacity + foot * thinning) * 255)
                x &+= 4
                dx += 4
            }
        }
        return visited
    }

    /// Raises the pixels that a disc can touch to its opacity. Returns the number of pixels.
    func raise(_ sample: CentreSample) -> Int {
        let reach = sample.radius + SegmentRows.fringe
        let opacity = SIMD4(repeating: sample.opacity * 255)
        let columns = rows.columns(from: sample.x - reach, to: sample.x + reach)
        let lines = rows.rows(from: sample.y - reach, to: sample.y + reach)
        guard !columns.isEmpty else { return 0 }
        for y in lines {
            markDirty(y, columns)
            for x in stride(from: columns.lowerBound, to: columns.upperBound, by: 4) {
                CoverageRows.raise(rows.row(y) + x, opacity)
            }
        }
        return lines.count &* columns.count
    }

    @inline(__always)
    private func markDirty(_ y: Int, _ columns: Range<Int>) {
        // Vectors of four spill behind the last column.
        rows.dirty[y] |= rows.blocks.bits(columns.lowerBound..<columns.upperBound &+ 3)
    }

    /// Multiplies a row of a mask by the opacity, at least `least` (0 … 1), and wipes the row of opacity.
    func multiply(_ y: Int, of mask: CoverageRows, least: Float) {
        let least = Int(least.lowered(to: 1) * 255)
        let opacity = rows.row(y)
        let covered = mask.row(y)
        mask.forEachDirtyRange(y) { columns in
            for x in columns where covered[x] != 0 {
                let product = Int(covered[x]) &* max(Int(opacity[x]), least)
                covered[x] = UInt8(truncatingIfNeeded: (product &+ 127) / 255)
            }
        }
        rows.wipe(y)
    }
}

/// Paints the opacity of a stroke on an ``AlphaMask``, segment by segment: each reaches just so far beyond its ends that
/// the bend between it and its neighbour is filled. Methods that paint return the number of pixels visited.
struct AlphaPainter {
    private var pending: StrokeSegment?
    private var before: Float = 0
    private var least: Float = 1
    /// The least byte of the mask, 0 … 255: ink that is no darker changes nothing.
    private var floor = 0

    mutating func add(_ segment: StrokeSegment, to mask: AlphaMask) -> Int {
        var visited = 0
        var overlap = Self.round(segment.start)
        if let pending {
            // The tangent of half the angle of the bend.
            let cosine = pending.endTangent.dot(segment.startTangent)
            let wedge = ((1 - cosine).raised(to: 0) / (1 + cosine).raised(to: 1e-3)).root
            overlap = ((segment.start.radius + SegmentRows.fringe) * wedge + 0.01).lowered(to: overlap)
            visited = raise(pending, after: overlap, on: mask)
        }
        before = overlap
        pending = segment
        least = least.lowered(to: segment.start.opacity).lowered(to: segment.end.opacity)
        return visited
    }

    /// Paints the opacity of a lone disc.
    mutating func add(_ sample: CentreSample, to mask: AlphaMask) -> Int {
        least = least.lowered(to: sample.opacity)
        let level = AlphaMask.level(sample.opacity)
        guard level > floor else { return 0 }
        let visited = mask.raise(sample)
        if visited == mask.rows.width &* mask.rows.height { floor = level }
        return visited
    }

    /// Ends the line: the next segment does not continue it.
    mutating func finish(on mask: AlphaMask) -> Int {
        defer { pending = nil }
        return pending.map { raise($0, after: Self.round($0.end), on: mask) } ?? 0
    }

    /// Raises the mask to a segment, unless all of it is as dark already.
    ///
    /// This bounds the work of lines wider than the canvas, whose segments visit all of it: of the segments between two
    /// points one can pass the floor, and any other that is painted raises the floor by 1 at least.
    private mutating func raise(_ segment: StrokeSegment, after: Float, on mask: AlphaMask) -> Int {
        let (start, end) = (segment.start.opacity, segment.end.opacity)
        // Interpolated opacities may miss both ends by their last bits.
        let slack: Float = start == end ? 0 : 1e-5
        guard AlphaMask.level(start.raised(to: end) + slack) > floor else { return 0 }
        let visited = mask.raise(segment, before: before, after: after)
        if visited == mask.rows.width &* mask.rows.height {
            floor = max(floor, AlphaMask.level(start.lowered(to: end) - slack))
        }
        return visited
    }

    /// Multiplies the coverage of the whole stroke by its opacity.
    func multiply(_ coverage: CoverageRows, by mask: AlphaMask) {
        for y in 0..<coverage.height { mask.multiply(y, of: coverage, least: least) }
    }

    private static func round(_ sample: CentreSample) -> Float { sample.radius + SegmentRows.fringe }
}

/// The pixels of each row that a segment of a stroke can touch.
///
/// A segment lies in a strip along its chord and between two lines across its ends. Their columns change linearly from row
/// to row.
struct SegmentRows {
    /// Half the diagonal of a pixel, rounded up: farther than this from a disc no pixel is covered.
    static let fringe: Float = 0.71
    private static let far: Float = 1e9

    private let top: Float
    private let bottom: Float
    private let originX: Float
    private let originY: Float
    /// Of the strip: columns a row, the column at the origin's row, and half the width.
    private let stripSlope: Float
    private let stripAt: Float
    private let stripHalf: Float
    private let begin: Border
    private let finish: Border

    /// A line across an end. No column left of `at + slope·dy + left` or right of `at + slope·dy + right` is visited: one of
    /// both is far away.
    private struct Border {
        var slope: Float
        var at: Float
        var left: Float
        var right: Float

        /// The line through a point moved by `distance` along the direction; the columns ahead of it are visited.
        @inline(__always)
        init(x: Float, y: Float, directionX: Float, directionY: Float, distance: Float) {
            guard abs(directionX) > 1e-4 else {
                // A level border is left to the bounds of the rows.
                (slope, at, left, right) = (0, 0, -far, far)
                return
            }
            let perColumn = 1 / directionX
            slope = -directionY * perColumn
            at = x + distance * perColumn - slope * y
            left = directionX > 0 ? 0 : -2 * far
            right = directionX > 0 ? 2 * far : 0
        }
    }

    /// The pixels of a segment that is extended by so many pixels beyond its ends.
    @inline(__always)
    init(_ segment: StrokeSegment, before: Float, after: Float) {
        let reach = segment.maxRadius + Self.fringe
        let bulge = -segment.sag.dot(segment.direction.left)
        let bend = abs(bulge)
        originX = segment.start.x
        originY = segment.start.y
        let rise = segment.end.y - originY
        // The ends are straight across; an arc that passes its highest or lowest point in between goes farther.
        let peaks = segment.startTangent.y * segment.endTangent.y < 0
        let startTangent = abs(segment.startTangent.x)
        let endTangent = abs(segment.endTangent.x)
        let spread = peaks ? reach + bend : reach * (startTangent > endTangent ? startTangent : endTangent)
        top = (0 as Float).lowered(to: rise) - spread - before - after
        bottom = (0 as Float).raised(to: rise) + spread + before + after
        let isLevel = abs(segment.direction.y) < 1e-4
        let perRow = 1 / segment.direction.y
        stripSlope = isLevel ? 0 : segment.direction.x * perRow
        stripAt = isLevel ? 0 : -bulge * 0.5 * perRow
        stripHalf = isLevel ? Self.far : (reach + bend * 0.5) * abs(perRow)
        begin = Border(
            x: 0, y: 0, directionX: segment.startTangent.x, directionY: segment.startTangent.y, distance: -before)
        finish = Border(
            x: segment.end.x - originX, y: rise, directionX: -segment.endTangent.x, directionY: -segment.endTangent.y,
            distance: -after)
    }

    @inline(__always)
    func rows(_ rows: CoverageRows) -> Range<Int> { rows.rows(from: originY + top, to: originY + bottom) }

    /// The columns of a row that may be covered.
    @inline(__always)
    func columns(_ y: Int, _ rows: CoverageRows) -> Range<Int> {
        let dy = Float(y) + 0.5 - originY
        let strip = stripAt + dy * stripSlope
        let first = begin.at + dy * begin.slope
        let last = finish.at + dy * finish.slope
        let left = (first + begin.left).raised(to: last + finish.left)
        let right = (first + begin.right).lowered(to: last + finish.right)
        return rows.columns(
            from: originX + (strip - stripHalf).raised(to: left), to: originX + (strip + stripHalf).lowered(to: right))
    }
}

extension StrokeSegment {
    /// How far the edges of a tapered segment reach beyond one of its ends: they are not parallel to its chord.
    @inline(__always)
    fileprivate var skew: Float {
        taper == 0 ? 0 : abs(taper) / (1 - taper * taper).root * (maxRadius + SegmentRows.fringe)
    }
}
