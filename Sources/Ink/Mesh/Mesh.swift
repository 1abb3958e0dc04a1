/// Triangles for a line of changing width, with soft edges: for clients that draw with a graphics processor.
///
/// Blend premultiplied, ONE, ONE_MINUS_SRC_ALPHA, with the colour times the alpha of the vertices. Places are in the
/// unit of the samples.
public struct Mesh: Sendable, Equatable {
    /// A corner of triangles.
    public struct Vertex: Sendable, Equatable {
        /// To the right.
        public var x: Float
        /// Downwards.
        public var y: Float
        /// 1 inside the line times the opacity of the ink, 0 at the outer border of the fringe.
        public var alpha: Float
    }

    /// The corners.
    public private(set) var vertices: [Vertex] = []
    /// Three numbers of corners a triangle.
    public private(set) var indices: [UInt32] = []

    /// The mesh of a centre line, whose edges fade out over `fringe` units.
    ///
    /// At each sample p with normal n and width w there are A = p + (w/2 + a)n, B = p + (w/2)n, C = p − (w/2)n and
    /// D = p − (w/2 + a)n; six triangles a step; half-discs with the same fringe at both ends. One sample is a disc.
    public init(_ samples: [CentreSample], fringe: Float) {
        let line = Self.distinct(samples)
        guard let first = line.first, let last = line.last else { return }
        guard line.count > 1 else {
            addCap(first, x: 1, y: 0, fringe: fringe)
            addCap(first, x: -1, y: 0, fringe: fringe)
            return
        }
        for index in line.indices {
            let before = line[max(index - 1, 0)]
            let after = line[min(index + 1, line.count - 1)]
            let (x, y) = Self.direction(before, line[index], after)
            addRib(line[index], normalX: -y, normalY: x, fringe: fringe)
            if index > 0 { addStep(to: UInt32(4 * index)) }
        }
        let start = Self.direction(first, first, line[1])
        let end = Self.direction(line[line.count - 2], last, last)
        addCap(first, x: -start.x, y: -start.y, fringe: fringe)
        addCap(last, x: end.x, y: end.y, fringe: fringe)
    }

    private mutating func addRib(_ sample: CentreSample, normalX: Float, normalY: Float, fringe: Float) {
        let wide = sample.radius + fringe
        for (reach, alpha) in [(wide, 0), (sample.radius, 1), (-sample.radius, 1), (-wide, 0)] as [(Float, Float)] {
            vertices.append(
                Vertex(x: sample.x + normalX * reach, y: sample.y + normalY * reach, alpha: alpha * sample.opacity))
        }
    }

    /// A A' B', A B B', B B' C', B C C', C C' D', C D D', where the primed corners are those from `next` on.
    private mutating func addStep(to next: UInt32) {
        let a = next - 4
        for strip in 0..<3 as Range<UInt32> {
            let here = a + strip
            let there = next + strip
            indices += [here, there, there + 1, here, here + 1, there + 1]
        }
    }

    /// A half-disc that bulges in the direction (`x`, `y`).
    private mutating func addCap(_ sample: CentreSample, x: Float, y: Float, fringe: Float) {
        // Sixteen steps of π/16 from the one side to the other.
        let cosine: Float = 0.980_785_28
        let sine: Float = 0.195_090_32
        let centre = UInt32(vertices.count)
        vertices.append(Vertex(x: sample.x, y: sample.y, alpha: sample.opacity))
        var (dx, dy) = (y, -x)
        for step in 0...16 as ClosedRange<UInt32> {
            let wide = sample.radius + fringe
            vertices.append(
                Vertex(x: sample.x + dx * sample.radius, y: sample.y + dy * sample.radius, alpha: sample.opacity))
            vertices.append(Vertex(x: sample.x + dx * wide, y: sample.y + dy * wide, alpha: 0))
            (dx, dy) = (dx * cosine - dy * sine, dx * sine + dy * cosine)
            guard step > 0 else { continue }
            let inner = centre + 2 * step - 1
            let outer = inner + 1
            indices += [centre, inner, inner + 2, inner, outer, outer + 2, inner, inner + 2, outer + 2]
        }
    }

    /// The samples without repeats, which have no direction.
    private static func distinct(_ samples: [CentreSample]) -> [CentreSample] {
        var kept: [CentreSample] = []
        for sample in samples where kept.last.map({ $0.x != sample.x || $0.y != sample.y }) ?? true {
            kept.append(sample)
        }
        return kept
    }

    /// The direction at a sample as a unit vector: the mean of the ways to it and from it.
    private static func direction(_ a: CentreSample, _ b: CentreSample, _ c: CentreSample) -> (x: Float, y: Float) {
        func unit(_ x: Float, _ y: Float) -> (x: Float, y: Float)? {
            let length = (x * x + y * y).squareRoot()
            return length > 0 ? (x / length, y / length) : nil
        }
        let into = unit(b.x - a.x, b.y - a.y)
        let out = unit(c.x - b.x, c.y - b.y)
        guard let into else { return out ?? (1, 0) }
        guard let out else { return into }
        return unit(into.x + out.x, into.y + out.y) ?? into
    }
}
