/// The cubic from P1 to P2 of a curve through all points, whose controls depend on the neighbours P0 and P3.
///
/// After Maxim Shemanarev, Anti-Grain Geometry, "Interpolation with Bezier Curves", with smoothing K.
public struct ThroughCurve: Sendable, Equatable {
    /// How far the controls go to where the points before and after pull them.
    public static let smoothing = 0.7

    /// The control beside P1.
    public let control1: Vector
    /// The control beside P2.
    public let control2: Vector

    /// Makes the controls for P1 → P2. At the first piece P0 is P1, at the closing one P3 is P2.
    public init(_ p0: Vector, _ p1: Vector, _ p2: Vector, _ p3: Vector) {
        let length1 = (p1 - p0).length
        let length2 = (p2 - p1).length
        let length3 = (p3 - p2).length
        // Coincident points have no direction: the control is the anchor.
        guard length2 > 0 else {
            control1 = p1
            control2 = p2
            return
        }
        let c1 = p0.midpoint(to: p1)
        let c2 = p1.midpoint(to: p2)
        let c3 = p2.midpoint(to: p3)
        let m1 = c1.interpolated(to: c2, at: length1 / (length1 + length2))
        let m2 = c2.interpolated(to: c3, at: length2 / (length2 + length3))
        control1 = p1 + (c2 - m1) * Self.smoothing
        control2 = p2 + (c2 - m2) * Self.smoothing
    }
}
