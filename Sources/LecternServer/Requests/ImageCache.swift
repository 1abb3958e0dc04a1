import Scene
import StrokeWire
import Whiteboard

/// A cache of encoded pictures, least recently used evicted first.
///
/// Bounded in bytes; a picture larger than the bound is not cached.
struct ImageCache: Sendable {
    /// The content of a picture: equal keys are equal pictures, also for different cohorts.
    struct Key: Sendable, Hashable {
        let room: RoomIncarnation
        let digest: BoardDigest
        /// Those of its pages that it shows.
        let pages: [Int]
        /// What lies under the ink of each.
        let papers: [PagePaper?]
        /// A hash of the images' pixels that are there; see ``PageImageSet``.
        let images: UInt64
        /// Width and height of the board.
        let size: SIMD2<Double>
        let form: PictureForm
    }

    private struct Image {
        let bytes: [UInt8]
        var lastUse: Instant
    }

    private let byteLimit: Int
    private var images: [Key: Image] = [:]
    private(set) var byteCount = 0
    var isEmpty: Bool { images.isEmpty }

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The cached picture; counts as a use.
    mutating func image(_ key: Key, at now: Instant) -> [UInt8]? {
        guard let index = images.index(forKey: key) else { return nil }
        images.values[index].lastUse = now
        return images.values[index].bytes
    }

    mutating func insert(_ bytes: [UInt8], _ key: Key, at now: Instant) {
        guard images[key] == nil, bytes.count <= byteLimit else { return }
        while byteCount + bytes.count > byteLimit,
            let oldest = images.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            remove(oldest.key)
        }
        images[key] = Image(bytes: bytes, lastUse: now)
        byteCount += bytes.count
    }

    /// Evicts pictures unused since `instant`.
    mutating func evict(unusedSince instant: Instant) {
        for (key, image) in images where image.lastUse < instant { remove(key) }
    }

    /// Removes the pictures of a room.
    mutating func removeAll(of room: RoomID) {
        for key in images.keys where key.room.room == room { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        if let image = images.removeValue(forKey: key) { byteCount -= image.bytes.count }
    }
}
