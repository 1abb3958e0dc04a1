/// How the points of a freehand stroke or an eraser become ink. A room has one style; shapes ignore it.
///
/// In every style one point is a dot of the line width, two points are a line and three points one quadratic.
public enum InkStyle: String, Sendable, CaseIterable {
    /// Cubic pieces over every fifth point, constant width.
    case smooth
    /// Quadratic pieces from midpoint to midpoint, constant width.
    case quadratic
    /// A uniform cubic B-spline; the farther the points lie apart, the thinner the line.
    case bspline
    /// Quadratic pieces from midpoint to midpoint; the faster or harder the pen, the wider the line.
    case calligraphy
    /// A curve through all points; the slower or harder the pen, the wider and darker the line.
    case pen
    /// The curve of `pen`, stamped with a soft round brush that builds up within the stroke.
    case stamp
}
