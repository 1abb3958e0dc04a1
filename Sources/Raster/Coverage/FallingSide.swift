internal import CLanes

/// A side of an outline that only falls or only rises, ready to be cut at the borders of rows: each number four times.
///
/// One that rises is taken as one that falls in a world upside down: y(t) = top + slope·t − sink·t².
struct FallingSide {
    let startX, wide, bend, top, floor, slope, slopeSquared, fourSinks, height, curve: SIMD4<Float>
    /// Where the first row ends.
    let border: SIMD4<Float>
    let firstRow: SIMD4<Int32>
    /// All bits of a side that rises.
    let rising: SIMD4<Int32>
    /// How many rows it passes.
    let count: Int

    /// A place on it, in the first number of each: a column, a row times the sign with which it counts, a part of the
    /// way.
    struct Place {
        var x, y, at: SIMD4<Float>
    }

    /// Where it begins.
    @inline(__always)
    var start: Place { Place(x: startX, y: top * height, at: .zero) }

    /// The four pieces behind a place that so many pieces have been passed to; those behind the end are empty.
    @inline(__always)
    func pieces(from start: Place, passed: Int) -> Pieces {
        let steps = SIMD4<Float>(0, 1, 2, 3) + Float(passed)
        let borders = lanes_kept(border + steps)
        let y = borders.lowered(to: floor)
        let sunk = y - top
        let root = lanes_root((slopeSquared - sunk * fourSinks).raised(to: 0))
        let solved = (sunk * 2 / (root + slope).raised(to: 0x1p-60)).lowered(to: 1)
        let endAt = lanes_kept(solved.replacing(with: 1, where: borders .>= floor))
        let endX = lanes_kept((wide + (1 - endAt) * bend) * endAt + startX)
        let endY = lanes_kept(y * height)
        let share = endAt - lanes_behind(start.at, endAt)
        let rows = SIMD4<Int32>(0, 1, 2, 3) &+ Int32(truncatingIfNeeded: passed)
        return Pieces(
            startX: lanes_behind(start.x, endX), endX: endX,
            fall: endY - lanes_behind(start.y, endY),
            bend: share * share * share * curve,
            rows: ((rows ^ rising) &- rising) &+ firstRow,
            count: min(count &- passed, 4),
            end: Place(x: lanes_last(endX), y: lanes_last(endY), at: lanes_last(endAt)))
    }

    /// Up to four pieces of a side, each in a row of its own.
    struct Pieces {
        /// Where they begin and end, in columns.
        let startX, endX: SIMD4<Float>
        /// How far they go down, times the sign with which that counts.
        let fall: SIMD4<Float>
        /// The areas between them and their chords.
        let bend: SIMD4<Float>
        let rows: SIMD4<Int32>
        let count: Int
        /// Where the fourth ends.
        let end: Place
    }
}

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
