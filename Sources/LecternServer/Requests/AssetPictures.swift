import Assets
import Dispatch
import Locking
import Metrics
import NATSClient
import StrokeWire
import Whiteboard

/// Answers requests for pictures of assets' pages, apart from the threads that release operations.
///
/// Bounded: pending requests, and of one view of a room a quarter of them; renderings by a ``RenderSchedule``, one of them
/// under way at a time, so that a file that is being uploaded waits for one at most. Beyond, requests are answered `not-ready`. A waiting
/// request has no bytes of a picture: these are in the library's cache, or of the rendering that has just ended. Safe from
/// any thread.
final class AssetPictures: Sendable {
    typealias Key = AssetLibrary.PageKey
    typealias Waiter = RenderSchedule.Waiter

    private struct State {
        var library: AssetLibrary?
        var use: AssetUse?
        /// Of requests that are not answered yet.
        var budget: ReplyBudget<RenderSchedule.Feed>
        var schedule = RenderSchedule()
        var rendering: Task<Void, Never>?
        var isClosing = false
    }

    private let sink: ReplySink
    private let metrics: ServerMetrics
    /// Sends pictures, which waits for the socket.
    private let queue = DispatchQueue(label: "lectern.assets")
    private let state: Locked<State>

    /// - Parameter requests: pending ones at most.
    init(requests: Int, sink: ReplySink, metrics: ServerMetrics) {
        self.sink = sink
        self.metrics = metrics
        state = Locked(State(budget: ReplyBudget(requests: requests, bytes: 0, parts: 4)))
    }

    /// Gives pictures from now on; before, and without a journal, no asset is there.
    func start(with library: AssetLibrary, _ use: AssetUse) {
        state.withLock { ($0.library, $0.use) = (library, use) }
    }

    /// Answers a request; returns at once.
    ///
    /// - Parameter isShown: whether an image that the view has shows the page. Where none does, teachers get pages of what was
    ///   uploaded to the room, to look at before they place it; students get nothing.
    func answer(_ request: AssetPageRequest, to waiter: Waiter, isShown: Bool) {
        guard isShown || waiter.feed.view == .head else { return refuse(waiter.reply, .unknown) }
        let (library, isTaken) = state.withLock { state in
            (state.library, !state.isClosing && state.budget.reserve(waiter.feed, bytes: 0))
        }
        guard isTaken else { return refuse(waiter.reply, .busy) }
        guard let library else { return refuse([waiter], .unknown) }
        Task { [self] in
            do throws(AssetError) {
                if !isShown {
                    guard try await library.wasUploaded(request.id, to: waiter.feed.room) else { throw .unknown }
                }
                let key = try await library.key(of: request.id, page: request.page, width: request.width)
                state.withLock { $0.use }?.note(CollectionOfOne(request.id))
                if let unless = request.unless, unless == "*" || unless == Self.tag(of: key) {
                    send([], of: key, to: [waiter], .notModified)
                } else {
                    queue.async { [self] in sendCached(key, to: waiter, library) }
                }
            } catch {
                refuse([waiter], error)
            }
        }
    }

    /// Refuses what waits, and ends the rendering under way.
    func close() {
        let (waiters, rendering) = state.withLock { state in
            state.isClosing = true
            return (state.schedule.removeAll(), state.rendering)
        }
        rendering?.cancel()
        refuse(waiters, .busy)
        queue.sync {}
    }

    /// On the queue.
    private func sendCached(_ key: Key, to waiter: Waiter, _ library: AssetLibrary) {
        if let picture = library.cachedPicture(key) { return send(picture, of: key, to: [waiter], .cached) }
        let outcome = state.withLock { state -> RenderSchedule.Outcome in
            guard !state.isClosing else { return .refused }
            let outcome = state.schedule.add(key, for: waiter, at: MonotonicClock.now())
            if outcome == .start { state.rendering = Task { [self] in await render(library) } }
            return outcome
        }
        if outcome == .refused { refuse([waiter], .busy) }
    }

    /// Renders what is asked for, until nothing is; has one file in memory meanwhile.
    private func render(_ library: AssetLibrary) async {
        var file: AssetLibrary.File?
        while let step = state.withLock({ $0.schedule.next(at: MonotonicClock.now()) }) {
            switch step {
            case .refuse(let waiters): refuse(waiters, .busy)
            case .render(let key):
                do throws(AssetError) {
                    let began = MonotonicClock.now()
                    let picture = try await library.picture(key, reusing: &file)
                    metrics.assetRendering.record((MonotonicClock.now() - began) / .seconds(1))
                    let waiters = state.withLock { $0.schedule.finish(key) }
                    // One picture at a time is in memory beside those of the cache.
                    await queue.run { [self] in send(picture, of: key, to: waiters, .rendered) }
                } catch {
                    refuse(state.withLock { $0.schedule.finish(key) }, error)
                }
            }
        }
    }

    /// What identifies the bytes of a picture. They depend on the key alone, apart from the programs that make them.
    private static func tag(of key: Key) -> String { "\(key.asset)-\(key.page)-\(key.width)" }

    private func send(_ picture: [UInt8], of key: Key, to waiters: [Waiter], _ outcome: AssetPictureOutcome) {
        for waiter in waiters {
            metrics.assetPictures.count(outcome)
            sink.send(picture, [HeaderName.tag: Self.tag(of: key)], waiter.reply)
            release(waiter)
        }
    }

    private func refuse(_ waiters: [Waiter], _ error: AssetError) {
        for waiter in waiters {
            refuse(waiter.reply, error)
            release(waiter)
        }
    }

    private func release(_ waiter: Waiter) {
        state.withLock { $0.budget.release(waiter.feed, requests: 1, bytes: 0) }
    }

    private func refuse(_ reply: String, _ error: AssetError) {
        let (refusal, outcome) = Self.refusal(error)
        metrics.assetPictures.count(outcome)
        sink.refuse(reply, refusal)
    }

    private static func refusal(_ error: AssetError) -> (RequestError, AssetPictureOutcome) {
        switch error {
        case .unknown: (.unknownAsset, .unknownAsset)
        case .busy, .unavailable, .full, .roomFull, .noJournal:
            (RequestError(.notReady, "The service is busy with other assets; ask again in a second."), .notReady)
        case .unreadable, .needsPassword: (RequestError(.unreadable, error.description), .failed)
        case .tooLarge: (RequestError(.tooLarge, error.description), .failed)
        case .noSandbox: (RequestError(.noSandbox, error.description), .failed)
        }
    }
}

/// What became of a request for a picture of an asset's page. The raw values are those of the metric's label.
enum AssetPictureOutcome: String, CaseIterable {
    case rendered, cached
    case notModified = "not-modified"
    /// There is no such page, or it must not be seen yet.
    case unknownAsset = "unknown-asset"
    case badRequest = "bad-request"
    case notReady = "not-ready"
    /// The page could not be rendered.
    case failed
}

extension RequestError {
    static let unknownAsset = RequestError(
        .unknownAsset, "There is no such page of an asset, or it is not to be seen yet.")
}
