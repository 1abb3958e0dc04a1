extension Canvas {
    /// The memory in bytes of the painted tiles that this canvas does not share with `other`, tile by tile.
    public func unsharedByteCount(with other: Canvas?) -> Int {
        guard let other, other.tiles.count == tiles.count else { return byteCount }
        var count = 0
        for (mine, theirs) in zip(tiles, other.tiles) where !mine.isAbsent && mine.identity != theirs.identity {
            count += 1
        }
        return count * Tile.byteCount
    }
}
