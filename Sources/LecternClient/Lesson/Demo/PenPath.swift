/// A place on the demo lesson's board, in its units, or in the grid of a letter; y points down.
struct Place: Sendable, Equatable {
    var x: Double
    var y: Double

    init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }

    func distance(to other: Place) -> Double {
        let (dx, dy) = (other.x - x, other.y - y)
        return (dx * dx + dy * dy).squareRoot()
    }

    /// The place at a share `t` of the straight way to another.
    func between(_ other: Place, _ t: Double) -> Place {
        Place(x + (other.x - x) * t, y + (other.y - y) * t)
    }
}

/// The way of a pen from touching the board to leaving it.
enum PenPath {
    /// A smooth curve through places: a uniform Catmull-Rom spline (Catmull, Rom: "A class of local interpolating
    /// splines", 1974). A place given twice in a row is a corner.
    ///
    /// - Parameter step: about how far apart the samples lie.
    static func smooth(_ places: [Place], step: Double) -> [Place] {
        guard var last = places.first else { return [] }
        var samples = [last]
        for i in places.indices.dropFirst() {
            let next = places[i]
            defer { last = next }
            guard last != next else { continue }
            let before = i >= 2 ? places[i - 2] : last
            let after = i + 1 < places.count ? places[i + 1] : next
            let count = max(2, Int((last.distance(to: next) / step).rounded()))
            for k in 1...count {
                let t = Double(k) / Double(count)
                samples.append(
                    Place(
                        spline(before.x, last.x, next.x, after.x, t), spline(before.y, last.y, next.y, after.y, t)))
            }
        }
        return samples
    }

    /// A straight drag.
    static func straight(_ from: Place, _ to: Place, step: Double) -> [Place] {
        let count = max(1, Int((from.distance(to: to) / step).rounded()))
        return (0...count).map { from.between(to, Double($0) / Double(count)) }
    }

    private static func spline(_ a: Double, _ b: Double, _ c: Double, _ d: Double, _ t: Double) -> Double {
        let (outgoing, incoming) = ((c - a) / 2, (d - b) / 2)
        let (t2, t3) = (t * t, t * t * t)
        return b * (2 * t3 - 3 * t2 + 1) + outgoing * (t3 - 2 * t2 + t) + c * (3 * t2 - 2 * t3) + incoming * (t3 - t2)
    }
}
