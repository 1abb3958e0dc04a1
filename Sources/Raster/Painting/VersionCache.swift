import OrderedCollections

/// Canvases by the digest of their strokes. The least recently used ones are discarded first.
///
/// Bounded by the memory of the versions, where shared tiles count once, and by their number. The newest version is always
/// kept.
struct VersionCache: Sendable {
    private let byteLimit: Int
    private let countLimit: Int
    /// The least recently used first.
    private var versions: OrderedDictionary<UInt64, Canvas> = [:]
    /// An upper bound of the memory of all versions in bytes.
    private(set) var byteCount = 0

    init(byteLimit: Int, countLimit: Int) {
        self.byteLimit = byteLimit
        self.countLimit = max(countLimit, 1)
    }

    var count: Int { versions.count }

    func contains(_ digest: UInt64) -> Bool { versions[digest] != nil }

    /// Looks up a version, which counts as a use.
    mutating func version(_ digest: UInt64) -> Canvas? {
        guard let canvas = versions.removeValue(forKey: digest) else { return nil }
        versions[digest] = canvas
        return canvas
    }

    /// Keeps a version; `neighbour` is a kept or a blank one that shares most tiles with it.
    mutating func keep(_ canvas: Canvas, digest: UInt64, beside neighbour: Canvas) {
        versions.removeValue(forKey: digest)
        versions[digest] = canvas
        byteCount += canvas.unsharedByteCount(with: neighbour) + Self.listBytes(canvas)
        if byteCount > byteLimit || versions.count > countLimit { shrink() }
    }

    /// Discards the older quarter of the versions until both bounds hold.
    private mutating func shrink() {
        byteCount = distinctByteCount()
        while versions.count > 1, byteCount > byteLimit || versions.count > countLimit {
            versions.removeFirst(max(versions.count / 4, 1))
            byteCount = distinctByteCount()
        }
    }

    /// Counts the memory of all versions in bytes.
    func distinctByteCount() -> Int {
        var seen = Set<UInt>()
        var lists = 0
        for canvas in versions.values {
            lists += Self.listBytes(canvas)
            for tile in canvas.tiles where !tile.isAbsent { seen.insert(tile.identity) }
        }
        return seen.count * Tile.byteCount + lists
    }

    /// The memory of a version that shares all of its tiles.
    private static func listBytes(_ canvas: Canvas) -> Int {
        canvas.tiles.count * MemoryLayout<Tile>.stride
    }
}
