import StrokeWire

/// Notices when a player jumps.
struct PlayerWatch: Sendable {
    /// A player that goes on faster than this, or farther than ``tolerance`` at once, has jumped.
    private static let fastestRate = 2
    private static let tolerance = Duration.milliseconds(250)
    /// How long a picture may be shown until the player counts as standing.
    private static let longestPicture = Duration.seconds(1)

    private var last: (time: MediaTime, at: Duration)?
    /// From where the player has played on: what lies before, it has jumped over. Nil while its time is not known.
    private(set) var playedFrom: MediaTime?

    mutating func look(_ player: MediaTime?, at now: Duration) {
        guard let player else { return }
        if let known = last, known.time == player {
            // Between two pictures, or it stands.
            last = (player, max(known.at, now - Self.longestPicture))
            return
        }
        var hasJumped = false
        if let known = last {
            let most = (now - known.at) * Self.fastestRate + Self.tolerance
            hasJumped = Duration.microseconds(player - known.time) > most
        }
        if hasJumped || playedFrom.map({ $0 > player }) ?? true { playedFrom = player }
        last = (player, now)
    }

    /// Whether the player has come to a time by playing.
    func hasPlayed(_ time: MediaTime) -> Bool { playedFrom.map { $0 <= time } ?? false }
}
