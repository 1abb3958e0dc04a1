extension AreaRows {
    /// Adds a side within one row.
    @inline(__always)
    func add(_ y: Int, from start: SIMD2<Float>, to end: SIMD2<Float>, sag: SIMD2<Float>, sign: Float) {
        // The parabola is off its chord by two thirds of this, as an area.
        add(
            y, from: start, to: end, cross: (end.x - start.x) * sag.y - (end.y - start.y) * sag.x, sign: sign)
    }

    /// The same, with what makes up its bend.
    @inline(__always)
    func add(_ y: Int, from start: SIMD2<Float>, to end: SIMD2<Float>, cross: Float, sign: Float) {
        let fall = end.y - start.y
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
        let isRight = first < last
        let border = (isRight ? last : first) - .shift
        guard abs(last - first) == 1 else {
            return spread(y, from: start.x, to: end.x, fall: fall, cross: cross, sign: sign)
        }
        // Two pixels: the part in the right one is as long as it is wide.
        let left = isRight ? start.x : end.x
        let right = isRight ? end.x : start.x
        let over = right - border
        let share = over / (right - left)
        let other = fall * sign * share
        let one = fall * sign - other
        let curve = cross * (sign * (-2 / 3))
        let part = one * ((left - border) * 0.5 + 1) + curve * (1 - share)
        let rest = other * (over * 0.5) + curve * share
        let leftmost = isRight ? column : column &- 1
        let row = cells + (y &* stride &+ leftmost)
        row[0] += one - part
        row[1] += part + (other - rest)
        row[2] += rest
        widen(y, from: leftmost, to: leftmost &+ 3)
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
