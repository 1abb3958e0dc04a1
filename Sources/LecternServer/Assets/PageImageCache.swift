import Assets
import Dispatch
import Locking
import Raster
import Scene
import StrokeWire
import Whiteboard

/// Pixels of assets' pages for pictures of boards.
///
/// Safe from any thread; nothing waits here. Kept are as many as fit a number of bytes, the least recently used go first. A
/// page is fetched once for all pictures that wait for it, four at a time, those of the rooms in turn, and what cannot be had
/// is asked for again after a pause. What waits is bounded, half of it for one room; a page beyond that counts as missing.
final class PageImageCache: Sendable {
    /// What is fetched: a page at a width.
    struct Key: Sendable, Hashable {
        let source: ImageSource
        /// In pixels; an image that has fewer is not made larger.
        let width: Int
    }

    /// Fetches a page; nil where it cannot be had.
    typealias Fetch = @Sendable (Key) async -> ImagePixels?

    /// Pictures of a room do not wait for its documents, which may have a thousand pages.
    private struct Lane: Hashable {
        let room: RoomID
        let isDocument: Bool
    }

    private struct State {
        var pixels: LRUCache<Key, ImagePixels>
        /// Pages that could not be had, and until when they are not asked for again.
        var missing: [Key: Instant] = [:]
        /// The waiters for pages that are being fetched, or are to be.
        var waiting: [Key: [@Sendable () -> Void]] = [:]
        var toBeFetched = FairQueue<Lane, Key>()
        /// Pages that are being fetched of assets that have gone since.
        var gone: Set<Key> = []
        var fetching = 0

        /// - Returns: false where as many wait as may.
        mutating func queue(_ key: Key, in lane: Lane) -> Bool {
            guard waiting.count < PageImageCache.mostWaiting,
                toBeFetched.count(of: lane) < PageImageCache.mostWaiting / 2
            else { return false }
            toBeFetched.append(key, of: lane)
            return true
        }

        mutating func next() -> Key? {
            guard fetching < PageImageCache.parallel, let key = toBeFetched.popFirst() else { return nil }
            fetching += 1
            return key
        }
    }

    /// Pages that are fetched at a time; and those that are fetched or waited for.
    static let parallel = 4
    private static let mostWaiting = 2048
    /// How long a page that could not be had is not asked for.
    static let pause: Duration = .seconds(2)
    /// How long a picture waits for its images, and a document, which may have hundreds: less than a gateway waits for it.
    static let timeLimit: Duration = .seconds(3)
    static let documentTimeLimit: Duration = .seconds(8)

    let byteLimit: Int
    private let fetch: Fetch
    private let state: Locked<State>

    /// - Parameter byteLimit: of all pixels together; the page used last is kept in any case.
    init(byteLimit: Int, fetch: @escaping Fetch) {
        self.byteLimit = byteLimit
        self.fetch = fetch
        state = Locked(State(pixels: LRUCache(byteLimit: byteLimit, keepsNewest: true)))
    }

    /// Pages of a library's assets.
    convenience init(_ library: AssetLibrary, byteLimit: Int) {
        self.init(byteLimit: byteLimit) { key in
            do throws(AssetError) {
                let pixels = try await library.pixels(of: key.source.asset, page: key.source.page, width: key.width)
                return ImagePixels(width: pixels.width, height: pixels.height, bytes: pixels.bytes)
            } catch {
                return nil
            }
        }
    }

    var byteCount: Int { state.withLock { $0.pixels.byteCount } }

    /// The pixels that are there, of as many pages as fit the bytes together, the pages that may be had, and whether one of these
    /// is being fetched, or is to be.
    func images(
        _ keys: [Key], at now: Instant
    ) -> (there: [Key: ImagePixels], toBeLoaded: [Key], isFetching: Bool) {
        state.withLock { state in
            var there: [Key: ImagePixels] = [:]
            var toBeLoaded: [Key] = []
            var bytes = 0
            for key in keys {
                if let pixels = state.pixels.value(key, at: now) {
                    bytes += pixels.bytes.count
                    // The first one is drawn in any case.
                    if bytes <= byteLimit || there.isEmpty { there[key] = pixels }
                } else if state.missing[key].map({ $0 <= now }) ?? true {
                    toBeLoaded.append(key)
                }
            }
            return (there, toBeLoaded, toBeLoaded.contains { state.waiting[$0] != nil })
        }
    }

    /// Fetches pages for a room, and calls `then` once, on any thread: when all have come or cannot be had, or after the time
    /// limit.
    func load(
        _ keys: [Key], for room: RoomID, isDocument: Bool = false, within limit: Duration = timeLimit,
        then: @escaping @Sendable () -> Void
    ) {
        let lane = Lane(room: room, isDocument: isDocument)
        let pending = Locked<(@Sendable () -> Void)?>(then)
        let finish: @Sendable () -> Void = { pending.exchange(nil)?() }
        guard !keys.isEmpty else { return finish() }
        let latch = CountDownLatch(keys.count, whenDone: finish)
        let refused = state.withLock { state in
            keys.reduce(0) { refused, key in
                guard state.waiting[key] != nil || state.queue(key, in: lane) else { return refused + 1 }
                state.waiting[key, default: []].append(latch.countDown)
                return refused
            }
        }
        for _ in 0..<refused { latch.countDown() }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1), execute: finish)
        startFetching()
    }

    private func startFetching() {
        while let next = state.withLock({ $0.next() }) {
            Task { [self] in
                let pixels = await fetch(next)
                finish(next, pixels, at: MonotonicClock.now())
                startFetching()
            }
        }
    }

    private func finish(_ key: Key, _ pixels: ImagePixels?, at now: Instant) {
        let waiting = state.withLock { state in
            state.fetching -= 1
            if state.gone.remove(key) == nil, let pixels {
                state.missing[key] = nil
                state.pixels.insert(pixels, key, bytes: pixels.bytes.count, at: now)
            } else {
                state.missing = state.missing.filter { $0.value > now }
                if state.missing.count < Self.mostWaiting { state.missing[key] = now + Self.pause }
            }
            return state.waiting.removeValue(forKey: key) ?? []
        }
        for finish in waiting { finish() }
    }

    /// Drops the pixels of assets that are gone.
    func forget(_ assets: Set<AssetID>) {
        state.withLock { state in
            state.pixels.removeAll { assets.contains($0.source.asset) }
            state.gone.formUnion(state.waiting.keys.filter { assets.contains($0.source.asset) })
        }
    }
}

/// The images of a picture: those that are there, and whether that is all of them.
struct PageImageSet: Sendable {
    /// Pixels by what they show.
    var pixels: PageImages = [:]
    var isIncomplete = false
    /// A hash of what is there, in the order of the board; 0 where the board has no images.
    var hash: UInt64 = 0

    var byteCount: Int { pixels.byteCount }

    static let none = PageImageSet()

    /// - Parameters:
    ///   - keys: what the picture shows, each once.
    ///   - there: the pixels of some of them.
    init(_ keys: [PageImageCache.Key], _ there: [PageImageCache.Key: ImagePixels]) {
        guard !keys.isEmpty else { return }
        var text = ""
        for key in keys {
            guard let pixels = there[key] else {
                isIncomplete = true
                continue
            }
            self.pixels[key.source] = pixels
            text += "\(key.source.asset) \(key.source.page) \(pixels.width) \(pixels.height);"
        }
        hash = max(FNV1a64.hash(text.utf8), 1)
    }

    private init() {}
}
