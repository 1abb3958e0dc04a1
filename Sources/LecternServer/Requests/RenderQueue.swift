import Dispatch
import Foundation
import Locking
import Metrics
import NATSClient
import StrokeWire
import VectorGraphics
import Whiteboard

/// Renders pictures of boards on threads of its own, apart from those that release operations.
///
/// Requests with one key share one rendering, of the newest board among them, and one file. A newer board that arrives
/// during the rendering of an older one supersedes it: rendering stops after the current stroke, or within it if the
/// newer board no longer has it, and continues from there to the newer board. Documents (SVG, PDF, InkML) are
/// finished, for they would begin again. Nobody gets a board older than their request, nor a newer one than they asked for.
///
/// The pixels of images are fetched before a picture is drawn, while other pictures are; what has not come in time is drawn
/// as a frame, and the picture says that it is incomplete. A document has more images and more time, and who keeps it asks once:
/// it is answered `not-ready` until they have come or cannot be had.
///
/// Bounded by a ``ReplyBudget`` of its own; requests beyond are answered `not-ready`. Rooms are divided among the threads
/// by name; all threads share the memory of one ``BoardRenderer``.
final class RenderQueue: Sendable {
    private struct State {
        var pending = PendingRenders()
        /// The images of the last pictures that had some.
        var drawn: [DrawnPicture: UInt64] = [:]
    }

    /// A picture whose images are known.
    private struct DrawnPicture: Hashable {
        let room: RoomIncarnation
        let index: UInt64
        let form: PictureForm
    }

    /// Pictures whose images are known at most; then all are forgotten.
    private static let drawnLimit = 4096

    private let renderer: BoardRenderer
    private let queues: [DispatchQueue]
    private let idleTime: Duration
    private let documentTime: Duration
    private let isSweeping = Locked(false)
    private let tags: PictureTags
    private let sink: ReplySink
    private let turns: ReplyTurns
    private let metrics: ServerMetrics
    private let state = Locked(State())
    private let images = Locked<PageImageCache?>(nil)

    /// - Parameters:
    ///   - idleTime: canvases and pictures that were not used for so long are evicted, after twice that time at the latest.
    ///   - documentTime: how long a document waits for its images.
    init(
        _ configuration: ServerConfiguration, budget: ReplyBudget<RoomID>, sink: ReplySink, metrics: ServerMetrics,
        idleTime: Duration = .seconds(600), documentTime: Duration = PageImageCache.documentTimeLimit
    ) {
        // Half of the cores; the other half is for the rooms.
        let threads = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
        queues = (0..<threads).map { DispatchQueue(label: "lectern.pictures.\($0)") }
        renderer = BoardRenderer(
            configuration, byteLimit: configuration.canvasBytes,
            countSkippedLassos: { metrics.lassosSkipped.increment(by: $0) })
        self.idleTime = idleTime
        self.documentTime = documentTime
        turns = ReplyTurns(budget)
        tags = PictureTags(configuration)
        self.sink = sink
        self.metrics = metrics
    }

    /// Drops the pictures of a room, and the pixels of assets that are gone.
    func forget(_ room: RoomID, _ assets: [AssetID]) {
        state.withLock { $0.pending.forget(room) }
        dropPictures(of: room)
        images.withLock { $0 }?.forget(Set(assets))
    }

    private func dropPictures(of room: RoomID) {
        state.withLock { state in state.drawn = state.drawn.filter { $0.key.room.room != room } }
        renderer.memory.forget(room)
    }

    /// Queues the rendering of a board; returns at once.
    /// - Parameter slowest: the position of the room's cursor that is farthest behind.
    func render(_ key: RenderKey, of board: BoardVersion, slowest: UInt64 = 0, reply: String) {
        let isFirst = state.withLock { state -> Bool? in
            guard turns.reserve(key.room.room, bytes: state.pending.cost(key, of: board)) else { return nil }
            return state.pending.add(key, of: board, slowest: slowest, reply: reply)
        }
        switch isFirst {
        case true?: draw(key)
        case false?: break
        case nil: refuse(reply, .busy, .notReady)
        }
    }

    /// Draws images from now on; before, all are missing.
    func drawImages(from cache: PageImageCache) {
        images.withLock { $0 = cache }
    }

    /// What pictures take of their memory.
    var usage: CanvasUsage { renderer.memory.usage }

    /// Whether no request is pending.
    var isIdle: Bool { turns.isIdle }

    /// Refuses the requests that wait and cancels the renderings under way; returns when both are done.
    func close() {
        turns.close()
        // Also those that wait for images.
        for key in state.withLock({ $0.pending.keys }) { draw(key) }
        for queue in queues { queue.sync {} }
    }

    /// The headers of the picture of a board that is not drawn yet, and its tag. Where it may have images of which it is not
    /// known that all are there, it is incomplete, and the tag is one that no picture has.
    func headers(of key: RenderKey, of board: BoardVersion) -> (fields: NATSHeaders, tag: String) {
        guard key.form.format != .inkml, board.mayHaveImages else { return headers(of: key, at: board.index, 0) }
        let picture = DrawnPicture(room: key.room, index: board.index, form: key.form)
        let known = state.withLock { $0.drawn[picture] }
        return headers(of: key, at: board.index, known, isIncomplete: known == nil)
    }

