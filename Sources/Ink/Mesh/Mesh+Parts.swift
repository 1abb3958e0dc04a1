extension Mesh {
    /// The four vertices across a sample, as places in ``vertices``.
    struct Rib {
        var a: UInt32
        var b: UInt32
        var c: UInt32
        var d: UInt32

        /// The same for the other direction.
        var reversed: Rib { Rib(a: d, b: c, c: b, d: a) }
    }

    mutating func addRib(_ sample: CentreSample, _ direction: Direction) -> Rib {
        let normal = Direction(x: -direction.y, y: direction.x)
        let wide = sample.radius + fringe
        return Rib(
            a: add(sample, normal, wide, alpha: 0),
            b: add(sample, normal, sample.radius, alpha: sample.opacity),
            c: add(sample, normal, -sample.radius, alpha: sample.opacity),
            d: add(sample, normal, -wide, alpha: 0))
    }

    /// A A' B', A B B', B B' C', B C C', C C' D', C D D', where the primed corners are those of `next`.
    mutating func addStep(_ rib: Rib, _ next: Rib) {
        for (here, below, there, belowThere) in [
            (rib.a, rib.b, next.a, next.b), (rib.b, rib.c, next.b, next.c), (rib.c, rib.d, next.c, next.d),
        ] {
            indices += [here, there, belowThere, here, below, belowThere]
        }
    }

    /// A half-disc around a sample that bulges in a direction, on the rib across it: it shares the rib's vertices, so
    /// that there is no crack between them.
    mutating func addCap(_ sample: CentreSample, _ direction: Direction, rib: Rib) {
        let arc = Self.halfCircle(direction, pieces: Self.capPieces(radius: sample.radius + fringe))
        var inner = rib.b
        var outer = rib.a
        for (index, way) in arc.enumerated().dropFirst() {
            let isLast = index + 1 == arc.count
            let nextInner = isLast ? rib.c : add(sample, way, sample.radius, alpha: sample.opacity)
            let nextOuter = isLast ? rib.d : add(sample, way, sample.radius + fringe, alpha: 0)
            // A fan from B, in which the first piece is on B itself.
            if inner != rib.b { indices += [rib.b, inner, nextInner] }
            indices += [inner, outer, nextOuter, inner, nextInner, nextOuter]
            (inner, outer) = (nextInner, nextOuter)
        }
    }

    private mutating func add(_ sample: CentreSample, _ way: Direction, _ reach: Float, alpha: Float) -> UInt32 {
        vertices.append(Vertex(x: sample.x + way.x * reach, y: sample.y + way.y * reach, alpha: alpha))
        return UInt32(truncatingIfNeeded: vertices.count - 1)
    }

    /// How many pieces, a power of two from 4 to 128, keep a half-circle within a tenth of a pixel.
    private static func capPieces(radius: Float) -> Int {
        let needed = Float.pi * (radius / 0.8).squareRoot()
        var pieces = 4
        while pieces < 128, Float(pieces) < needed { pieces *= 2 }
        return pieces
    }

    /// Unit vectors from the left of a direction over it to its right, by halving angles: without a sine.
    private static func halfCircle(_ direction: Direction, pieces: Int) -> [Direction] {
        let left = Direction(x: -direction.y, y: direction.x)
        var arc = [left, direction, left.reversed]
        while arc.count <= pieces {
            var finer: [Direction] = [arc[0]]
            for (one, other) in zip(arc, arc.dropFirst()) {
                let x = one.x + other.x
                let y = one.y + other.y
                let length = (x * x + y * y).squareRoot()
                finer += [Direction(x: x / length, y: y / length), other]
            }
            arc = finer
        }
        return arc
    }
}
