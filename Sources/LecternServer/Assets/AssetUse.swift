import Locking
import StrokeWire
import Whiteboard

/// Says in the store that assets are used, so that they stay: those that a log names, when it does; those that a board can
/// show, when the board's checkpoint is written, which is also how long the room is kept; those that pictures are asked of.
///
/// Rooms that sleep need no care: an asset stays for ``AssetStore/sweep(at:)``'s time after its last use, which is longer
/// than a checkpoint without new operations. Safe from any thread; what is noted is told to the store by ``run(_:)``.
final class AssetUse: Sendable {
    private let uses: Locked<RecentUses>
    private let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameter interval: a use is told again after so long.
    init(interval: Duration) {
        uses = Locked(RecentUses(interval: interval))
    }

    /// Notes that assets are used; cheap for those that were noted lately. Those that are not there do no harm.
    func note(_ assets: some Collection<AssetID>) {
        guard !assets.isEmpty else { return }
        let isNew = uses.withLock { $0.note(assets, at: MonotonicClock.now()) }
        if isNew { waker.yield() }
    }

    /// Tells the store, until cancelled. What it cannot be told is told later.
    /// - Parameter touch: writes the use of an asset to the store; false where that has failed.
    func run(_ touch: @Sendable (AssetID) async -> Bool) async {
        for await _ in wakes {
            while !Task.isCancelled, let asset = uses.withLock({ $0.next() }) {
                if await touch(asset) { continue }
                uses.withLock { $0.failed(asset) }
                try? await Task.sleep(for: Self.retryPause)
            }
        }
    }

    private static let retryPause: Duration = .seconds(1)
}

/// Assets whose use is still to be told, and those of which it was told lately.
///
/// Bounded: each of its sets has ``limit`` assets at most. Where more are waiting, further ones are left out until they are
/// used again; where more were told, some are told again.
struct RecentUses {
    static let limit = 32_768

    private let interval: Duration
    private var waiting: Set<AssetID> = []
    /// Those that were noted lately. Each counts as one byte.
    private var recent = LRUCache<AssetID, Void>(byteLimit: limit)

    /// - Parameter interval: an asset that is still used is told again after three quarters of it.
    init(interval: Duration) {
        self.interval = interval
    }

    /// - Returns: whether something is to be told.
    mutating func note(_ assets: some Collection<AssetID>, at now: Instant) -> Bool {
        recent.evict(unusedSince: now + (.zero - interval * 3 / 4))
        for asset in assets where !recent.contains(asset) && waiting.count < Self.limit {
            recent.insert((), asset, bytes: 1, at: now)
            waiting.insert(asset)
        }
        return !waiting.isEmpty
    }

    mutating func next() -> AssetID? { waiting.popFirst() }

    /// An asset could not be told.
    mutating func failed(_ asset: AssetID) {
        if waiting.count < Self.limit { waiting.insert(asset) }
    }
}
