/// Cells of signed area while they are lent: outlines go in side by side, coverage comes out row by row. Not to be kept.
///
/// A side adds to the cells of every row what it covers of the pixels to its right: the running sum along a row is then
/// the exact covered part of each pixel, times how often the outline winds around it (the method of FreeType's and
/// font-rs's rasterisers, in single precision, and with bent sides). Sides may lie anywhere: what is above, below or to
/// the right of the box covers nothing of it, what is to the left of it covers whole rows, and costs no more for many
/// rows than for one.
struct AreaRows {
    let cells: UnsafeMutablePointer<Float>
    let spans: UnsafeMutablePointer<RowSpan>
    /// How what lies left of the box changes from row to row: as many rows as the box and two more.
    let lefts: UnsafeMutablePointer<Float>
    let stride: Int
    let width: Int
    let height: Int

    /// Adds a side of an outline, a parabola whose middle is by `sag` off its chord; `sign` is 1, or −1 where the outline
    /// runs the other way.
    @inline(__always)
    func add(from start: SIMD2<Float>, to end: SIMD2<Float>, sag: SIMD2<Float>, sign: Float) {
        // A parabola stays within the triangle of its ends and its control point.
        let control = (start + end) * 0.5 + sag * 2
        guard isInside(start), isInside(end), isInside(control) else {
            return addPart(from: start, to: end, sag: sag, sign: sign)
        }
        let rise = end.y - start.y
        guard abs(sag.y) * 4 > abs(rise) else { return addFalling(from: start, to: end, sag: sag, sign: sign) }
        // It turns back on its way: at the place where its slope is 0.
        let at = (0.5 + rise / (sag.y * 8)).raised(to: 0).lowered(to: 1)
        let peak = start + ((end - start) + sag * (4 * (1 - at))) * at
        addFalling(from: start, to: peak, sag: sag * (at * at), sign: sign)
        addFalling(from: peak, to: end, sag: sag * ((1 - at) * (1 - at)), sign: sign)
    }

    @inline(__always)
    private func isInside(_ place: SIMD2<Float>) -> Bool {
        place.x >= 0 && place.y >= 0 && place.x < Float(width) && place.y < Float(height)
    }

    /// Adds a side in the box that only falls or only rises.
    @inline(__always)
    func addFalling(from start: SIMD2<Float>, to end: SIMD2<Float>, sag: SIMD2<Float>, sign: Float) {
        var row = start.y.cell
        let last = end.y.cell
        if row == last { return add(row, from: start, to: end, sag: sag, sign: sign) }
        let way = end - start
        let bend = sag * 4
        let down = row < last
        let step: Float = down ? 1 : -1
        // y(t) = start + slope·t − bend·t², solved for the borders of the rows.
        let slope = way.y + bend.y
        let square = slope * slope
        var border = Float(row) + (down ? 1 : 0)
        var place = start
        var at: Float = 0
        while row != last {
            let fall = border - start.y
            let root = (square - 4 * bend.y * fall).raised(to: 0).squareRoot()
            let next = (2 * fall / (slope + root * step)).raised(to: at).lowered(to: 1)
            let x = start.x + (way.x + bend.x * (1 - next)) * next
            let reached = SIMD2(x.raised(to: 0).lowered(to: Float(width)), border)
            add(row, from: place, to: reached, sag: sag * ((next - at) * (next - at)), sign: sign)
            (place, at) = (reached, next)
            border += step
            row &+= down ? 1 : -1
        }
        add(row, from: place, to: end, sag: sag * ((1 - at) * (1 - at)), sign: sign)
    }

