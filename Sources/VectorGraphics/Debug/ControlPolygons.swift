internal import Ink

/// The control polygons of a centre line, and the box around all that its discs can touch.
struct ControlPolygons: CurveSink {
    private(set) var polygons: [[Vector]] = []
    private var position = Vector.zero
    private var nib = Nib(width: 0)
    private var low = Vector(repeating: .infinity)
    private var high = Vector(repeating: -.infinity)

    mutating func begin(at point: Vector, nib: Nib) {
        self.nib = nib
        add([], to: point, nib)
    }

    mutating func line(to end: Vector, nib: Nib) {
        add([position, end], to: end, nib)
    }

    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        add([position, control, end], to: end, nib)
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        add([position, control1, control2, end], to: end, nib)
    }

    /// The corners of the box of whole pixels, with one more all around for soft edges; the first one comes last too.
    ///
    /// A curve stays within the hull of its control points, so that the box may be larger than what is painted.
    func box(scale: Double) -> [Vector] {
        var low = low * scale - 1
        var high = high * scale + 1
        low.round(.down)
        high.round(.up)
        let (a, b) = (low / scale, high / scale)
        return [a, Vector(b.x, a.y), b, Vector(a.x, b.y), a]
    }

    private mutating func add(_ polygon: [Vector], to end: Vector, _ nib: Nib) {
        let radius = max(self.nib.width, nib.width) * 0.5
        for corner in polygon + [end] {
            low = pointwiseMin(low, corner - radius)
            high = pointwiseMax(high, corner + radius)
        }
        if !polygon.isEmpty { polygons.append(polygon) }
        position = end
        self.nib = nib
    }
}
