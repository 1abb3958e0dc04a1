/// Sets stamps along a curve, one every half board unit of its length; what is left at the end of a piece is carried
/// over to the next. The alpha of a stamp is min(1, opacity / 1.5). After Adam Wulf, JotUI. A dot is stamped several
/// times, as one stamp would be much fainter than a line.
public struct StampPlacer: CurveSink, Sendable {
    /// Board units between two stamps.
    public static let spacing = 0.5
    /// How many stamps make a dot.
    public static let dotStamps = 8
    /// Not more stamps than this are set for one stroke, which is 16 MB of them; what is longer ends there.
    public static let most = 1 << 20

    /// The stamps so far.
    public private(set) var stamps: [Stamp] = []
    private var flattener: Flattener
    private var used = 0
    private var carried = 0.0
    private var hasMoved = false

    /// Makes a placer; `scale` is pixels a board unit, above 0.
    public init(scale: Double, canvasWidth: Int, canvasHeight: Int) {
        flattener = Flattener(scale: scale, canvasWidth: canvasWidth, canvasHeight: canvasHeight)
    }

    /// Forgets the stamps of the last stroke and keeps their memory.
    public mutating func reset() {
        stamps.removeAll(keepingCapacity: true)
        flattener.reset()
        used = 0
        carried = 0
        hasMoved = false
    }

    public mutating func begin(at point: Vector, nib: Nib) {
        flattener.begin(at: point, nib: nib)
        if let first = flattener.samples.last {
            for _ in 0..<Self.dotStamps { stamp(first) }
        }
        used = flattener.samples.count
    }

    public mutating func line(to end: Vector, nib: Nib) {
        flattener.line(to: end, nib: nib)
        advance()
    }

    public mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        flattener.quadratic(control: control, to: end, nib: nib)
        advance()
    }

    public mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        flattener.cubic(control1: control1, control2: control2, to: end, nib: nib)
        advance()
    }

    /// Stamps along the samples that came last.
    private mutating func advance() {
        let step = Self.spacing * flattener.scale
        while used < flattener.samples.count {
            let a = flattener.samples[used - 1]
            let b = flattener.samples[used]
            used += 1
            let length = (Vector(Double(b.x), Double(b.y)) - Vector(Double(a.x), Double(a.y))).length
            guard length > 0 else { continue }
            if !hasMoved {
                hasMoved = true
                stamps.removeLast(min(stamps.count, Self.dotStamps - 1))
            }
            let first = step - carried
            let count = ((length - first) / step).rounded(.down) + 1
            guard count > 0 else {
                carried += length
                continue
            }
            carried = min(max(length - first - (count - 1) * step, 0), step)
            stamp(a, b, length: length, first: first, count: count)
        }
    }

    /// Sets those of `count` stamps between two samples that can be seen.
    private mutating func stamp(_ a: CentreSample, _ b: CentreSample, length: Double, first: Double, count: Double) {
        let step = Self.spacing * flattener.scale
        let margin = Double(max(a.radius, b.radius))
        var low = 0.0
        var high = 1.0
        for (from, to, limit) in [
            (Double(a.x), Double(b.x), flattener.canvas.x), (Double(a.y), Double(b.y), flattener.canvas.y),
        ] {
            let way = to - from
            if way == 0 {
                if from < -margin || from > limit + margin { return }
            } else {
                let one = (-margin - from) / way
                let other = (limit + margin - from) / way
                low = max(low, min(one, other))
                high = min(high, max(one, other))
            }
        }
        var index = max(0, ((low * length - first) / step).rounded(.up))
        while index < count, first + index * step <= high * length, stamps.count < Self.most {
            stamp(Self.sample(a, b, at: Float((first + index * step) / length)))
            index += 1
        }
    }

    private static func sample(_ a: CentreSample, _ b: CentreSample, at t: Float) -> CentreSample {
        CentreSample(
            x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t, radius: a.radius + (b.radius - a.radius) * t,
            opacity: a.opacity + (b.opacity - a.opacity) * t)
    }

    private mutating func stamp(_ sample: CentreSample) {
        stamps.append(
            Stamp(x: sample.x, y: sample.y, radius: sample.radius, alpha: min(1, sample.opacity / 1.5)))
    }
}
