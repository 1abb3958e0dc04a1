/// Canvases by the digest of what is on them, the least recently used ones given up first.
///
/// Bounded by the memory that the versions hold, tiles counted once where versions share them, and by their number. The
/// newest version is always kept.
struct VersionCache: Sendable {
    private struct Version {
        var canvas: Canvas
        var lastUse: UInt64
    }

    private let byteLimit: Int
    private let countLimit: Int
    private var versions: [UInt64: Version] = [:]
    private var uses: UInt64 = 0
    /// The memory of all versions in bytes; never less than the truth.
    private(set) var byteCount = 0

    init(byteLimit: Int, countLimit: Int) {
        self.byteLimit = byteLimit
        self.countLimit = max(countLimit, 1)
    }

    var count: Int { versions.count }

    func contains(_ digest: UInt64) -> Bool { versions[digest] != nil }

    /// The version of that digest, which counts as a use.
    mutating func version(_ digest: UInt64) -> Canvas? {
        guard let index = versions.index(forKey: digest) else { return nil }
        uses += 1
        versions.values[index].lastUse = uses
        return versions.values[index].canvas
    }

    /// Keeps a version; `neighbour` is one that is kept, or blank, and shares most tiles with it.
    mutating func keep(_ canvas: Canvas, digest: UInt64, beside neighbour: Canvas) {
        uses += 1
        versions[digest] = Version(canvas: canvas, lastUse: uses)
        byteCount += canvas.unsharedByteCount(with: neighbour) + Self.listBytes(canvas)
        if byteCount > byteLimit || versions.count > countLimit { shrink() }
    }

    /// Gives up the older quarter of the versions, until both bounds hold again.
    private mutating func shrink() {
        byteCount = distinctByteCount()
        while versions.count > 1, byteCount > byteLimit || versions.count > countLimit {
            let oldestFirst = versions.sorted { $0.value.lastUse < $1.value.lastUse }
            for (digest, _) in oldestFirst.prefix(max(versions.count / 4, 1)) { versions[digest] = nil }
            byteCount = distinctByteCount()
        }
    }

    /// The memory of all versions in bytes, counted anew.
    func distinctByteCount() -> Int {
        var seen = Set<UInt>()
        var lists = 0
        for version in versions.values {
            lists += Self.listBytes(version.canvas)
            for tile in version.canvas.tiles where !tile.isAbsent { seen.insert(tile.identity) }
        }
        return seen.count * Tile.byteCount + lists
    }

    /// What a version costs that shares all its tiles.
    private static func listBytes(_ canvas: Canvas) -> Int {
        canvas.tiles.count * MemoryLayout<Tile>.stride
    }
}
