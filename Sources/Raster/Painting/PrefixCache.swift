/// Pictures of the lowest layers of lists, a number of layers apart, by the digest of these layers.
///
/// Bounded by the memory of all, where shared tiles count once. Where they are too much, every other one goes, and the
/// distance is twice what it was: what is left lies evenly on the list.
struct PrefixCache: Sendable {
    private static let leastSpacing = 256

    private let byteLimit: Int
    private var spacing = Self.leastSpacing
    private var prefixes: [UInt64: (canvas: Canvas, count: Int)] = [:]
    private(set) var byteCount = 0

    /// - Parameter byteLimit: 0 for one that keeps nothing.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    subscript(digest: UInt64) -> Canvas? { prefixes[digest]?.canvas }

    /// Keeps the picture of the `count` lowest layers, where that is a multiple of the distance.
    mutating func keep(_ canvas: Canvas, of count: Int, digest: UInt64) {
        guard byteLimit > 0, count.isMultiple(of: spacing), prefixes[digest] == nil else { return }
        prefixes[digest] = (canvas, count)
        byteCount = bytes
        while byteCount > byteLimit, !prefixes.isEmpty {
            spacing *= 2
            prefixes = prefixes.filter { $0.value.count.isMultiple(of: spacing) }
            byteCount = bytes
        }
    }

    private var bytes: Int {
        var tiles: Set<UInt> = []
        var listBytes = 0
        for (canvas, _) in prefixes.values {
            listBytes += canvas.tiles.count * MemoryLayout<Tile>.stride
            for tile in canvas.tiles where !tile.isAbsent { tiles.insert(tile.identity) }
        }
        return tiles.count * Tile.byteCount + listBytes
    }
}
