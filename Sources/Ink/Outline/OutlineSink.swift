/// Takes closed outlines, in the unit of what is outlined: for vector formats.
public protocol OutlineSink {
    /// Begins an outline.
    mutating func move(to point: Vector)
    /// Adds a straight side.
    mutating func line(to point: Vector)
    /// Adds a cubic Bézier side.
    mutating func cubic(control1: Vector, control2: Vector, to point: Vector)
    /// Ends the outline with a straight side to its beginning.
    mutating func close()
}
