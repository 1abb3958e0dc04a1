internal import CLanes

/// Two sides at once, in the first two numbers of each vector.
struct FallingSides {
    private let startX, wide, bend, top, floor, slope, slopeSquared, fourSinks: SIMD4<Float>
    private let height, curve, border: SIMD4<Float>
    private let firstRow, rising, counts: SIMD4<Int32>

    /// Takes two sides; what lies above or below rows 0 … `lowest` is moved there.
    @inline(__always)
    init(_ one: Side, _ other: Side, lowest: Float) {
        let start = lanes_pairs(one.start, other.start)
        let end = lanes_pairs(one.end, other.end)
        let sag = lanes_pairs(one.sag, other.sag)
        let sagY = lanes_high(sag)
        let sign = SIMD4(one.sign, other.sign, one.sign, other.sign)
        let startY = lanes_kept(lanes_high(start).raised(to: 0).lowered(to: lowest))
        let endY = lanes_kept(lanes_high(end).raised(to: 0).lowered(to: lowest))
        let rise = endY - startY
        // The sign of those that rise turns them upside down.
        let upside = unsafeBitCast(rise, to: SIMD4<UInt32>.self) & 0x8000_0000
        func turned(_ value: SIMD4<Float>) -> SIMD4<Float> {
            unsafeBitCast(unsafeBitCast(value, to: SIMD4<UInt32>.self) ^ upside, to: SIMD4<Float>.self)
        }
        rising = unsafeBitCast(upside, to: SIMD4<Int32>.self) &>> 31
        startX = start
        wide = lanes_kept(end - start)
        bend = lanes_kept(sag * 4)
        top = turned(startY)
        floor = turned(endY)
        let sink = lanes_kept(turned(sagY * 4))
        slope = lanes_kept(turned(rise) + sink)
        slopeSquared = lanes_kept(slope * slope)
        fourSinks = lanes_kept(sink * 4)
        height = turned(sign)
        // Two thirds of the parallelogram of chord and sag.
        curve = lanes_kept((wide * sagY - rise * sag) * sign * (2 / 3))
        firstRow = lanes_whole(startY)
        let passed = lanes_whole(endY) &- firstRow
        counts = ((passed ^ rising) &- rising) &+ 1
        let one = unsafeBitCast(SIMD4<UInt32>(repeating: (1 as Float).bitPattern), to: SIMD4<Int32>.self)
        border = lanes_kept(turned(lanes_floats(firstRow)) + unsafeBitCast(one & ~rising, to: SIMD4<Float>.self))
    }

    @inline(__always)
    var first: FallingSide { side(lanes_first, count: counts.x) }

    @inline(__always)
    var second: FallingSide { side(lanes_second, count: counts.y) }

    /// Whether neither passes more than two rows.
    @inline(__always)
    var areShort: Bool { max(counts.x, counts.y) <= 2 }

    /// Adds the pieces of short sides, up to two of each, worked out at once.
    func addShort(to pieces: inout SidePieces) {
        let both = side(lanes_each, count: 2)
        pieces.add(
            both.pieces(from: both.start, steps: SIMD4(0, 1, 0, 1), behind: lanes_behind_each),
            firstCount: Int(truncatingIfNeeded: counts.x), secondCount: Int(truncatingIfNeeded: counts.y))
    }

    @inline(__always)
    private func side(_ lane: (SIMD4<Float>) -> SIMD4<Float>, count: Int32) -> FallingSide {
        func whole(_ value: SIMD4<Int32>) -> SIMD4<Int32> {
            unsafeBitCast(lane(unsafeBitCast(value, to: SIMD4<Float>.self)), to: SIMD4<Int32>.self)
        }
        return FallingSide(
            startX: lane(startX), wide: lane(wide), bend: lane(bend), top: lane(top), floor: lane(floor),
            slope: lane(slope), slopeSquared: lane(slopeSquared), fourSinks: lane(fourSinks), height: lane(height),
            curve: lane(curve), border: lane(border), firstRow: whole(firstRow), rising: whole(rising),
            count: Int(truncatingIfNeeded: count))
    }
}
