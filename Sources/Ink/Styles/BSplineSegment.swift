/// One segment of a uniform cubic B-spline as a cubic Bézier.
///
/// With the control points q0 … q3 it is p(t) = ((1−t)³q0 + (3t³−6t²+4)q1 + (−3t³+3t²+3t+1)q2 + t³q3) / 6.
public struct BSplineSegment: Sendable, Equatable {
    /// Where the segment begins: near q1.
    public let start: Vector
    /// The control beside the start.
    public let control1: Vector
    /// The control beside the end.
    public let control2: Vector
    /// Where the segment ends: near q2.
    public let end: Vector

    /// Makes the segment of four control points.
    public init(_ q0: Vector, _ q1: Vector, _ q2: Vector, _ q3: Vector) {
        // As displacements from q1 and q2, so that equal points give exactly that point.
        start = q1 + ((q0 - q1) + (q2 - q1)) / 6
        control1 = q1 + (q2 - q1) / 3
        control2 = q2 + (q1 - q2) / 3
        end = q2 + ((q1 - q2) + (q3 - q2)) / 6
    }
}
