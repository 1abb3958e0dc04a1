import Assets
import StrokeWire
import Whiteboard

/// Which pictures of assets' pages are waited for, by whom, and which is rendered next.
///
/// Requests for one picture share its rendering. Those who ask, each a view of a room, have their renderings done in turn:
/// who asks for many waits for them alone. Bounded: renderings that wait, of all and of one view; the caller bounds the
/// requests. What has waited too long is not rendered, as nobody listens any more.
struct RenderSchedule {
    /// The group that asks: the students of a cohort, or the teachers of a room.
    struct Feed: Hashable {
        let room: RoomID
        let view: RoomFeed
    }

    struct Waiter: Equatable {
        let feed: Feed
        /// The subject of the answer.
        let reply: String
    }

    /// What has become of a request.
    enum Outcome: Equatable {
        /// The first one: the caller renders what ``next(at:)`` gives until that is nil.
        case start
        case waits
        /// A bound is reached.
        case refused
    }

    /// Renderings that wait, at most.
    static let limit = 64
    /// Those of one view.
    static let feedLimit = 8
    /// How long a rendering may wait: clients do not wait longer for an answer.
    static let timeout: Duration = .seconds(15)

    typealias Key = AssetLibrary.PageKey

    private struct Rendering {
        var waiters: [Waiter]
        let since: Instant
    }

    private var renderings: [Key: Rendering] = [:]
    private var waiting = FairQueue<Feed, Key>()
    private var isRunning = false

    mutating func add(_ key: Key, for waiter: Waiter, at now: Instant) -> Outcome {
        if renderings[key] != nil {
            renderings[key]?.waiters.append(waiter)
            return .waits
        }
        guard waiting.count < Self.limit, waiting.count(of: waiter.feed) < Self.feedLimit else { return .refused }
        renderings[key] = Rendering(waiters: [waiter], since: now)
        waiting.append(key, of: waiter.feed)
        defer { isRunning = true }
        return isRunning ? .waits : .start
    }

    /// What to do next.
    enum Step: Equatable {
        /// To be ended by ``finish(_:)``.
        case render(Key)
        /// These have waited too long.
        case refuse([Waiter])
    }

    /// - Returns: nil where nothing waits; the next request starts again.
    mutating func next(at now: Instant) -> Step? {
        guard let key = waiting.popFirst() else {
            isRunning = false
            return nil
        }
        guard let since = renderings[key]?.since, now - since <= Self.timeout else { return .refuse(finish(key)) }
        return .render(key)
    }

    /// - Returns: who waits for a picture that was rendered, or could not be.
    mutating func finish(_ key: Key) -> [Waiter] { renderings.removeValue(forKey: key)?.waiters ?? [] }

    /// Forgets what waits.
    /// - Returns: who waits for it.
    mutating func removeAll() -> [Waiter] {
        var waiters: [Waiter] = []
        while let key = waiting.popFirst() { waiters += finish(key) }
        return waiters
    }
}
