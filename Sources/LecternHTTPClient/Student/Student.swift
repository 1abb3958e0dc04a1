internal import ClientRuntime
public import StrokeWire
public import Whiteboard

/// A student client: follows a cohort of a room through a gateway, or the head of its log.
///
/// Keeps a board by the protocol's rules: joins without gap or repeat, verifies digests and marks, goes on after the last
/// event when a connection breaks, and finds connections that are dead. Where it has a player, it holds operations until the
/// player has passed them, and lets strokes that are being drawn grow with its time.
///
/// Memory: 80 MiB of events that wait to be read at most, and what `BoardPlayout` says.
public final class Student: Sendable {
    private let gateway: Gateway
    private let room: RoomID
    private let feed: RoomFeed
    private let maximumHold: Duration
    private let silenceLimit: Duration

    /// - Parameters:
    ///   - gateway: where the events come from.
    ///   - room: the room.
    ///   - maximumHold: how long an operation waits for a player that runs, or whose time is not known: a safety net under a
    ///     wrong time line.
    public convenience init(
        gateway: Gateway, room: RoomID, feed: RoomFeed, maximumHold: Duration = BoardPlayout.maximumHold
    ) {
        self.init(gateway: gateway, room: room, feed: feed, maximumHold: maximumHold, silenceLimit: nil)
    }

    /// Makes a student of a cohort.
    public convenience init(
        gateway: Gateway, room: RoomID, cohort: CohortName, maximumHold: Duration = BoardPlayout.maximumHold
    ) {
        self.init(gateway: gateway, room: room, feed: .cohort(cohort), maximumHold: maximumHold)
    }

    /// - Parameter silenceLimit: after which a connection counts as dead; nil for that of the protocol.
    init(gateway: Gateway, room: RoomID, feed: RoomFeed, maximumHold: Duration, silenceLimit: Duration?) {
        (self.gateway, self.room, self.feed, self.maximumHold) = (gateway, room, feed, maximumHold)
        self.silenceLimit = silenceLimit ?? EventStreamState.silenceLimit
    }

    /// Follows the feed until `handle` returns false, the limit has passed, or the task is cancelled. Any number of times, also
    /// at once; each has a board of its own.
    ///
    /// - Parameters:
    ///   - limit: longest time to follow; nil for no limit.
    ///   - player: the media time of the student's player on the time line of the room's video; nil while unknown. It is called
    ///     on the caller's executor, up to 250 times a second. Without a player the service's gate alone decides.
    ///   - handle: called with each event in order, and with the board, which may be some events ahead; runs on the caller's
    ///     executor.
    /// - Throws: where the gateway does not permit it, also a token that has ended in between: see
    ///   ``GatewayError/isAboutPermission``. All else is tried again.
    /// - Returns: the final board.
    public func follow(
        for limit: Duration? = nil, player: (() -> MediaTime?)? = nil,
        _ handle: (Event, borrowing BoardPlayout) -> Bool
    ) async throws(GatewayError) -> BoardPlayout {
        let inputs = EventQueue<EventStream.Input>(bytes: EventStream.queueBytes)
        var reader = inputs.reader()
        defer { reader.cancelAlarm() }
        var follower = BoardFollower(
            stream: EventStream(of: room, feed, over: gateway, silenceLimit: silenceLimit) {
                inputs.put($0, bytes: $1)
            },
            playout: BoardPlayout(followsPlayer: player != nil, isHead: feed == .head, maximumHold: maximumHold))
        defer { follower.stream.close() }
        let start = ContinuousClock.now
        var outputs = try follower.stream.open(at: .zero)
        var dropped = 0
        while true {
            let now = start.duration(to: .now)
            let goesOn = try follower.act(on: outputs, player?(), at: now) { output, playout in
                guard let event = Event(output, playout) else { return true }
                return handle(event, playout)
            }
            if !goesOn || Task.isCancelled { return follower.playout }
            if let limit, now >= limit { return follower.playout }
            let deadline = [follower.deadline, limit].compactMap(\.self).min()
            let input = await reader.next(until: deadline.map { start + $0 })
            outputs = try follower.stream.receive(input, at: start.duration(to: .now))
            if inputs.dropped > dropped {
                dropped = inputs.dropped
                outputs += try follower.stream.inputLost(at: start.duration(to: .now))
            }
        }
    }
}

extension Student {
    /// An event of a student.
    public enum Event: Sendable {
        /// The gateway has sent a board, and this is the board now.
        case joined(room: String, index: UInt64, digest: BoardDigest, visible: Int)
        /// The player has reached an operation, which is on the board now; the board had this digest after it.
        case applied(ReleasedOperation, room: String, digest: BoardDigest)
        /// The player has reached a stroke of the joined board; until then it is in `BoardPlayout.veiled`.
        case unveiled(Stroke)
        /// So many points of a stroke being drawn are shown.
        case grew(author: AuthorID, number: Int64, points: Int)
        /// The pictures of strokes being drawn are other than before: see `BoardPlayout.wetInk`.
        case wetInkChanged
        /// Other pointers are seen than before, or at other places: see `BoardPlayout.pointers`.
        case pointersChanged
        /// An author has said what to be called.
        case named(AuthorID, String)
        /// How long after the player's picture of it ink is shown now.
        /// - Parameter isCounted: false for what the player has jumped over, which is not late.
        case skew(Duration, isCounted: Bool)
        /// Whether the cohort's operations wait for a video.
        case gate(GateState)
        /// The media time of the cohort's video at the service; nil where it has none.
        case clock(MediaTime?)
        /// At the head: a checkpoint holds an author's operations so far.
        case covered(Mark.Covered, room: String)
        /// The connection to the gateway.
        case connection(ConnectionState)
        /// A problem, from which the student recovers by itself.
        case problem(StudentProblem)

        init?(_ output: BoardFollower.Output, _ playout: borrowing BoardPlayout) {
            switch output {
            case .state(let state): self = .connection(state)
            case .action(let action): self.init(action, playout)
            }
        }

        private init?(_ action: PlayoutAction, _ playout: borrowing BoardPlayout) {
            switch action {
            case .joined:
                let board = playout.board
                self = .joined(room: board.room, index: board.index, digest: board.digest, visible: board.visibleCount)
            case .applied(let operation, _, _):
                self = .applied(operation, room: playout.room, digest: operation.digest ?? playout.board.digest)
            case .unveiled(let stroke): self = .unveiled(stroke)
            case .grew(let author, let number, let points): self = .grew(author: author, number: number, points: points)
            case .wetInkChanged: self = .wetInkChanged
            case .pointersChanged: self = .pointersChanged
            case .named(let author, let name): self = .named(author, name)
            case .skew(let skew, let isCounted): self = .skew(skew, isCounted: isCounted)
            case .gate(let gate): self = .gate(gate)
            case .clock(let time): self = .clock(time)
            case .covered(let covered, let room): self = .covered(covered, room: room)
            case .restart(let why): self = .problem(.divergence(why))
            // The room is part of the other events.
            case .incarnation: return nil
            }
        }
    }
}
