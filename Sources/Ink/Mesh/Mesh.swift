/// Triangles for a stroke, with soft edges: for clients that draw with a graphics processor.
///
/// Blend premultiplied, ONE, ONE_MINUS_SRC_ALPHA, with the colour times the alpha of the vertex, and without culling:
/// triangles wind both ways. Places are in pixels. Opaque strokes may overlap themselves and stay one colour;
/// translucent ones get darker there. The `stamp` style gives the line of `pen`: stamps are no triangles.
///
/// At each sample p of the centre line with normal n, width w and fringe a lie A = p + (w/2 + a)n, B = p + (w/2)n,
/// C = p − (w/2)n and D = p − (w/2 + a)n, with six triangles from each sample to the next. Both ends are half-discs with
/// the same fringe; a sharp corner ends one ribbon and begins another, so that it is round.
public struct Mesh: Sendable, Equatable {
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
    public internal(set) var vertices: [Vertex] = []
    /// Three places in ``vertices`` a triangle.
    public internal(set) var indices: [UInt32] = []

    /// The width of the soft edge in pixels.
    let fringe: Float

    /// The mesh of a whole stroke, cut finely enough for `scale` pixels a board unit, above 0.
    ///
    /// Curves that cannot touch a board of `width` × `height` pixels are straight pieces. `fringe` is in pixels, above 0.
    public init(of stroke: InkStroke, scale: Double = 1, width: Int, height: Int, fringe: Float = 1) {
        var flattener = Flattener(scale: scale, canvasWidth: width, canvasHeight: height)
        stroke.trace(into: &flattener)
        self.init(flattener.samples, fringe: fringe)
    }

    /// The mesh of a centre line of straight pieces. One sample, or several at one place, are a disc.
    public init(_ samples: [CentreSample], fringe: Float) {
        self.fringe = fringe
        let line = Self.distinct(samples)
        guard let first = line.first else { return }
        guard line.count > 1 else {
            let rib = addRib(first, Direction(x: 1, y: 0))
            addCap(first, Direction(x: 1, y: 0), rib: rib)
            addCap(first, Direction(x: -1, y: 0), rib: rib.reversed)
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
        var last: Rib?
        for index in line.indices {
            let direction = Direction(
                line[max(index - 1, line.startIndex)], line[index], line[min(index + 1, line.endIndex - 1)])
            let rib = addRib(line[index], direction)
            if let last {
                addStep(last, rib)
            } else {
                addCap(line[index], direction.reversed, rib: rib.reversed)
            }
            if index + 1 == line.endIndex { addCap(line[index], direction, rib: rib) }
            last = rib
        }
    }

    /// The samples without repeats, which have no direction; the widest of the repeats stays.
    private static func distinct(_ samples: [CentreSample]) -> [CentreSample] {
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
}
