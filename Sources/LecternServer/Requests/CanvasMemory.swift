import Dispatch
import Locking
import Raster
import Scene
import StrokeWire
import Whiteboard

/// The canvases and encoded pictures of rooms, what lassos have made of their pages, and renderings under way: all together within
/// a number of bytes.
///
/// Safe from any thread. Before a rendering, the least recently used canvases are evicted to make space for it; if that is not
/// enough it waits until others are done, in the order in which they came. An evicted canvas is rendered again to the same pixels.
final class CanvasMemory: Sendable {
    /// A canvas that is kept, and what its next picture begins with.
    struct Painting {
        var painter: BoardPainter
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

    private enum Place: Hashable {
        case canvas(Key)
        case scenes(RoomIncarnation)
    }

    private enum Content {
        case painting(Painting)
        case scenes(SceneCache)
    }

    /// What is taken out while a rendering uses it.
    struct Taken {
        var painting: Painting?
        /// What lassos and erasers have made of the room's pages, for canvases and documents of all sizes.
        var scenes: SceneCache?
        /// Bytes reserved for the rendering.
        var reserved = 0
    }

    private struct State {
        /// Evicted by hand, since they share their bytes with the rest.
        var kept = LRUCache<Place, Content>(byteLimit: .max)
        var images: LRUCache<PictureKey, [UInt8]>
        /// Bytes reserved for renderings under way.
        var reserved = 0
        /// Renderings that wait for memory, the first one first. No other begins before it: a large one would wait for ever.
        var waiting: [DispatchSemaphore] = []
        /// The most bytes ever in use.
        var most = 0

        var byteCount: Int { kept.byteCount + images.byteCount + reserved }

        var usage: CanvasUsage {
            var usage = CanvasUsage()
            (usage[.files], usage[.underWay]) = (images.byteCount, reserved)
            for content in kept.values {
                switch content {
                case .painting(let painting):
                    let tiles = painting.painter.tileBytes
                    usage[.tiles] += tiles
                    usage[.versions] += painting.painter.byteCount - tiles
                case .scenes(let scenes): usage[.scenes] += scenes.byteCount
                }
            }
            return usage
        }

        /// Evicts what is kept until at most `bytes` are in use or `count` of it are left.
        mutating func shrink(to bytes: Int, keeping count: Int) {
            while byteCount > bytes, kept.count > count { kept.evictOldest() }
            most = max(most, byteCount)
        }

        mutating func take(_ key: Key?, scenesOf room: RoomIncarnation?) -> Taken {
            var taken = Taken()
            if let key, case .painting(let painting)? = kept.remove(.canvas(key)) { taken.painting = painting }
            if let room, case .scenes(let scenes)? = kept.remove(.scenes(room)) { taken.scenes = scenes }
            return taken
        }

        /// The canvas last, as it is the one to be kept in any case.
        mutating func insert(_ taken: Taken, _ key: Key?, scenesOf room: RoomIncarnation?, at now: Instant) {
            if let room, let scenes = taken.scenes, scenes.byteCount > 0 {
                kept.insert(.scenes(scenes), .scenes(room), bytes: scenes.byteCount, at: now)
            }
            if let key, let painting = taken.painting {
                kept.insert(.painting(painting), .canvas(key), bytes: painting.painter.byteCount, at: painting.lastUse)
            }
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

    var isEmpty: Bool { state.withLock { $0.kept.isEmpty && $0.images.isEmpty } }

    /// Number of strokes, areas and images drawn for the canvases that are kept.
    var strokesDrawn: Int {
        state.withLock { state in
            state.kept.values.reduce(0) { sum, content in
                if case .painting(let painting) = content { sum + painting.painter.layersDrawn } else { sum }
            }
        }
    }

    /// An encoded picture, where it is kept.
    func picture(_ key: PictureKey, at now: Instant) -> [UInt8]? {
        state.withLock { $0.images.value(key, at: now) }
    }

    /// Waits until there is memory for a rendering, and takes out its painting and the room's scenes, so that nothing of them is
    /// copied.
    ///
    /// - Parameters:
    ///   - bytes: of the rendering.
    ///   - sceneBytes: those among them for scenes. Where the room's have more, as those of other pages are there, more is
    ///     reserved; where there is no memory for that, they are dropped.
    ///   - key: of the painting; nil for none.
    ///   - room: whose scenes are needed; nil where none are.
    func reserve(
        _ bytes: Int, scenes sceneBytes: Int, for key: Key? = nil, scenesOf room: RoomIncarnation? = nil,
        at now: Instant
    ) -> Taken {
        let turn = DispatchSemaphore(value: 0)
        while true {
            let taken = state.withLock { state -> Taken? in
                if let first = state.waiting.first, first !== turn {
                    state.waiting.append(turn)
                    return nil
                }
                var taken = state.take(key, scenesOf: room)
                taken.reserved = bytes + max(0, (taken.scenes?.byteCount ?? 0) - sceneBytes)
                if taken.reserved > max(byteLimit, bytes) { (taken.scenes, taken.reserved) = (nil, bytes) }
                state.shrink(to: byteLimit - taken.reserved, keeping: 0)
                guard state.reserved == 0 || state.byteCount + taken.reserved <= byteLimit else {
                    state.insert(taken, key, scenesOf: room, at: now)
                    if state.waiting.isEmpty { state.waiting.append(turn) }
                    return nil
                }
                if !state.waiting.isEmpty { state.waiting.removeFirst() }
                state.reserved += taken.reserved
                state.most = max(state.most, state.byteCount)
                // There may be memory for the next one, too.
                state.waiting.first?.signal()
                return taken
            }
            if let taken { return taken }
            turn.wait()
        }
    }

    /// Puts back what was taken, and its file, in place of the reservation.
    /// - Parameter place: of the painting.
    func finish(
        _ taken: Taken, _ place: Key?, _ file: [UInt8]?, _ key: PictureKey, at now: Instant, reserved bytes: Int
    ) {
        state.withLock { state in
            state.reserved -= bytes
            state.insert(taken, place, scenesOf: key.room, at: now)
            if let file { state.images.insert(file, key, bytes: file.count, at: now) }
            state.shrink(to: byteLimit, keeping: 1)
            state.waiting.first?.signal()
        }
    }

    /// Evicts canvases and pictures unused since `instant`.
    func evict(unusedSince instant: Instant) {
        state.withLock { state in
            state.kept.evict(unusedSince: instant)
            state.images.evict(unusedSince: instant)
        }
    }

    /// Drops the canvases and pictures of a room.
    func forget(_ room: RoomID) {
        state.withLock { state in
            state.kept.removeAll { place in
                switch place {
                case .canvas(let key): key.room.room == room
                case .scenes(let kept): kept.room == room
                }
            }
            state.images.removeAll { $0.room.room == room }
        }
    }
}

/// Bytes that pictures of boards take, about, of `canvas.memory`.
struct CanvasUsage: Sendable {
    /// What takes them. The raw values are those of the metric's label.
    enum Part: String, CaseIterable {
        /// Pixels of kept canvases.
        case tiles
        /// What knows of the versions of canvases which tiles they have, and where their layers are.
        case versions
        /// What lassos have made of pages.
        case scenes
        /// Encoded pictures.
        case files
        /// Reserved for renderings under way, the canvases that they begin with among it.
        case underWay = "under-way"
    }

    private var bytes: [Part: Int] = [:]

    subscript(part: Part) -> Int {
        get { bytes[part] ?? 0 }
        set { bytes[part] = newValue }
    }

    var total: Int { bytes.values.reduce(0, +) }
}
