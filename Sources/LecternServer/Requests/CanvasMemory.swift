import Dispatch
import Locking
import Raster
import Scene
import StrokeWire
import Whiteboard

/// The canvases and encoded pictures of rooms, and renderings under way: all together within a number of bytes.
///
/// Safe from any thread. Before a rendering, the least recently used canvases are evicted to make space for it; if that is not
/// enough it waits until others are done, in the order in which they came. An evicted canvas is rendered again to the same pixels.
final class CanvasMemory: Sendable {
    /// A canvas that is kept, and what its next picture begins with.
    struct Painting {
        var painter: BoardPainter
        /// What lassos have made of its pages.
        var scenes: SceneCache
        let size: BoardSize
        let canvas: CanvasSize
        var lastUse: Instant
    }

    /// Which pictures share a canvas.
    struct Key: Hashable {
        let room: RoomIncarnation
        let width: Int
        let height: Int
    }

    /// The content of an encoded picture: equal keys are equal pictures, also for different cohorts.
    struct PictureKey: Sendable, Hashable {
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

    private struct State {
        /// Evicted by hand, since they share their bytes with the rest.
        var paintings = LRUCache<Key, Painting>(byteLimit: .max)
        var images: LRUCache<PictureKey, [UInt8]>
        /// Bytes reserved for renderings under way.
        var reserved = 0
        /// Renderings that wait for memory, the first one first. No other begins before it: a large one would wait for ever.
        var waiting: [DispatchSemaphore] = []
        /// The most bytes ever in use.
        var most = 0

        var byteCount: Int { paintings.byteCount + images.byteCount + reserved }

        var usage: CanvasUsage {
            var usage = CanvasUsage(files: images.byteCount, underWay: reserved)
            for painting in paintings.values {
                let tiles = painting.painter.tileBytes
                usage.tiles += tiles
                usage.versions += painting.painter.byteCount - tiles
                usage.scenes += painting.scenes.byteCount
            }
            return usage
        }

        /// Evicts canvases until at most `bytes` are in use or `count` canvases are left.
        mutating func shrink(to bytes: Int, keeping count: Int) {
            while byteCount > bytes, paintings.count > count { paintings.evictOldest() }
            most = max(most, byteCount)
        }

        mutating func insert(_ painting: Painting, _ key: Key) {
            let bytes = painting.painter.byteCount + painting.scenes.byteCount
            paintings.insert(painting, key, bytes: bytes, at: painting.lastUse)
        }
    }

    private let byteLimit: Int
    private let state: Locked<State>

    /// - Parameter byteLimit: an eighth of it is for encoded pictures.
    init(byteLimit: Int) {
        self.byteLimit = byteLimit
        state = Locked(State(images: LRUCache(byteLimit: byteLimit / 8)))
    }

    /// Bytes in use, about, by what it is.
    var usage: CanvasUsage { state.withLock { $0.usage } }

    /// The most bytes ever in use, for tests.
    var mostBytes: Int { state.withLock { $0.most } }

    /// Renderings that wait for memory, for tests.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether nothing is kept.
    var isEmpty: Bool { state.withLock { $0.paintings.isEmpty && $0.images.isEmpty } }

    /// Number of strokes, areas and images drawn for the canvases that are kept.
    var strokesDrawn: Int { state.withLock { $0.paintings.values.reduce(0) { $0 + $1.painter.layersDrawn } } }

    /// An encoded picture, where it is kept.
    func picture(_ key: PictureKey, at now: Instant) -> [UInt8]? {
        state.withLock { $0.images.value(key, at: now) }
    }

    /// Waits until there is memory for a rendering, and takes its painting out, so that nothing of it is copied.
    @discardableResult
    func reserve(_ bytes: Int, for key: Key? = nil) -> Painting? {
        let turn = DispatchSemaphore(value: 0)
        while true {
            let (painting, isReserved) = state.withLock { state -> (Painting?, Bool) in
                if let first = state.waiting.first, first !== turn {
                    state.waiting.append(turn)
                    return (nil, false)
                }
                let painting = key.flatMap { state.paintings.remove($0) }
                state.shrink(to: byteLimit - bytes, keeping: 0)
                guard state.reserved == 0 || state.byteCount + bytes <= byteLimit else {
                    if let key, let painting { state.insert(painting, key) }
                    if state.waiting.isEmpty { state.waiting.append(turn) }
                    return (nil, false)
                }
                if !state.waiting.isEmpty { state.waiting.removeFirst() }
                state.reserved += bytes
                state.most = max(state.most, state.byteCount)
                // There may be memory for the next one, too.
                state.waiting.first?.signal()
                return (painting, true)
            }
            if isReserved { return painting }
            turn.wait()
        }
    }

    /// Puts a painting and its file back in place of the reservation.
    func finish(
        _ painting: (place: Key, Painting)?, _ file: [UInt8]?, _ key: PictureKey, at now: Instant,
        reserved bytes: Int
    ) {
        state.withLock { state in
            state.reserved -= bytes
            if let painting { state.insert(painting.1, painting.place) }
            if let file { state.images.insert(file, key, bytes: file.count, at: now) }
            state.shrink(to: byteLimit, keeping: 1)
            state.waiting.first?.signal()
        }
    }

    /// Evicts canvases and pictures unused since `instant`.
    func evict(unusedSince instant: Instant) {
        state.withLock { state in
            state.paintings.evict(unusedSince: instant)
            state.images.evict(unusedSince: instant)
        }
    }

    /// Drops the canvases and pictures of a room.
    func forget(_ room: RoomID) {
        state.withLock { state in
            state.paintings.removeAll { $0.room.room == room }
            state.images.removeAll { $0.room.room == room }
        }
    }
}

/// Bytes that pictures of boards take, about, of `canvas.memory`.
struct CanvasUsage: Sendable {
    /// Pixels of kept canvases.
    var tiles = 0
    /// What knows of the versions of canvases which tiles they have, and where their layers are.
    var versions = 0
    /// What lassos have made of pages.
    var scenes = 0
    /// Encoded pictures.
    var files = 0
    /// Reserved for renderings under way, the canvases that they begin with among it.
    var underWay = 0

    var total: Int { tiles + versions + scenes + files + underWay }
}
