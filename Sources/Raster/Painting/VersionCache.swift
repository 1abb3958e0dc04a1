import OrderedCollections

/// Which board of a log a picture shows, and how far the cursors on that log are.
public struct BoardPosition: Sendable {
    /// The page, any number that tells pages apart.
    public var page: Int
    /// The position in the log, from 0: the index of the last operation that the board shows.
    public var index: UInt64
    /// The position of the cursor that is farthest behind: no cursor comes to an earlier one.
    public var slowest: UInt64

    /// Makes a position. Without arguments it is one that no cursor has passed.
    public init(page: Int = 0, index: UInt64 = 0, slowest: UInt64 = 0) {
        self.page = page
        self.index = index
        self.slowest = slowest
    }
}

/// Canvases of one size by the digest of their layers.
///
/// A version is *reachable* while a cursor can come to it, or to a board that is best drawn from it: of each page the last
/// version that the slowest cursor has reached, and all later ones. The others are *past*: only undo, redo and looks back
/// need them. Bounded by the memory of all versions, where shared tiles count once, by their number, and by the memory
/// that past versions add. Where there is too much, past versions go first, the least recently used before others. The
/// version used last is kept in any case.
struct VersionCache: Sendable {
    private struct Version {
        var canvas: Canvas
        /// Where it was a picture for a cursor; nil for one that was only a step to a picture.
        var place: (page: Int, index: UInt64)?
        var isPast: Bool

        mutating func set(isPast: Bool, in tiles: inout TileTable) {
            guard self.isPast != isPast else { return }
            self.isPast = isPast
            tiles.change(canvas, isReachable: !isPast)
        }
    }

    private let byteLimit: Int
    private let countLimit: Int
    private let pastByteLimit: Int
    /// The least recently used first.
    private var versions: OrderedDictionary<UInt64, Version> = [:]
    private var tiles = TileTable()
    /// The memory of the lists of tiles in bytes.
    private var listBytes = 0

    /// - Parameter pastByteLimit: bytes that past versions add to the others at most.
    init(byteLimit: Int, countLimit: Int, pastByteLimit: Int) {
        self.byteLimit = byteLimit
        self.countLimit = max(countLimit, 1)
        self.pastByteLimit = pastByteLimit
    }

    var count: Int { versions.count }

    /// The memory of all versions in bytes.
    var byteCount: Int { tiles.count * Tile.byteCount + listBytes }

    /// The memory of painted tiles, each counted once, in bytes.
    var tileByteCount: Int { tiles.count * Tile.byteCount }

    /// The memory of tiles that only past versions have, in bytes.
    var pastByteCount: Int { (tiles.count - tiles.reachableCount) * Tile.byteCount }

    func contains(_ digest: UInt64) -> Bool { versions[digest] != nil }

    /// Looks up a version, which counts as a use.
    /// - Parameter position: where it is a picture for a cursor; nil for one to draw from.
    mutating func version(_ digest: UInt64, at position: BoardPosition? = nil) -> Canvas? {
        guard var version = versions.removeValue(forKey: digest) else { return nil }
        if let position {
            let index = max(version.place?.index ?? 0, position.index)
            version.place = (position.page, index)
            version.set(isPast: false, in: &tiles)
        }
        versions[digest] = version
        return version.canvas
    }

    /// Keeps a version.
    /// - Parameter position: where it is a picture for a cursor; nil for a step to one.
    mutating func keep(_ canvas: Canvas, digest: UInt64, at position: BoardPosition? = nil) {
        remove(digest)
        versions[digest] = Version(
            canvas: canvas, place: position.map { ($0.page, $0.index) }, isPast: position == nil)
        tiles.add(canvas, isReachable: position != nil)
        listBytes += Self.listBytes(canvas)
        while byteCount > byteLimit || versions.count > countLimit, let oldest = leastNeeded { remove(oldest) }
    }

    /// Finds out which versions are past, and discards those that are too many.
    mutating func discardPast(slowest: UInt64) {
        var reached: [Int: UInt64] = [:]
        for case (let page, let index)? in versions.values.lazy.map({ $0.place }) where index <= slowest {
            reached[page] = max(reached[page] ?? 0, index)
        }
        for number in versions.values.indices {
            let isPast = versions.values[number].place.map { $0.index < reached[$0.page] ?? 0 } ?? true
            versions.values[number].set(isPast: isPast, in: &tiles)
        }
        while pastByteCount > pastByteLimit, let oldest = leastNeeded, versions[oldest]?.isPast == true {
            remove(oldest)
        }
    }

    /// The version to be discarded first; nil where there is only the one used last.
    private var leastNeeded: UInt64? {
        let others = versions.elements.dropLast()
        return (others.first { $0.value.isPast } ?? others.first)?.key
    }

    private mutating func remove(_ digest: UInt64) {
        guard let version = versions.removeValue(forKey: digest) else { return }
        tiles.remove(version.canvas, isReachable: !version.isPast)
        listBytes -= Self.listBytes(version.canvas)
    }

    /// The memory of a version that shares all of its tiles.
    private static func listBytes(_ canvas: Canvas) -> Int {
        canvas.tiles.count * MemoryLayout<Tile>.stride
    }
}

/// Counts how many canvases share each painted tile. The canvases keep their tiles meanwhile.
private struct TileTable: Sendable {
    private struct Uses {
        var all: Int32 = 0
        var reachable: Int32 = 0
    }

    private var uses: [UInt: Uses] = [:]
    /// Tiles of reachable versions.
    private(set) var reachableCount = 0

    /// Tiles of all versions.
    var count: Int { uses.count }

    mutating func add(_ canvas: Canvas, isReachable: Bool) {
        count(canvas, all: 1, reachable: isReachable ? 1 : 0)
    }

    mutating func remove(_ canvas: Canvas, isReachable: Bool) {
        count(canvas, all: -1, reachable: isReachable ? -1 : 0)
    }

    mutating func change(_ canvas: Canvas, isReachable: Bool) {
        count(canvas, all: 0, reachable: isReachable ? 1 : -1)
    }

    private mutating func count(_ canvas: Canvas, all: Int32, reachable: Int32) {
        for tile in canvas.tiles where !tile.isAbsent {
            let identity = tile.identity
            var tileUses = uses[identity] ?? Uses()
            let wasReachable = tileUses.reachable > 0
            tileUses.all += all
            tileUses.reachable += reachable
            reachableCount += (tileUses.reachable > 0 ? 1 : 0) - (wasReachable ? 1 : 0)
            uses[identity] = tileUses.all > 0 ? tileUses : nil
        }
    }
}
