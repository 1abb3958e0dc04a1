internal import Ink

/// The pen at one place of a flattened centre line, in board units.
struct Disc: Equatable {
    var centre: Vector
    var radius: Double
}

extension [Disc] {
    /// Removes discs that lie on the straight line between their neighbours, to within a tolerance in board units: a
    /// flattened curve has more discs than its outline needs.
    ///
    /// Looks at most 32 discs ahead, so that the work is linear in their number.
    func simplified(tolerance: Double) -> [Disc] {
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

    /// Whether all discs between two lie on the line from one to the other, in order, to within the tolerance.
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

/// The rectangle around a board to which strokes are clipped: renderers keep coordinates in 24 or 32 bits, and a stroke
/// may come from farther away than that.
struct ClipWindow {
    private let low: Vector
    private let high: Vector

    /// - Parameter reach: the greatest width of the stroke, which may be visible that far from its centre line.
    init(width: Double, height: Double, reach: Double) {
        let margin = 4 * max(width, height) + reach
        low = Vector(repeating: -margin)
        high = Vector(width + margin, height + margin)
    }

    func contains(_ point: Vector) -> Bool {
        low.x <= point.x && low.y <= point.y && point.x <= high.x && point.y <= high.y
    }

    /// Clips a chain segment by segment (Liang and Barsky, "A new concept and method for line clipping", 1984).
    func clip(_ discs: [Disc]) -> [[Disc]] {
        var chains: [[Disc]] = []
        var chain: [Disc] = []
        if discs.count == 1 { return [discs.filter { contains($0.centre) }] }
        for (from, to) in zip(discs, discs.dropFirst()) {
            guard let inside = inside(from.centre, to.centre) else {
                if !chain.isEmpty { chains.append(chain) }
                chain = []
                continue
            }
            if chain.isEmpty || inside.lowerBound > 0 {
                if !chain.isEmpty { chains.append(chain) }
                chain = [Self.disc(from, to, at: inside.lowerBound)]
            }
            chain.append(Self.disc(from, to, at: inside.upperBound))
            if inside.upperBound < 1 {
                chains.append(chain)
                chain = []
            }
        }
        if !chain.isEmpty { chains.append(chain) }
        return chains
    }

    /// The part of a segment inside the window, as fractions of its length; `nil` when no part is.
    private func inside(_ from: Vector, _ to: Vector) -> ClosedRange<Double>? {
        let way = to - from
        var enter = 0.0
        var leave = 1.0
        for axis in 0..<2 {
            if way[axis] == 0 {
                guard from[axis] >= low[axis], from[axis] <= high[axis] else { return nil }
                continue
            }
            let a = (low[axis] - from[axis]) / way[axis]
            let b = (high[axis] - from[axis]) / way[axis]
            enter = max(enter, min(a, b))
            leave = min(leave, max(a, b))
        }
        return enter <= leave ? enter...leave : nil
    }

    private static func disc(_ from: Disc, _ to: Disc, at part: Double) -> Disc {
        switch part {
        case 0: from
        case 1: to
        default:
            Disc(
                centre: from.centre.interpolated(to: to.centre, at: part),
                radius: from.radius + (to.radius - from.radius) * part)
        }
    }
}
