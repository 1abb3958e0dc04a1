internal import Ink

/// The part of the plane around a board in which strokes are drawn: renderers keep coordinates in 24 or 32 bits, and a
/// stroke may come from a point farther away than they can tell.
struct DrawingWindow {
    private let low: Vector
    private let high: Vector

    /// - Parameter reach: the width of the widest place of the stroke, which may show that far from its centre line.
    init(width: Double, height: Double, reach: Double) {
        let margin = 4 * max(width, height) + reach
        low = Vector(repeating: -margin)
        high = Vector(width + margin, height + margin)
    }

    func holds(_ point: Vector) -> Bool {
        low.x <= point.x && low.y <= point.y && point.x <= high.x && point.y <= high.y
    }

    /// Cuts off what is outside, step by step (Liang and Barsky, "A new concept and method for line clipping", 1984).
    func clip(_ discs: [Disc]) -> [[Disc]] {
        var chains: [[Disc]] = []
        var chain: [Disc] = []
        if discs.count == 1 { return [discs.filter { holds($0.centre) }] }
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

    /// The part of a segment that lies in the window, 0 … 1 of its length.
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
