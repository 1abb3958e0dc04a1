/// One segment of a uniform cubic B-spline with the control points q0 … q3.
///
/// p(t) = ((1−t)³q0 + (3t³−6t²+4)q1 + (−3t³+3t²+3t+1)q2 + t³q3) / 6, t from 0 to 1.
public struct BSplineSegment: Sendable, Equatable {
    /// The control points.
    public var q0: Vector, q1: Vector, q2: Vector, q3: Vector

    /// Makes the segment of four control points.
    public init(_ q0: Vector, _ q1: Vector, _ q2: Vector, _ q3: Vector) {
        (self.q0, self.q1, self.q2, self.q3) = (q0, q1, q2, q3)
    }

    /// The place at parameter `t`.
    public func point(at t: Double) -> Vector {
        let u = 1 - t
        let early = q0 * (u * u * u) + q1 * ((3 * t - 6) * t * t + 4)
        let late = q2 * (((-3 * t + 3) * t + 3) * t + 1) + q3 * (t * t * t)
        return (early + late) / 6
    }

    /// The derivative at parameter `t`.
    public func derivative(at t: Double) -> Vector {
        let u = 1 - t
        let early = q1 * ((3 * t - 4) * t) - q0 * (u * u)
        let late = q2 * ((-3 * t + 2) * t + 1) + q3 * (t * t)
        return (early + late) / 2
    }

    /// The same curve as a cubic Bézier.
    public var bezier: (start: Vector, control1: Vector, control2: Vector, end: Vector) {
        ((q0 + q1 * 4 + q2) / 6, (q1 * 2 + q2) / 3, (q1 + q2 * 2) / 3, (q1 + q2 * 4 + q3) / 6)
    }

    /// How many steps of about `step` units the segment takes: max(1, ⌈|q2 − q1| / step⌉), but not more than 4096.
    public func stepCount(step: Double) -> Int {
        let count = ((q2 - q1).length / step).rounded(.up)
        return count < 4096 ? max(Int(count), 1) : 4096
    }
}
