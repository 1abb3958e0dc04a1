extension AreaRows {
    /// Chords are off by at most the inverse of this, in pixels.
    private static let chordsPerSag: Float = 64
    private static let mostChords: Float = 64

    /// Adds the part of a side that lies in the box, and what lies to the left of it, as chords.
    mutating func addPart(_ side: Side) {
        let (start, end, sag, sign) = (side.start, side.end, side.sag, side.sign)
        // What lies on one side of the box as a whole needs no cutting.
        let control = (start + end) * 0.5 + sag * 2
        let low = pointwiseMin(pointwiseMin(start, end), control)
        let high = pointwiseMax(pointwiseMax(start, end), control)
        guard high.y > 0, low.y < Float(height), low.x < Float(width) else { return }
        guard high.x > 0 else { return addBeside(from: start.y, to: end.y, sign: sign) }
        // A chord is off its part of the parabola by the sag over the square of their number.
        let count = max(Int((sag.length * Self.chordsPerSag).root.lowered(to: Self.mostChords).rounded(.up)), 1)
        var place = start
        for index in 1...count {
            let at = Float(index) / Float(count)
            let next = index == count ? end : start + ((end - start) + sag * (4 * (1 - at))) * at
            addChordPart(from: place, to: next, sign: sign)
            place = next
        }
    }

    private mutating func addChordPart(from start: SIMD2<Float>, to end: SIMD2<Float>, sign: Float) {
        let (top, low) = start.y < end.y ? (start, end) : (end, start)
        let sign = start.y < end.y ? sign : -sign
        let right = Float(width).nextDown
        let y0 = top.y.raised(to: 0)
        let y1 = low.y.lowered(to: Float(height).nextDown)
        guard y0 < y1 else { return }
        let slope = (low.x - top.x) / (low.y - top.y)
        // The heights at which the side passes the left and the right border.
        func level(_ x: Float) -> Float {
            slope == 0 ? y0 : (top.y + (x - top.x) / slope).raised(to: y0).lowered(to: y1)
        }
        func place(_ y: Float) -> Float { y == top.y ? top.x : y == low.y ? low.x : top.x + (y - top.y) * slope }
        let borders = (level(0), level(right))
        let first = borders.0.lowered(to: borders.1)
        let second = borders.0.raised(to: borders.1)
        for (from, to) in [(y0, first), (first, second), (second, y1)] where from < to {
            let middle = place((from + to) * 0.5)
            guard middle < right else { continue }
            guard middle > 0 else {
                addBeside(from: from, to: to, sign: sign)
                continue
            }
            let begin = place(from).raised(to: 0).lowered(to: right)
            let finish = place(to).raised(to: 0).lowered(to: right)
            addFalling(Side(start: SIMD2(begin, from), end: SIMD2(finish, to), sign: sign))
        }
    }

    /// Adds a side that lies left of the box: between its ends it covers whole rows.
    private func addBeside(from start: Float, to end: Float, sign: Float) {
        for (level, sign) in [(start, sign), (end, -sign)] {
            let y = level.raised(to: 0).lowered(to: Float(height))
            let row = Int(y.cell)
            let part = Float(row &+ 1) - y
            lefts[row] += part * sign
            lefts[row &+ 1] += (1 - part) * sign
        }
    }
}
