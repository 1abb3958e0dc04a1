/// One stroke of a board's visible list, as far as the painter has to know it.
public struct BoardLayer: Sendable, Hashable {
    /// Identifies the stroke itself: the index of its operation.
    public var id: UInt64
    /// Identifies the picture: a digest of all visible strokes from the lowest one up to and including this one.
    public var digest: UInt64

    /// Makes a layer.
    @inlinable
    public init(id: UInt64, digest: UInt64) {
        self.id = id
        self.digest = digest
    }
}
