/// A unit vector along a line of samples.
struct Direction {
    var x: Float
    var y: Float

    /// The bend between two pieces, as a cosine, from which a corner is round instead of a fold: about 37°.
    private static let cornerCosine: Float = 0.8

    init(x: Float, y: Float) {
        self.x = x
        self.y = y
    }

    /// From one sample to another; `nil` where there is no way between them.
    init?(from a: CentreSample, to b: CentreSample) {
        let x = b.x - a.x
        let y = b.y - a.y
        let length = (x * x + y * y).squareRoot()
        guard length > 0 else { return nil }
        self.init(x: x / length, y: y / length)
    }

    /// The mean of the ways to `b` and from it.
    init(_ a: CentreSample, _ b: CentreSample, _ c: CentreSample) {
        let into = Direction(from: a, to: b)
        let out = Direction(from: b, to: c)
        let one = into ?? out ?? Direction(x: 1, y: 0)
        let other = out ?? one
        let x = one.x + other.x
        let y = one.y + other.y
        let length = (x * x + y * y).squareRoot()
        self = length > 0 ? Direction(x: x / length, y: y / length) : one
    }

    var reversed: Direction { Direction(x: -x, y: -y) }

    static func isCorner(_ a: CentreSample, _ b: CentreSample, _ c: CentreSample) -> Bool {
        guard let into = Direction(from: a, to: b), let out = Direction(from: b, to: c) else { return false }
        return into.x * out.x + into.y * out.y < cornerCosine
    }
}
