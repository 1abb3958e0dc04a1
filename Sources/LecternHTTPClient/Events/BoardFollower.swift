internal import ClientCore
internal import StrokeWire

/// A board that follows an event stream: what comes of the stream goes to the board, and what the board says to the caller and to
/// the stream.
struct BoardFollower {
    enum Output {
        case state(ConnectionState)
        case action(PlayoutAction)
    }

    /// Between two looks at a player.
    private static var shortestWait: Duration { .milliseconds(4) }

    var stream: EventStream
    var playout: BoardPlayout
    private var playoutDeadline: Duration?

    init(stream: EventStream, playout: BoardPlayout) { (self.stream, self.playout) = (stream, playout) }

    /// When to act next, unless something comes first.
    var deadline: Duration? { [stream.deadline, playoutDeadline].compactMap(\.self).min() }

    /// - Returns: false where the caller wants no more.
    mutating func act(
        on outputs: [EventStream.Output], _ player: MediaTime?, at now: Duration,
        _ handle: (Output, borrowing BoardPlayout) -> Bool
    ) throws(GatewayError) -> Bool {
        var restart: String?
        for output in outputs {
            switch output {
            case .state(let state):
                guard handle(.state(state), playout) else { return false }
            case .event(let event):
                stream.took(event)
                guard let kind = PlayoutEvent(name: event.type) else { continue }
                let actions = playout.receive(kind, event.data, player: player, at: now)
                guard tell(actions, &restart, handle) else { return false }
            }
            if restart != nil { break }
        }
        guard tell(playout.look(player, at: now), &restart, handle) else { return false }
        let (actions, growth) = playout.grow(player, on: playout.board.pages.shown, at: now)
        guard tell(actions, &restart, handle) else { return false }
        let wait = [growth, playout.wait(player)].compactMap(\.self).min()
        playoutDeadline = wait.map { now + max($0, Self.shortestWait) }
        guard let restart else { return true }
        return try act(on: stream.restart(restart, at: now), player, at: now, handle)
    }

    private func tell(
        _ actions: [PlayoutAction], _ restart: inout String?, _ handle: (Output, borrowing BoardPlayout) -> Bool
    ) -> Bool {
        for action in actions {
            if case .restart(let why) = action { restart = why }
            guard handle(.action(action), playout) else { return false }
        }
        return true
    }
}
