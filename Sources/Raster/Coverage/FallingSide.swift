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
        let steps = SIMD4<Int32>(0, 1, 2, 3) &+ Int32(truncatingIfNeeded: passed)
        return pieces(from: start, steps: steps, behind: lanes_behind)
    }

    /// The pieces that so many pieces lie before; `behind` says where each begins, from where its side begins and where
    /// the pieces end.
    @inline(__always)
    func pieces(
        from start: Place, steps: SIMD4<Int32>, behind: (SIMD4<Float>, SIMD4<Float>) -> SIMD4<Float>
    ) -> Pieces {
        let borders = lanes_kept(border + lanes_floats(steps))
        let y = borders.lowered(to: floor)
        let sunk = y - top
        let root = lanes_root((slopeSquared - sunk * fourSinks).raised(to: 0))
        let solved = (sunk * 2 / (root + slope).raised(to: 0x1p-60)).lowered(to: 1)
        let endAt = lanes_kept(solved.replacing(with: 1, where: borders .>= floor))
        let endX = lanes_kept((wide + (1 - endAt) * bend) * endAt + startX)
        let endY = lanes_kept(y * height)
        let share = endAt - behind(start.at, endAt)
        return Pieces(
            startX: behind(start.x, endX), endX: endX,
            fall: endY - behind(start.y, endY),
            bend: share * share * share * curve,
            rows: ((steps ^ rising) &- rising) &+ firstRow,
            end: Place(x: lanes_last(endX), y: lanes_last(endY), at: lanes_last(endAt)))
    }

    /// Four pieces, each in one row.
    struct Pieces {
        /// Where they begin and end, in columns.
        let startX, endX: SIMD4<Float>
        /// How far they go down, times the sign with which that counts.
        let fall: SIMD4<Float>
        /// The areas between them and their chords.
        let bend: SIMD4<Float>
        let rows: SIMD4<Int32>
        /// Where the fourth ends.
        let end: Place
    }
}