    /// Adds a side within one row.
    @inline(__always)
    private func add(_ y: Int, from start: SIMD2<Float>, to end: SIMD2<Float>, sag: SIMD2<Float>, sign: Float) {
        let fall = end.y - start.y
        // The parabola is off its chord by two thirds of this, as an area.
        let cross = (end.x - start.x) * sag.y - fall * sag.x
        let first = start.x.shifted
        let last = end.x.shifted
        let column = first.shiftedCell
        if first == last {
            // Within one pixel only the area counts.
            let row = cells + (y &* stride &+ column)
            let part = (fall * ((start.x + end.x) * 0.5 - (first - .shift)) - cross * (2 / 3)) * sign
            row[0] += fall * sign - part
            row[1] += part
            widen(y, from: column, to: column &+ 2)
            return
        }
        spread(y, from: start.x, to: end.x, fall: fall, cross: cross, sign: sign)
    }

    /// Adds a side within one row to several pixels.
    private func spread(_ y: Int, from start: Float, to end: Float, fall: Float, cross: Float, sign: Float) {
        var left = start < end ? start : end
        var right = start < end ? end : start
        let wide = right - left
        let perColumn = 1 / wide
        // The bend is taken as what the height of a flat side, or else the place of a steep one, is off the chord.
        var bent: Float = 0
        if wide > abs(fall) {
            bent = 4 * cross * perColumn * sign
        } else {
            let shift = cross / fall * (-2 / 3)
            left = (left + shift).raised(to: 0)
            right = (right + shift).lowered(to: Float(width))
        }
        let whole = left.shifted
        let column = whole.shiftedCell
        let row = UnsafeMutableRawPointer(cells + (y &* stride &+ column))
        let steep = fall * sign
        let third = bent * wide * (1 / 6)
        // How far the left borders of the columns are from the left end.
        var border = SIMD4<Float>(0, 1, 2, 3) + ((whole - .shift) - left)
        var offset = 0
        repeat {
            let begin = (border * perColumn).clampedBelow(0).clampedAbove(1)
            let end = ((border + 1) * perColumn).clampedBelow(0).clampedAbove(1)
            let sum = begin + end
            // The last lane only takes what the third one hands on.
            let length = (end - begin) * Self.firstThree
            let share = length * (SIMD4(repeating: steep + bent) - sum * bent)
            let part = share * (sum * (0.5 * wide) - border) - length * length * length * third
            let change = share - part + SIMD4(0, part.x, part.y, part.z)
            let old = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<Float>.self)
            row.storeBytes(of: old + change, toByteOffset: offset, as: SIMD4<Float>.self)
            border += 3
            offset &+= 12
        } while border.x < wide && offset < (width &+ 2) &* 4
        widen(y, from: column, to: right.shifted.shiftedCell &+ 2)
    }

    private static let firstThree = SIMD4<Float>(1, 1, 1, 0)

    @inline(__always)
    func widen(_ y: Int, from lower: Int, to upper: Int) {
        let lower = Int32(truncatingIfNeeded: lower)
        let upper = Int32(truncatingIfNeeded: upper)
        if lower < spans[y].lower { spans[y].lower = lower }
        if upper > spans[y].upper { spans[y].upper = upper }
    }
}

extension Float {
    /// Adding 1.5 · 2²³ leaves the value, rounded to nearest, in the lower bits.
    static let shift: Float = 12_582_912

    /// The whole part of a value between 0 and 2²², with ``shift`` added; a whole number may give the one before.
    @inline(__always)
    var shifted: Float { (self - 0.5) + .shift }

    /// The whole number to which ``shift`` was added.
    @inline(__always)
    var shiftedCell: Int { Int(truncatingIfNeeded: bitPattern & 0x3F_FFFF) }

    /// The whole part of a value between 0 and 2²²; a whole number may give the one before.
    @inline(__always)
    var cell: Int { shifted.shiftedCell }
}

extension SIMD4<Float> {
    /// The lanes, at least `bound`.
    @inline(__always)
    func clampedBelow(_ bound: Float) -> Self {
        replacing(with: Self(repeating: bound), where: self .< bound)
    }

    /// The lanes, at most `bound`.
    @inline(__always)
    func clampedAbove(_ bound: Float) -> Self {
        replacing(with: Self(repeating: bound), where: self .> bound)
    }
}
