/// Triangle mesh of a stroke with soft edges, for clients that draw with a graphics processor.
///
/// Blend premultiplied, ONE, ONE_MINUS_SRC_ALPHA, with the colour times the alpha of the vertex, and without culling:
/// triangles wind both ways. Positions are in pixels. Opaque strokes may overlap themselves and stay one colour;
/// translucent ones get darker there. The `stamp` style gives the line of `pen`: stamps cannot be triangles.
///
/// At each sample p of the centre line with normal n, width w and fringe a lie A = p + (w/2 + a)n, B = p + (w/2)n, C =
/// p − (w/2)n and D = p − (w/2 + a)n, with six triangles from each sample to the next. Both ends are half-discs with
/// the same fringe; a sharp corner ends one ribbon and begins another, so that it is round.
public struct StrokeMesh: Sendable, Equatable {
    /// A corner of triangles.
    public struct Vertex: Sendable, Equatable {
        /// Pixels from the left.
        public var x: Float
        /// Pixels from the top, downwards.
        public var y: Float
        /// The opacity of the ink inside the line, 0 on the outer border of the fringe.
        public var alpha: Float

        /// Makes a corner.
        public init(x: Float, y: Float, alpha: Float) {
            self.x = x
            self.y = y
            self.alpha = alpha
        }
    }

    /// The corners; at most 256 for either end of a ribbon, and 4 a sample.
    public private(set) var vertices: [Vertex] = []
    /// Three indices into ``vertices`` for each triangle.
    public private(set) var indices: [UInt32] = []

    /// The width of the soft edge in pixels.
    private let fringe: Float

    /// The mesh of a whole stroke, cut finely enough for `scale` pixels a board unit, above 0.
    ///
    /// Curves that cannot touch a board of `width` × `height` pixels are straight segments. `fringe` is in pixels, above 0.
    public init(of stroke: InkStroke, scale: Double = 1, width: Int, height: Int, fringe: Float = 1) {
        var fitter = ParabolaFitter(scale: scale, canvasWidth: width, canvasHeight: height)
        var line = stroke
        line.tip = .round
        line.trace(into: &fitter)
        self.init(fitter.samples.flattened(), fringe: fringe)
    }

    /// The mesh of a centre line of straight segments. One sample, or several at one position, are a disc.
    public init(_ samples: [CentreSample], fringe: Float) {
        self.fringe = fringe
        let line = Self.withoutRepeats(samples)
        guard let first = line.first else { return }
        guard line.count > 1 else {
            let section = addSection(first, Direction(1, 0))
            addCap(first, Direction(1, 0), section: section)
            addCap(first, Direction(-1, 0), section: section.reversed)
            return
        }
        var start = 0
        for index in 1..<line.count {
            let isCorner = index + 1 < line.count && Direction.isCorner(line[index - 1], line[index], line[index + 1])
            guard isCorner || index + 1 == line.count else { continue }
            addRibbon(line[start...index])
            start = index
        }
    }

    private mutating func addRibbon(_ line: ArraySlice<CentreSample>) {
        var last: CrossSection?
        for index in line.indices {
            let direction = Direction(
                line[max(index - 1, line.startIndex)], line[index], line[min(index + 1, line.endIndex - 1)])
            let section = addSection(line[index], direction)
            if let last {
                addQuads(last, section)
            } else {
                addCap(line[index], -direction, section: section.reversed)
            }
            if index + 1 == line.endIndex { addCap(line[index], direction, section: section) }
            last = section
        }
    }

    /// The samples without repeated positions, which have no direction; the widest one stays.
    private static func withoutRepeats(_ samples: [CentreSample]) -> [CentreSample] {
        var kept: [CentreSample] = []
        for sample in samples {
            if let last = kept.last, last.x == sample.x, last.y == sample.y {
                if sample.radius > last.radius { kept[kept.count - 1] = sample }
            } else {
                kept.append(sample)
            }
        }
        return kept
    }

    /// The four vertices across a sample, as indices into ``vertices``.
    private struct CrossSection {
        var a: UInt32
        var b: UInt32
        var c: UInt32
        var d: UInt32

        /// The same for the other direction.
        var reversed: CrossSection { CrossSection(a: d, b: c, c: b, d: a) }
    }

