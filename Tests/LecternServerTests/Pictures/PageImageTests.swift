import Locking
import NATSClient
import Raster
import StrokeWire
import TestSupport
import Testing
import VectorGraphics

@testable import LecternServer
@testable import Whiteboard

/// The pixels of images, from the store to the picture.
@Suite(.timeLimit(.minutes(4))) struct PageImageTests {
    /// Gives pixels when it is let, and counts.
    private final class Source: Sendable {
        private let asked = Locked<[Int]>([])
        /// Those who wait until it is opened; nil afterwards.
        private let waiting: Locked<[CheckedContinuation<Void, Never>]?>
        private let hasPixels = Locked(true)

        init(isOpen: Bool = true) { waiting = Locked(isOpen ? nil : []) }

        var pages: [Int] { asked.withLock { $0 } }

        func open() {
            let all = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting ?? []
            }
            for continuation in all { continuation.resume() }
        }

        func lose() { hasPixels.withLock { $0 = false } }

        func pixels(_ key: PageImageCache.Key) async -> ImagePixels? {
            asked.withLock { $0.append(key.source.page) }
            await withCheckedContinuation { continuation in
                let isOpen = waiting.withLock { waiting in
                    waiting?.append(continuation)
                    return waiting == nil
                }
                if isOpen { continuation.resume() }
            }
            guard hasPixels.withLock({ $0 }) else { return nil }
            return ImagePixels(width: 16, height: 16, bytes: [UInt8](repeating: 255, count: 1024))
        }
    }

    private func key(_ page: Int) throws -> PageImageCache.Key {
        guard let asset = AssetID(hexadecimal: String(repeating: "a", count: 64)) else { throw Unexpected("no asset") }
        return PageImageCache.Key(source: ImageSource(asset: asset, page: page), width: 64)
    }

    private func load(
        _ keys: [PageImageCache.Key], _ cache: PageImageCache, within limit: Duration = PageImageCache.timeLimit
    ) async throws {
        let room = try RoomID.test("algebra")
        await withCheckedContinuation { continuation in
            cache.load(keys, for: room, within: limit) { continuation.resume() }
        }
    }

    @Test func `a page is fetched once for all who wait for it`() async throws {
        let source = Source(isOpen: false)
        let cache = PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) })
        let keys = [try key(0), try key(1)]
        let (loaded, isLoaded) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<5 { cache.load(keys, for: try RoomID.test("algebra")) { isLoaded.yield() } }
        source.open()
        var left = 5
        for await _ in loaded {
            left -= 1
            if left == 0 { break }
        }
        try await load(keys, cache)
        // The last load asked again, as nobody had looked whether they are there.
        #expect(Set(source.pages) == [0, 1])
        let now = MonotonicClock.now()
        #expect(cache.images(keys, at: now).there.count == 2)
        #expect(cache.images(keys, at: now).toBeLoaded.isEmpty)
        #expect(cache.byteCount == 2048)
    }

    @Test func `the pages used last are kept within the bytes`() async throws {
        let source = Source()
        let cache = PageImageCache(byteLimit: 3000, fetch: { await source.pixels($0) })
        let now = MonotonicClock.now()
        for page in 0..<2 { try await load([try key(page)], cache) }
        _ = cache.images([try key(0)], at: now)
        try await load([try key(2)], cache)
        #expect(cache.byteCount == 2048)
        #expect(cache.images([try key(0), try key(1), try key(2)], at: now).toBeLoaded == [try key(1)])
        let small = PageImageCache(byteLimit: 10, fetch: { await source.pixels($0) })
        try await load([try key(0)], small)
        #expect(small.images([try key(0)], at: now).there.count == 1, "the only one is drawn in any case")
    }

    @Test func `a page that cannot be had is asked for again after a pause`() async throws {
        let source = Source()
        source.lose()
        let cache = PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) })
        let keys = [try key(0)]
        try await load(keys, cache)
        let now = MonotonicClock.now()
        #expect(cache.images(keys, at: now).there.isEmpty && cache.images(keys, at: now).toBeLoaded.isEmpty)
        #expect(cache.images(keys, at: now + PageImageCache.pause).toBeLoaded == keys)
    }

    @Test func `pixels that come when their asset is gone are not kept`() async throws {
        let source = Source(isOpen: false)
        let cache = PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) })
        let keys = [try key(0)]
        let (loaded, isLoaded) = AsyncStream.makeStream(of: Never.self)
        cache.load(keys, for: try RoomID.test("algebra"), within: .hangLimit) { isLoaded.finish() }
        cache.forget([keys[0].source.asset])
        source.open()
        for await _ in loaded {}
        #expect(cache.byteCount == 0)
        try await load(keys, cache)
        #expect(cache.byteCount == 1024, "one that was stored again is there")
    }

    @Test func `a picture goes on without an image that takes too long`() async throws {
        let source = Source(isOpen: false)
        defer { source.open() }
        let cache = PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) })
        let keys = [try key(0)]
        try await load(keys, cache, within: .zero)
        #expect(cache.images(keys, at: MonotonicClock.now()).there.isEmpty)
    }

    @Test func `pages beyond the bound are missing at once`() async throws {
        let source = Source(isOpen: false)
        let cache = PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) })
        let many = try (0..<1024).map { try key($0) }
        let others = try (1024..<2048).map { try key($0) }
        cache.load(many, for: try RoomID.test("algebra")) {}
        cache.load(others, for: try RoomID.test("botany")) {}
        try await load([try key(3000)], cache)
        #expect(source.pages.count <= 4)
        source.open()
        try await load(many + others, cache)
        #expect(cache.images([try key(3000)], at: MonotonicClock.now()).there.isEmpty)
    }

    @Test(arguments: [("botany", false), ("algebra", true)])
    func `many images of a room keep those of another waiting no more than a document's those of a picture`(
        other: String, isDocument: Bool
    ) async throws {
        let source = Source(isOpen: false)
        let cache = PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) })
        let many = try (0..<250).map { try key($0) }
        cache.load(many, for: try RoomID.test("algebra"), isDocument: isDocument, within: .hangLimit) {}
        let (loaded, isLoaded) = AsyncStream.makeStream(of: Never.self)
        cache.load([try key(300)], for: try RoomID.test(other), within: .hangLimit) { isLoaded.finish() }
        source.open()
        for await _ in loaded {}
        // The four under way, one more of the room with many, and what is fetched beside.
        let place = try #require(source.pages.firstIndex(of: 300))
        #expect(place < 16)
    }

    private func queue(
        _ sink: ReplySink, documentTime: Duration = PageImageCache.documentTimeLimit
    ) -> RenderQueue {
        RenderQueue(
            ServerConfiguration(), budget: ReplyBudget(requests: 9, bytes: 64 << 20), sink: sink,
            metrics: ServerMetrics(), documentTime: documentTime)
    }

    private func room() throws -> DrawnRoom {
        var room = try DrawnRoom(strokes: 2)
        try room.send(
            #""e":5,"i":"\#(String(repeating: "a", count: 64))","w":400,"h":300,"d":[{"x":10,"y":10},{"x":110,"y":90}]"#
        )
        return room
    }

    @Test func `a picture waits for its images, and its tag names them`() async throws {
        let source = Source(isOpen: false)
        let replies = AsyncStream.makeStream(of: (bytes: [UInt8], headers: NATSHeaders).self)
        let sink = ReplySink(
            send: { bytes, headers, _ in replies.continuation.yield((bytes, headers)) }, refuse: { _, _ in })
        var next = replies.stream.makeAsyncIterator()
        let queue = queue(sink)
        let board = BoardVersion(try room().board)
        let key = try RenderKey.test()

        // Without a store there is a frame.
        queue.render(key, of: board, reply: "frame")
        let frame = try #require(await next.next())
        #expect(frame.headers[HeaderName.incomplete] == "1")
        let unknown = queue.headers(of: key, of: board)
        #expect(unknown.fields[HeaderName.incomplete] == "1")
        #expect(unknown.tag != frame.headers[HeaderName.tag])

        queue.drawImages(from: PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) }))
        queue.render(key, of: board, reply: "image")
        // A picture without images does not wait.
        let plain = try DrawnRoom(strokes: 1)
        queue.render(try RenderKey.test(PictureForm(width: 99)), of: BoardVersion(plain.board), reply: "plain")
        let other = try #require(await next.next())
        #expect(other.headers[HeaderName.index] == "1")
        #expect(other.headers[HeaderName.incomplete] == nil)
        source.open()
        let image = try #require(await next.next())
        #expect(image.headers[HeaderName.index] == "3")
        #expect(image.headers[HeaderName.incomplete] == nil)
        #expect(image.bytes != frame.bytes)
        #expect(image.headers[HeaderName.tag] != frame.headers[HeaderName.tag])
        // From now on the tag is known without drawing.
        let known = queue.headers(of: key, of: board)
        #expect(known.tag == image.headers[HeaderName.tag] && known.fields[HeaderName.incomplete] == nil)
        #expect(source.pages == [0])
        queue.close()
    }

    @Test func `a document whose images take longer than it waits is refused until they are there`() async throws {
        let source = Source(isOpen: false)
        let replies = AsyncStream.makeStream(of: (bytes: [UInt8], headers: NATSHeaders, refusal: RequestError?).self)
        let sink = ReplySink(
            send: { bytes, headers, _ in replies.continuation.yield((bytes, headers, nil)) },
            refuse: { _, refusal in replies.continuation.yield(([], [:], refusal)) })
        var next = replies.stream.makeAsyncIterator()
        let queue = queue(sink, documentTime: .zero)
        queue.drawImages(from: PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) }))
        let board = BoardVersion(try room().board)
        let key = try RenderKey.test(PictureForm(format: .pdf))
        for _ in 0..<2 {
            queue.render(key, of: board, reply: "early")
            #expect(try #require(await next.next()).refusal?.code == .notReady)
        }
        source.open()
        var answer: (bytes: [UInt8], headers: NATSHeaders, refusal: RequestError?)
        repeat {
            queue.render(key, of: board, reply: "late")
            answer = try #require(await next.next())
        } while answer.refusal != nil
        #expect(answer.bytes.starts(with: Array("%PDF".utf8)))
        #expect(answer.headers[HeaderName.incomplete] == nil)
        // An image that cannot be had keeps nobody waiting.
        source.lose()
        queue.drawImages(from: PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) }))
        repeat {
            queue.render(key, of: board, reply: "lost")
            answer = try #require(await next.next())
        } while answer.refusal != nil
        #expect(answer.headers[HeaderName.incomplete] == "1")
        queue.close()
    }

    @Test func `a queue that is closed refuses pictures that wait for images`() async throws {
        let source = Source(isOpen: false)
        defer { source.open() }
        let refusals = AsyncStream.makeStream(of: String.self)
        let sink = ReplySink(send: { _, _, _ in }, refuse: { reply, _ in refusals.continuation.yield(reply) })
        let queue = queue(sink, documentTime: .hangLimit)
        queue.drawImages(from: PageImageCache(byteLimit: 1 << 20, fetch: { await source.pixels($0) }))
        let document = try RenderKey.test(PictureForm(format: .pdf))
        queue.render(document, of: BoardVersion(try room().board), reply: "waits")
        try await eventually("the image is asked for") { source.pages.isEmpty ? nil : () }
        queue.close()
        var iterator = refusals.stream.makeAsyncIterator()
        #expect(await iterator.next() == "waits")
        #expect(queue.isIdle)
    }
}
