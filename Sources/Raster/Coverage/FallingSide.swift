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
    let curve: Float
    let firstRow: Int32
    /// 1, or −1 for one that rises.
    let step: Int32
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
        step = isRising ? -1 : 1
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
        firstRow = startY.cell
        count = Int(truncatingIfNeeded: (endY.cell &- firstRow) &* step &+ 1)
        border = Float(firstRow) * down + (isRising ? 0 : 1)
    }

    /// Where the piece that begins with the side begins.
    @inline(__always)
    var start: SidePieces.Place { SidePieces.Place(x: startX, y: top * height, at: 0) }

    /// Where its next four pieces end, of which so many have been passed.
    @inline(__always)
    func ends(after passed: Float) -> SidePieces.Ends {
        let borders = SIMD4<Float>(0, 1, 2, 3) + (border + passed)
        let y = borders.lowered(to: floor)
        let sunk = y - top
        let root = (slope * slope - sunk * (4 * sink)).raised(to: 0).nearRoot
        let solved = (sunk * 2 / (root + slope).raised(to: 0x1p-60)).lowered(to: 1)
        let at = solved.replacing(with: 1, where: borders .>= floor)
        let x = (wide + (1 - at) * bend) * at + startX
        return SidePieces.Ends(x: x, y: y * height, at: at)
    }
}