    private mutating func addSection(_ sample: CentreSample, _ direction: Direction) -> CrossSection {
        let normal = Direction(-direction.y, direction.x)
        let wide = sample.radius + fringe
        return CrossSection(
            a: add(sample, normal, wide, alpha: 0),
            b: add(sample, normal, sample.radius, alpha: sample.opacity),
            c: add(sample, normal, -sample.radius, alpha: sample.opacity),
            d: add(sample, normal, -wide, alpha: 0))
    }

    /// A A' B', A B B', B B' C', B C C', C C' D', C D D', where the primed corners are those of `next`.
    private mutating func addQuads(_ section: CrossSection, _ next: CrossSection) {
        for (here, below, there, belowThere) in [
            (section.a, section.b, next.a, next.b), (section.b, section.c, next.b, next.c),
            (section.c, section.d, next.c, next.d),
        ] {
            indices += [here, there, belowThere, here, below, belowThere]
        }
    }

    /// A half-disc around a sample that bulges in a direction, on the section across it: it shares the section's vertices, so
    /// that there is no crack between them.
    private mutating func addCap(_ sample: CentreSample, _ direction: Direction, section: CrossSection) {
        let arc = Self.halfCircle(direction, segments: Self.capSegments(radius: sample.radius + fringe))
        var inner = section.b
        var outer = section.a
        for (index, outward) in arc.enumerated().dropFirst() {
            let isLast = index + 1 == arc.count
            let nextInner = isLast ? section.c : add(sample, outward, sample.radius, alpha: sample.opacity)
            let nextOuter = isLast ? section.d : add(sample, outward, sample.radius + fringe, alpha: 0)
            // A fan from B, in which the first segment is on B itself.
            if inner != section.b { indices += [section.b, inner, nextInner] }
            indices += [inner, outer, nextOuter, inner, nextInner, nextOuter]
            (inner, outer) = (nextInner, nextOuter)
        }
    }

    private mutating func add(_ sample: CentreSample, _ outward: Direction, _ reach: Float, alpha: Float) -> UInt32 {
        vertices.append(Vertex(x: sample.x + outward.x * reach, y: sample.y + outward.y * reach, alpha: alpha))
        return UInt32(truncatingIfNeeded: vertices.count - 1)
    }

    /// How many segments, a power of two from 4 to 128, keep a half-circle within a tenth of a pixel.
    private static func capSegments(radius: Float) -> Int {
        let needed = Float.pi * (radius / 0.8).squareRoot()
        var segments = 4
        while segments < 128, Float(segments) < needed { segments *= 2 }
        return segments
    }

    /// Unit vectors from the left of a direction over it to its right, by halving angles: without a sine.
    private static func halfCircle(_ direction: Direction, segments: Int) -> [Direction] {
        let left = Direction(-direction.y, direction.x)
        var arc = [left, direction, -left]
        while arc.count <= segments {
            var finer: [Direction] = [arc[0]]
            for (one, other) in zip(arc, arc.dropFirst()) { finer += [one.bisector(other) ?? one, other] }
            arc = finer
        }
        return arc
    }
}

/// A unit vector along a line of samples.
private typealias Direction = SIMD2<Float>

extension SIMD2<Float> {
    /// Cosine of the turn from which on a corner is rounded: about 37°.
    private static let cornerCosine: Float = 0.8

    /// From one sample to another; nil if they are at one position.
    private init?(from a: CentreSample, to b: CentreSample) {
        let way = SIMD2(b.x - a.x, b.y - a.y)
        let length = (way * way).sum().squareRoot()
        // The squares of shorter distances underflow.
        guard length > 1e-18 else { return nil }
        self = way / length
    }

    /// The mean of the directions to `b` and from it.
    fileprivate init(_ a: CentreSample, _ b: CentreSample, _ c: CentreSample) {
        let into = Direction(from: a, to: b)
        let out = Direction(from: b, to: c)
        let one = into ?? out ?? Direction(1, 0)
        self = one.bisector(out ?? one) ?? one
    }

    /// Nil where the other one is opposite.
    fileprivate func bisector(_ other: Direction) -> Direction? {
        let sum = self + other
        let length = (sum * sum).sum().squareRoot()
        return length > 0 ? sum / length : nil
    }

    fileprivate static func isCorner(_ a: CentreSample, _ b: CentreSample, _ c: CentreSample) -> Bool {
        guard let into = Direction(from: a, to: b), let out = Direction(from: b, to: c) else { return false }
        return (into * out).sum() < cornerCosine
    }
}
