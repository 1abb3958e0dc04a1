internal import CLanes

/// A side of an outline that only falls or only rises, ready to be cut at the borders of rows.
///
/// One that rises is taken as one that falls in a world upside down: y(t) = top + slope·t − sink·t².
struct FallingSide {
    private let startX: Float
    private let wide: Float
    private let bend: Float
    private let top: Float
    private let floor: Float
    private let slope: Float
    private let sink: Float
    /// Where the first row ends.
    private let border: Float
    /// The sign with which its height counts.
    private let height: Float
    /// The area between it and its chord.
    private let curve: Float
    private let firstRow: Int32
    /// All bits of a side that rises.
    private let rising: Int32
    /// How many rows it passes.
    let count: Int

    /// Takes a side; what lies above or below rows 0 … `lowest` is moved there.
    @inline(__always)
    init(_ side: Side, lowest: Float) {
        let startY = side.start.y.raised(to: 0).lowered(to: lowest)
        let endY = side.end.y.raised(to: 0).lowered(to: lowest)
        let rise = endY - startY
        let isRising = rise < 0
        let down: Float = isRising ? -1 : 1
        rising = isRising ? -1 : 0
        startX = side.start.x
        wide = side.end.x - side.start.x
        bend = side.sag.x * 4
        top = startY * down
        floor = endY * down
        sink = side.sag.y * 4 * down
        slope = rise * down + sink
        height = side.sign * down
        // Two thirds of the parallelogram of chord and sag.
        curve = (wide * side.sag.y - rise * side.sag.x) * side.sign * (2 / 3)
        let first = startY.cell
        let last = endY.cell
        firstRow = first
        count = Int(truncatingIfNeeded: isRising ? first &- last : last &- first) &+ 1
        border = Float(first) * down + (isRising ? 0 : 1)
    }

    /// A place on it: a column, a row times the sign with which it counts, a part of the way.
    struct Place {
        var x, y, at: Float
    }

    /// Where it begins.
    @inline(__always)
    var start: Place { Place(x: startX, y: top * height, at: 0) }

    /// The four pieces behind a place that so many pieces have been passed to; those behind the end are empty.
    @inline(__always)
    func pieces(from start: Place, passed: Int) -> Pieces {
        let borders = lanes_kept(SIMD4(repeating: border + Float(passed)) + SIMD4(0, 1, 2, 3))
        let y = borders.lowered(to: floor)
        let sunk = y - top
        let root = lanes_root((slope * slope - sunk * (4 * sink)).raised(to: 0))
        let solved = (sunk * 2 / (root + slope).raised(to: 0x1p-60)).lowered(to: 1)
        let endAt = lanes_kept(solved.replacing(with: 1, where: borders .>= floor))
        let endX = lanes_kept((wide + (1 - endAt) * bend) * endAt + startX)
        let endY = lanes_kept(y * height)
        let share = endAt - lanes_behind(start.at, endAt)
        let row = firstRow &+ ((Int32(truncatingIfNeeded: passed) ^ rising) &- rising)
        let steps = lanes_kept_whole(SIMD4(repeating: rising))
        return Pieces(
            startX: lanes_behind(start.x, endX), endX: endX,
            fall: endY - lanes_behind(start.y, endY),
            bend: share * share * share * curve,
            rows: lanes_kept_whole((SIMD4(0, 1, 2, 3) ^ steps) &- steps) &+ row,
            count: min(count &- passed, 4),
            end: Place(x: endX.w, y: endY.w, at: endAt.w))
    }

    /// Up to four pieces of a side, each in a row of its own.
    struct Pieces {
        /// Where they begin and end, in columns.
        var startX, endX: SIMD4<Float>
        /// How far they go down, times the sign with which that counts.
        var fall: SIMD4<Float>
        /// The areas between them and their chords.
        var bend: SIMD4<Float>
        let rows: SIMD4<Int32>
        let count: Int
        /// Where the fourth ends.
        let end: Place
    }
}
