/// How a picture of the board is wanted.
public struct ImageRequest: Sendable, Hashable {
    /// Width in pixels, 1 … 4096; nil for the board's own.
    public var width: Int?

    public init(width: Int? = nil) {
        self.width = width
    }
}
