import Locking
import StrokeWire
import VideoTiming

/// A flag that is set once, by any thread.
final class StopFlag: Sendable {
    private let flag = Locked(false)

    var isSet: Bool { flag.withLock { $0 } }

    func set() { flag.withLock { $0 = true } }
}

/// Microseconds on a clock that never goes back, from the start of the program.
enum Uptime {
    private static let origin = ContinuousClock.now

    static var now: Int64 { origin.duration(to: .now).wholeMicroseconds }
}

/// The player of a stream between the thread that reads and those that ask where it stands.
final class LivePlayer: Sendable {
    private let player: Locked<StreamPlayer>
    private let observer = Locked<(@Sendable () -> Void)?>(nil)

    init(_ player: StreamPlayer) {
        self.player = Locked(player)
    }

    /// `body` runs on the thread that reads when the player begins, stalls, goes on or ends by what was read.
    func onChange(_ body: @escaping @Sendable () -> Void) { observer.withLock { $0 = body } }

    /// Does something with the player now.
    func withPlayer<Result>(_ body: (inout StreamPlayer, _ now: Int64) -> Result) -> Result {
        player.withLock { body(&$0, Uptime.now) }
    }

    /// Gives the player what has been read.
    func update(_ body: (inout StreamPlayer, _ now: Int64) -> Void) {
        let hasChanged = player.withLock { player in
            let before = (player.isPlaying, player.hasEnded)
            body(&player, Uptime.now)
            return before != (player.isPlaying, player.hasEnded)
        }
        if hasChanged, let notify = observer.withLock({ $0 }) { notify() }
    }
}
