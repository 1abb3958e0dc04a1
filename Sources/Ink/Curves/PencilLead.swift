public import StrokeWire

/// The nib of the `pencil` style: the tip of a lead, or its side where the pencil is held flat.
///
/// - The **effort** is ``sensitivity`` times the force. Where a pen tells no force it is the pressure of `pen`, from the speed
///   in 1024ths of the board's longer side a second. The tip is effort · l wide, within 0.4 · l … 1.5 · l, and its opacity is
///   0.5 + 0.4 · effort, at most 0.9: graphite is never quite black.
/// - The **lean** is 0 down to an altitude of 30° (``shadingAltitude``) and grows evenly to 1 at 0.25 radians
///   (``flatAltitude``), so that shading comes in without a step. A pen that tells no altitude does not lean.
/// - The **side** is the lean times the sine of the angle between the way of the pen and its azimuth: a lead that is drawn
///   along its own side leaves a narrow line. Without an azimuth the sine is 0.7. From the second point on it is the mean of
///   that and of the side before, so that a line does not get thin all at once where it turns. The side adds
///   ``sideWidth`` · side · l to the width, and the opacity is lighter by ``sideLightness`` · lean of it.
///
/// An eraser of this style has the widths, and is opaque.
public struct PencilLead: PenInstrument, Equatable {
    /// Effort for the greatest force, 1. Hands write with a third of what a pencil can measure, which then gives l.
    public static let sensitivity = 3.0
    /// The altitude below which the side of the lead draws, in radians: 30°.
    public static let shadingAltitude = 0.523_598_775_598_298_8
    /// The altitude from which on down a pencil is as flat as it gets, in radians: about 14°.
    public static let flatAltitude = 0.25
    /// What the side of the lead adds to the width, in line widths.
    public static let sideWidth = 6.0
    /// The part of the opacity that shading takes away.
    public static let sideLightness = 0.65

    private let unit: Double
    private let isErasing: Bool
    private var side: Double?

    /// Makes the lead for one stroke.
    /// - Parameters:
    ///   - unit: a 1024th of the board's longer side, in board units, above 0.
    ///   - isErasing: whether the lead is opaque.
    public init(unit: Double = 1, isErasing: Bool = false) {
        self.unit = unit
        self.isErasing = isErasing
    }

    /// The nib at the next point; see `PenInstrument`.
    public mutating func nib(at point: StrokePoint, width: Double, speed: Double, way: Vector) -> Nib {
        let effort = point.force.map { $0 * Self.sensitivity } ?? BallPen.pressure(speed: speed / unit)
        let lean = point.altitude.map(Self.lean) ?? 0
        // The squares of very short ways underflow.
        let azimuth = way.length > 0 ? point.azimuth : nil
        let sine = azimuth.map { abs(way.cross(Vector(angle: $0))) / way.length } ?? 0.7
        let fresh = lean * sine
        let side = side.map { 0.5 * fresh + 0.5 * $0 } ?? fresh
        self.side = side
        let opacity = (0.5 + 0.4 * min(effort, 1)) * (1 - Self.sideLightness * lean)
        return Nib(
            width: width * (min(max(effort, 0.4), 1.5) + Self.sideWidth * side), opacity: isErasing ? 1 : opacity)
    }

    /// How far a pencil leans at an altitude in radians: 0 at 30° and above, 1 at ``flatAltitude`` and below.
    public static func lean(_ altitude: Double) -> Double {
        min(max((shadingAltitude - altitude) / (shadingAltitude - flatAltitude), 0), 1)
    }
}

extension SIMD2<Double> {
    /// The unit vector at an angle in radians from the x axis, clockwise on the screen. Additions and multiplications alone,
    /// so that it is the same on every machine; off by less than 10⁻¹¹ for angles of a few turns.
    public init(angle: Double) {
        // A remainder is exact; beyond, the number of quarters would lose the angle.
        let angle = abs(angle) < 1000 ? angle : angle.truncatingRemainder(dividingBy: 2 * Double.pi)
        let quarters = (angle / (Double.pi / 2)).rounded()
        let rest = angle - quarters * (Double.pi / 2)
        let square = rest * rest
        let sine =
            rest
            * (1 - square / 6
                * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110 * (1 - square / 156))))))
        let cosine =
            1 - square / 2
            * (1 - square / 12 * (1 - square / 30 * (1 - square / 56 * (1 - square / 90 * (1 - square / 132)))))
        switch Int(quarters.truncatingRemainder(dividingBy: 4)) & 3 {
        case 0: self.init(cosine, sine)
        case 1: self.init(-sine, cosine)
        case 2: self.init(-cosine, -sine)
        default: self.init(sine, -cosine)
        }
    }
}
