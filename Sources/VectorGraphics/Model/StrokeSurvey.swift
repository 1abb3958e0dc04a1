internal import Ink

/// Finds out what a centre line is like before it is drawn: where it goes, and whether its nib ever changes.
struct StrokeSurvey: CurveSink {
    private(set) var low = Vector(repeating: .infinity)
    private(set) var high = Vector(repeating: -.infinity)
    private(set) var narrowest = Double.infinity
    private(set) var widest = -Double.infinity
    /// The opacities halfway between stops, weighted with the ways between them.
    private var opacitySum = 0.0
    private var way = 0.0
    private var firstOpacity = 1.0
    private var lastOpacity = 1.0
    private var position = Vector.zero
    private var isFinite = true

    /// Whether anything of the stroke lies on a board of that size. Not so where any number of it is not finite.
    func isVisible(width: Double, height: Double) -> Bool {
        let reach = widest * 0.5
        return isFinite && widest > 0 && low.x - reach < width && low.y - reach < height && high.x + reach > 0
            && high.y + reach > 0
    }

    /// Whether the line is as wide everywhere.
    var isConstant: Bool { narrowest == widest }

    /// The mean opacity along the line, 0 … 1.
    var opacity: Double {
        let mean = way > 0 ? opacitySum / way : firstOpacity
        return min(max(mean, 0), 1)
    }

    /// The even ink of a stroke of stamps with this line.
    var stampProfile: StampProfile {
        let alpha = min(opacity / 1.5, 1)
        return way > 0 ? .line(radius: (narrowest + widest) * 0.25, alpha: alpha) : .dot(alpha: alpha)
    }

    mutating func begin(at point: Vector, nib: Nib) {
        firstOpacity = nib.opacity
        lastOpacity = nib.opacity
        reach(point, nib)
        position = point
    }

    mutating func line(to end: Vector, nib: Nib) {
        advance(to: end, nib)
    }

    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        reach(control, nib)
        advance(to: end, nib)
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        reach(control1, nib)
        reach(control2, nib)
        advance(to: end, nib)
    }

    private mutating func advance(to end: Vector, _ nib: Nib) {
        reach(end, nib)
        let step = (end - position).length
        opacitySum += step * (lastOpacity + nib.opacity) * 0.5
        way += step
        lastOpacity = nib.opacity
        position = end
    }

    private mutating func reach(_ point: Vector, _ nib: Nib) {
        isFinite = isFinite && (point.x + point.y + nib.width + nib.opacity).isFinite
        low = pointwiseMin(low, point)
        high = pointwiseMax(high, point)
        narrowest = min(narrowest, nib.width)
        widest = max(widest, nib.width)
    }
}