    private func headers(
        of key: RenderKey, at index: UInt64, _ images: UInt64?, isIncomplete: Bool = false
    ) -> (fields: NATSHeaders, tag: String) {
        let tag = tags.tag(of: key.room, at: index, key.form, images: images)
        var fields: NATSHeaders = [HeaderName.index: "\(index)", HeaderName.tag: tag]
        // A blank room has no incarnation, and a header has a value.
        if !key.room.incarnation.isEmpty { fields.append(HeaderName.room, key.room.incarnation) }
        if isIncomplete { fields.append(HeaderName.incomplete, "1") }
        return (fields, tag)
    }

    private func note(_ images: PageImageSet, of key: RenderKey, at index: UInt64) {
        guard !images.isIncomplete else { return }
        state.withLock { state in
            if state.drawn.count >= Self.drawnLimit { state.drawn = [:] }
            state.drawn[DrawnPicture(room: key.room, index: index, form: key.form)] = images.hash
        }
    }

    private func refuse(_ reply: String, _ error: RequestError, _ outcome: PictureOutcome) {
        metrics.pictures.count(outcome)
        sink.refuse(reply, error)
    }

    private func draw(_ key: RenderKey) {
        queue(of: key.room).async { [self] in
            answer(key)
            sweepLater()
        }
    }

    private func queue(of room: RoomIncarnation) -> DispatchQueue {
        queues[Int(UInt(bitPattern: room.hashValue) % UInt(queues.count))]
    }

    /// Schedules an eviction unless one is scheduled; repeated until nothing is kept.
    private func sweepLater() {
        guard !isSweeping.exchange(true) else { return }
        queues[0].asyncAfter(deadline: .now() + idleTime / .seconds(1)) { [weak self] in
            guard let self else { return }
            renderer.memory.evict(unusedSince: MonotonicClock.now() + (.zero - idleTime))
            isSweeping.withLock { $0 = false }
            if !renderer.memory.isEmpty { sweepLater() }
        }
    }

    /// Draws the newest board that is asked for, and answers; or has its images fetched, and is called again.
    private func answer(_ key: RenderKey) {
        while !turns.isClosing, let (version, slowest) = state.withLock({ $0.pending.next(for: key) }) {
            let board = version.board
            let images: PageImageSet
            switch self.images(of: board, key) {
            case .there(let found): images = found
            case .awaited: return
            case .late:
                return finish(key, through: board.index) { [self] in refuse($0, .imagesPending, .notReady) }
            }
            do throws(DrawingStopped) {
                let file = try renderer.picture(
                    of: board, slowest: slowest, key.room, key.form, images: images, at: MonotonicClock.now(),
                    while: interest(in: board, key))
                if version.mayHaveImages { note(images, of: key, at: board.index) }
                // What is drawn of a room that was erased since it was asked for is not kept.
                if state.withLock({ $0.pending.isForgotten(key) }) { dropPictures(of: key.room.room) }
                let headers = headers(
                    of: key, at: board.index, images.hash, isIncomplete: images.isIncomplete
                ).fields
                return finish(key, through: board.index, bytes: file.count) { [self] in
                    metrics.pictures.count(.drawn(key.form.format))
                    sink.send(file, headers, $0)
                }
            } catch {
                // Else it was superseded by a newer board, or cancelled at shutdown.
                guard error == .unwanted else {
                    return finish(key, through: board.index) { [self] in refuse($0, .pictureTooLarge, .tooLarge) }
                }
            }
        }
        finish(key, through: .max) { [self] in refuse($0, .shuttingDown, .notReady) }
    }

    private enum Images {
        case there(PageImageSet)
        /// They are being fetched; the picture is drawn afterwards.
        case awaited
        /// They take longer than it waits.
        case late
    }

    /// The images of a picture. Those that are not there are fetched once for the requests that wait.
    private func images(of board: Board, _ key: RenderKey) -> Images {
        let wanted = renderer.images(of: board, key.form)
        guard !wanted.isEmpty else { return .there(.none) }
        guard let cache = images.withLock({ $0 }) else { return .there(PageImageSet(wanted, [:])) }
        let (there, toBeLoaded, isFetching) = cache.images(wanted, at: MonotonicClock.now())
        let mayLoad = !toBeLoaded.isEmpty && !turns.isClosing && state.withLock { $0.pending.beginLoading(key) }
        let isDocument = key.form.format.isDocument
        guard mayLoad else {
            return isDocument && isFetching ? .late : .there(PageImageSet(wanted, there))
        }
        let limit = isDocument ? documentTime : PageImageCache.timeLimit
        cache.load(toBeLoaded, for: key.room.room, isDocument: isDocument, within: limit) { [self] in draw(key) }
        return .awaited
    }

