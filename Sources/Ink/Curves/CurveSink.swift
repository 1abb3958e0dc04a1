/// Takes the centre line of one stroke, piece by piece, in board units.
///
/// Every call but `begin` continues from where the last one ended. The nib changes linearly with the parameter of the
/// piece, from that of the last call to the one given. A stroke is one `begin` and any number of pieces; a `begin`
/// alone is a dot.
public protocol CurveSink {
    /// Puts the pen down.
    mutating func begin(at point: Vector, nib: Nib)
    /// Draws a straight piece.
    mutating func line(to end: Vector, nib: Nib)
    /// Draws a quadratic Bézier piece.
    mutating func quadratic(control: Vector, to end: Vector, nib: Nib)
    /// Draws a cubic Bézier piece.
    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib)
}
