internal import CLanes

/// An edge whose y only grows or only shrinks, ready to be cut into spans at the borders of rows: each number four times.
///
/// A rising edge is mirrored, so that it falls: y(t) = top + slope·t − sink·t².
struct MonotoneEdge {
    let startX, wide, bend, top, floor, slope, slopeSquared, fourSinks, height, curve: SIMD4<Float>
    /// Where the first row ends.
    let border: SIMD4<Float>
    let firstRow: SIMD4<Int32>
    /// All bits set for a rising edge, else none.
    let rising: SIMD4<Int32>
    /// The number of rows that the edge passes, and so of its spans.
    let count: Int

    /// A place on the edge, in the first lane of each: the column, the row times the sign, and the parameter t.
    struct Place {
        var x, y, at: SIMD4<Float>
    }

    @inline(__always)
    var start: Place { Place(x: startX, y: top * height, at: .zero) }

    /// The next four spans from a place that lies behind `passed` spans; those behind the end are empty.
    @inline(__always)
    func spans(from start: Place, passed: Int) -> Spans {
        let steps = SIMD4<Int32>(0, 1, 2, 3) &+ Int32(truncatingIfNeeded: passed)
        return spans(from: start, steps: steps, behind: lanes_behind)
    }

    /// The spans with the given numbers. `behind` gives the starts of the spans, from the start of the edge and the ends
    /// of the spans.
    @inline(__always)
    func spans(
        from start: Place, steps: SIMD4<Int32>, behind: (SIMD4<Float>, SIMD4<Float>) -> SIMD4<Float>
    ) -> Spans {
        let borders = lanes_kept(border + lanes_floats(steps))
        let y = borders.lowered(to: floor)
        let sunk = y - top
        let root = lanes_root((slopeSquared - sunk * fourSinks).raised(to: 0))
        let solved = (sunk * 2 / (root + slope).raised(to: 0x1p-60)).lowered(to: 1)
        let endAt = lanes_kept(solved.replacing(with: 1, where: borders .>= floor))
        let endX = lanes_kept((wide + (1 - endAt) * bend) * endAt + startX)
        let endY = lanes_kept(y * height)
        let share = endAt - behind(start.at, endAt)
        return Spans(
            startX: behind(start.x, endX), endX: endX,
            fall: endY - behind(start.y, endY),
            bend: share * share * share * curve,
            rows: ((steps ^ rising) &- rising) &+ firstRow,
            end: Place(x: lanes_last(endX), y: lanes_last(endY), at: lanes_last(endAt)))
    }

    /// Four spans: the parts of an edge in one row each.
    struct Spans {
        /// The columns of their ends.
        let startX, endX: SIMD4<Float>
        /// Their heights times their signs.
        let fall: SIMD4<Float>
        /// The areas between them and their chords.
        let bend: SIMD4<Float>
        let rows: SIMD4<Int32>
        /// The end of the fourth.
        let end: Place
    }
}

/// Two monotone edges, in the first two lanes of each vector.
struct MonotoneEdgePair {
    private let startX, wide, bend, top, floor, slope, slopeSquared, fourSinks: SIMD4<Float>
    private let height, curve, border: SIMD4<Float>
    private let firstRow, rising, counts: SIMD4<Int32>

    /// Takes two edges; y is clamped to 0 … `lowest`.
    @inline(__always)
    init(_ one: Edge, _ other: Edge, lowest: Float) {
        let start = lanes_pairs(one.start, other.start)
        let end = lanes_pairs(one.end, other.end)
        let sag = lanes_pairs(one.sag, other.sag)
        let sagY = lanes_high(sag)
        let sign = SIMD4(one.sign, other.sign, one.sign, other.sign)
        let startY = lanes_kept(lanes_high(start).raised(to: 0).lowered(to: lowest))
        let endY = lanes_kept(lanes_high(end).raised(to: 0).lowered(to: lowest))
        let rise = endY - startY
        // The sign bit of rising edges mirrors them.
        let upside = unsafeBitCast(rise, to: SIMD4<UInt32>.self) & 0x8000_0000
        func mirrored(_ value: SIMD4<Float>) -> SIMD4<Float> {
            unsafeBitCast(unsafeBitCast(value, to: SIMD4<UInt32>.self) ^ upside, to: SIMD4<Float>.self)
        }
        rising = unsafeBitCast(upside, to: SIMD4<Int32>.self) &>> 31
        startX = start
        wide = lanes_kept(end - start)
        bend = lanes_kept(sag * 4)
        top = mirrored(startY)
        floor = mirrored(endY)
        let sink = lanes_kept(mirrored(sagY * 4))
        slope = lanes_kept(mirrored(rise) + sink)
        slopeSquared = lanes_kept(slope * slope)
        fourSinks = lanes_kept(sink * 4)
        height = mirrored(sign)
        // Two thirds of the parallelogram of chord and sag.
        curve = lanes_kept((wide * sagY - rise * sag) * sign * (2 / 3))
        firstRow = lanes_whole(startY)
        let passed = lanes_whole(endY) &- firstRow
        counts = ((passed ^ rising) &- rising) &+ 1
        let unit = unsafeBitCast(SIMD4<UInt32>(repeating: (1 as Float).bitPattern), to: SIMD4<Int32>.self)
        border = lanes_kept(mirrored(lanes_floats(firstRow)) + unsafeBitCast(unit & ~rising, to: SIMD4<Float>.self))
    }

    @inline(__always)
    var first: MonotoneEdge { edge(lanes_first, count: counts.x) }

    @inline(__always)
    var second: MonotoneEdge { edge(lanes_second, count: counts.y) }

    /// Whether neither edge passes more than two rows.
    @inline(__always)
    var areShort: Bool { max(counts.x, counts.y) <= 2 }

    /// Adds the spans of short edges, up to two of each, computed at once.
    func addShort(to batch: inout SpanBatch) {
        let both = edge(lanes_each, count: 2)
        batch.add(
            both.spans(from: both.start, steps: SIMD4(0, 1, 0, 1), behind: lanes_behind_each),
            firstCount: Int(truncatingIfNeeded: counts.x), secondCount: Int(truncatingIfNeeded: counts.y))
    }

    @inline(__always)
    private func edge(_ lane: (SIMD4<Float>) -> SIMD4<Float>, count: Int32) -> MonotoneEdge {
        func whole(_ value: SIMD4<Int32>) -> SIMD4<Int32> {
            unsafeBitCast(lane(unsafeBitCast(value, to: SIMD4<Float>.self)), to: SIMD4<Int32>.self)
        }
        return MonotoneEdge(
            startX: lane(startX), wide: lane(wide), bend: lane(bend), top: lane(top), floor: lane(floor),
            slope: lane(slope), slopeSquared: lane(slopeSquared), fourSinks: lane(fourSinks), height: lane(height),
            curve: lane(curve), border: lane(border), firstRow: whole(firstRow), rising: whole(rising),
            count: Int(truncatingIfNeeded: count))
    }
}
