/// What an operation draws; `e` on the wire.
public enum Element: UInt8, Sendable, CaseIterable {
    case freehand
    /// A straight line from the first to the last point.
    case line
    /// The ellipse in the box of the first and the last point.
    case ellipse
    /// The rectangle from the first to the last point.
    case rectangle
    /// A freehand stroke that takes paint away.
    case eraser
}