    /// A board is wanted until a newer one is requested; a stroke is wanted as long as the newest board has it.
    private func interest(in board: Board, _ key: RenderKey) -> BoardRenderer.Interest {
        guard key.form.format == .png else {
            return BoardRenderer.Interest(isWanted: { [turns] in !turns.isClosing })
        }
        var newest = (index: board.index, hasStroke: true)
        return BoardRenderer.Interest(
            isWanted: { [state, turns] in
                !turns.isClosing && state.withLock { $0.pending.board(for: key)?.index == board.index }
            },
            isStrokeWanted: { [state, turns] stroke in
                guard !turns.isClosing, let wanted = state.withLock({ $0.pending.board(for: key) }) else {
                    return false
                }
                // Searching a board of many strokes is slow: once for each newer board.
                if wanted.index != newest.index {
                    let board = wanted.board
                    let page = key.form.pages(of: board)[0]
                    newest = (wanted.index, board.visible(on: page).contains { $0.index == stroke })
                }
                return newest.hasStroke
            })
    }

    /// Answers the requests that a board of that index satisfies. Those for a newer one come after other keys.
    /// - Parameter bytes: of an answer.
    private func finish(
        _ key: RenderKey, through index: UInt64, bytes: Int = 0, _ answer: @escaping @Sendable (String) -> Void
    ) {
        let (replies, areMoreLeft, reserved) = state.withLock { $0.pending.take(key, through: index) }
        turns.answer(
            replies[...], of: key.room.room, bytes: bytes, reserved: reserved, on: queue(of: key.room), answer)
        if areMoreLeft { draw(key) }
    }
}

/// Identifies a picture; its content changes as operations are released.
struct RenderKey: Sendable, Hashable {
    let room: RoomIncarnation
    let view: RoomFeed
    /// The position whose board it shows; nil for the newest.
    var index: UInt64?
    let form: PictureForm
}

/// A room and its incarnation: digests of different incarnations cannot be compared.
struct RoomIncarnation: Sendable, Hashable {
    let room: RoomID
    let incarnation: String
}

/// The requests that wait for pictures, by key.
struct PendingRenders: Sendable {
    private struct Pending {
        /// The newest board among the requests.
        var board: BoardVersion
        /// Where the room's slowest cursor was at the last request.
        var slowest: UInt64
        var requests: [(reply: String, index: UInt64)]
        /// Whether its images have been asked for.
        var isLoaded = false
        /// Whether the room was erased since the first request.
        var isForgotten = false
    }

    private var pending: [RenderKey: Pending] = [:]

    var keys: [RenderKey] { Array(pending.keys) }

    /// The board to render for a key; nil if no request waits.
    func board(for key: RenderKey) -> BoardVersion? { pending[key]?.board }

    /// The board to render for a key, and where the room's slowest cursor was at the last request.
    func next(for key: RenderKey) -> (board: BoardVersion, slowest: UInt64)? {
        pending[key].map { ($0.board, $0.slowest) }
    }

    /// Bytes that a request adds to the boards that wait.
    func cost(_ key: RenderKey, of board: BoardVersion) -> Int {
        guard let waiting = pending[key]?.board else { return board.byteEstimate }
        return board.index > waiting.index ? board.byteEstimate - waiting.byteEstimate : 0
    }

    /// - Returns: whether it is the first request for the key.
    mutating func add(_ key: RenderKey, of board: BoardVersion, slowest: UInt64 = 0, reply: String) -> Bool {
        let request = (reply: reply, index: board.index)
        guard let index = pending.index(forKey: key) else {
            pending[key] = Pending(board: board, slowest: slowest, requests: [request])
            return true
        }
        pending.values[index].slowest = slowest
        pending.values[index].requests.append(request)
        if board.index > pending.values[index].board.index {
            pending.values[index].board = board
            // A document has the images of this one, too.
            if key.form.format.isDocument { pending.values[index].isLoaded = false }
        }
        return false
    }

    /// - Returns: whether the images of a picture are still to be asked for; from then on they are not.
    mutating func beginLoading(_ key: RenderKey) -> Bool {
        guard let index = pending.index(forKey: key), !pending.values[index].isLoaded else { return false }
        pending.values[index].isLoaded = true
        return true
    }

    /// Notes that a room was erased.
    mutating func forget(_ room: RoomID) {
        for key in pending.keys where key.room.room == room { pending[key]?.isForgotten = true }
    }

    /// Whether the room of a picture that is asked for was erased since.
    func isForgotten(_ key: RenderKey) -> Bool { pending[key]?.isForgotten ?? false }

    /// Removes the requests that a board of that index satisfies.
    /// - Returns: their replies, whether a request for a newer board waits, and the bytes of the board if none does.
    mutating func take(
        _ key: RenderKey, through index: UInt64
    ) -> (replies: [String], areMoreLeft: Bool, bytes: Int) {
        guard var left = pending.removeValue(forKey: key) else { return ([], false, 0) }
        let replies = left.requests.filter { $0.index <= index }.map(\.reply)
        left.requests.removeAll { $0.index <= index }
        left.isLoaded = false
        if !left.requests.isEmpty { pending[key] = left }
        return (replies, !left.requests.isEmpty, left.requests.isEmpty ? left.board.byteEstimate : 0)
    }
}
