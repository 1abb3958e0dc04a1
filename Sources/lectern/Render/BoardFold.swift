import LecternClient
import StrokeWire
import Whiteboard

/// Folds a lesson into its board, as the service does, without waiting for anything.
struct BoardFold {
    /// The board after the last operation.
    private(set) var board: Board
    /// What was rejected, with the number of its line.
    private(set) var rejections: [(line: Int, Rejection)] = []

    /// - Parameter last: index of the last operation to fold in; nil for all.
    init(_ messages: [[UInt8]], configuration: RoomConfiguration, through last: UInt64?) {
        var room = Room(configuration: configuration, at: Instant(nanoseconds: 0))
        board = room.head
        guard let author = AuthorID("lesson") else { return }
        var effects = RoomEffects()
        for (position, bytes) in messages.enumerated() {
            if let last, room.head.index >= last { break }
            // A minute apart, no author sends too much.
            let now = Instant(nanoseconds: 0) + .seconds(60 * (position + 1))
            let incoming = IncomingMessage(author: author, session: nil, bytes: bytes, loggedAt: now)
            room.receive(incoming, incarnation: { "render" }, at: now, into: &effects)
            for case .feedback(_, .rejected(_, _, let rejection)) in effects.list {
                rejections.append((position + 1, rejection))
            }
            effects.removeAll()
        }
        board = room.head
    }
}
