extension AreaRows {
    /// Adds the part of a side that lies in the box, and what lies to the left of it, as chords.
    func addPart(from start: SIMD2<Float>, to end: SIMD2<Float>, sag: SIMD2<Float>, sign: Float) {
        // What lies on one side of the box as a whole needs no cutting.
        let control = (start + end) * 0.5 + sag * 2
        let low = pointwiseMin(pointwiseMin(start, end), control)
        let high = pointwiseMax(pointwiseMax(start, end), control)
        guard high.y > 0, low.y < Float(height) else { return }
        let isBeside = high.x <= 0 || low.x >= Float(width)
        let count = sag == .zero || isBeside ? 1 : 8
        var place = start
        for index in 1...count {
            let at = Float(index) / Float(count)
            let next = index == count ? end : start + ((end - start) + sag * (4 * (1 - at))) * at
            addChordPart(from: place, to: next, sign: sign)
            place = next
        }
    }

    private func addChordPart(from start: SIMD2<Float>, to end: SIMD2<Float>, sign: Float) {
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
            guard middle < right else {
                // What begins inside goes on up to the border.
                for y in from.cell...to.cell where y < self.height { widen(y, from: width, to: width) }
                continue
            }
            let begin = middle > 0 ? place(from).raised(to: 0).lowered(to: right) : 0
            let finish = middle > 0 ? place(to).raised(to: 0).lowered(to: right) : 0
            addFalling(from: SIMD2(begin, from), to: SIMD2(finish, to), sag: .zero, sign: sign)
        }
    }
}
