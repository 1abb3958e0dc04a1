/// How the points of a freehand stroke or an eraser become ink. A room has one style; shapes ignore it.
public enum InkStyle: String, Sendable, CaseIterable {
    /// Cubic pieces over every fifth point, constant width.
    case smooth
}
