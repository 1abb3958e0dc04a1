/// Cells of signed area while they are lent: outlines go in side by side, coverage comes out row by row. Not to be kept.
///
/// A side adds to the cells of every row what it covers of the pixels to its right: the running sum along a row is then
/// the exact covered part of each pixel, times how often the outline winds around it (the method of FreeType's and
/// font-rs's rasterisers, in single precision, and with bent sides). Sides may lie anywhere: what is above, below or to
/// the right of the box covers nothing of it, what is to the left of it covers whole rows, and costs no more for many
/// rows than for one.
///
/// Sides are cut at the borders of the rows first, four rows at a time; the pieces wait in ``SidePieces`` and are added
/// to the cells four at a time, whichever sides they are of.
struct AreaRows {
    let cells: UnsafeMutablePointer<Float>
    /// How what lies left of the box changes from row to row: as many rows as the box and two more.
    let lefts: UnsafeMutablePointer<Float>
    /// Which blocks of each row hold anything.
    let marks: UnsafeMutablePointer<UInt64>
    let blocks: RowBlocks
    var pieces: SidePieces
    let stride: Int
    let width: Int
    let height: Int

    /// Whether all sides lie in the box.
    let isWhole: Bool

    /// Adds a side of an outline.
    mutating func add(_ side: Side) {
        guard isWhole || isInside(side) else { return addPart(side) }
        guard side.turnsBack else { return addFalling(side) }
        let (first, second) = side.parts
        addFalling(first, second)
    }

    /// Adds two sides of an outline.
    @inline(__always)
    mutating func add(_ one: Side, _ other: Side) {
        if isWhole, !one.turnsBack, !other.turnsBack {
            addFalling(one, other)
        } else {
            add(one)
            add(other)
        }
    }

    private func isInside(_ side: Side) -> Bool {
        func isInside(_ place: SIMD2<Float>) -> Bool {
            place.x >= 0 && place.y >= 0 && place.x < Float(width) && place.y < Float(height)
        }
        // A parabola stays within the triangle of its ends and its control point.
        return isInside(side.start) && isInside(side.end) && isInside((side.start + side.end) * 0.5 + side.sag * 2)
    }

    /// Adds a side in the box that only falls or only rises.
    mutating func addFalling(_ side: Side) {
        add(FallingSides(side, side, lowest: Float(height).nextDown).first)
    }

    /// Adds two of them, which are worked out in one vector.
    private mutating func addFalling(_ one: Side, _ other: Side) {
        let sides = FallingSides(one, other, lowest: Float(height).nextDown)
        if sides.areShort {
            sides.addShort(to: &pieces)
            if pieces.isFull { settle() }
        } else {
            add(sides.first)
            add(sides.second)
        }
    }

    @inline(__always)
    private mutating func add(_ side: FallingSide) {
        let first = side.pieces(from: side.start, passed: 0)
        pieces.add(first, count: side.count)
        if side.count > 4 { goOn(side, behind: first.end) }
        if pieces.isFull { settle() }
    }

    /// Adds what is left of a side after its first four pieces; makes room for the next ones.
    private mutating func goOn(_ side: FallingSide, behind end: FallingSide.Place) {
        var end = end
        var passed = 4
        while passed < side.count {
            if pieces.isFull { settle() }
            let next = side.pieces(from: end, passed: passed)
            pieces.add(next, count: side.count &- passed)
            end = next.end
            passed &+= 4
        }
    }
}
