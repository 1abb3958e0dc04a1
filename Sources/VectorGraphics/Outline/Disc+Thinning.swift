internal import Ink

extension [Disc] {
    /// Leaves out discs that lie where the straight way between their neighbours has them, to within a tolerance in
    /// board units: a curve in pieces has more of them than its outline needs.
    ///
    /// Looks at most 32 discs ahead, so that the work stays in proportion to their number.
    func thinned(tolerance: Double) -> [Disc] {
        guard var anchor = indices.first else { return [] }
        var kept = [self[anchor]]
        while anchor < count - 1 {
            var end = anchor + 1
            while end + 1 < count, end < anchor + 32, isStraight(from: anchor, to: end + 1, tolerance) { end += 1 }
            kept.append(self[end])
            anchor = end
        }
        return kept
    }

    /// Whether all discs between two are almost on the way from one to the other, in their order.
    private func isStraight(from first: Int, to last: Int, _ tolerance: Double) -> Bool {
        let start = self[first]
        let way = self[last].centre - start.centre
        let square = way.dot(way)
        guard square > 0 else { return false }
        var before = 0.0
        return (first + 1..<last).allSatisfy { index in
            let reach = self[index].centre - start.centre
            let part = reach.dot(way) / square
            guard part >= before, part <= 1 else { return false }
            before = part
            let stray = (reach - way * part).length
            return stray + abs(start.radius + (self[last].radius - start.radius) * part - self[index].radius)
                < tolerance
        }
    }
}
