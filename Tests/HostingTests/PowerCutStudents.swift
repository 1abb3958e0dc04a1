import StrokeWire
import Whiteboard

@testable import Hosting

/// The student of each room, who stays through all power cuts, as far as joins and operations tell.
struct PowerCutStudents {
    private var boards: [RoomID: (life: String, strokes: [AuthorID])] = [:]
    /// Those who joined after all indices that they had were given out again: no join shows that.
    private var misled: Set<RoomID> = []

    /// The authors of the strokes that a student has; nil where nothing can be said of them.
    func strokes(in room: RoomID) -> [AuthorID]? { misled.contains(room) ? nil : boards[room]?.strokes ?? [] }

    mutating func leave(_ room: RoomID) {
        boards[room] = nil
        misled.remove(room)
    }

    /// - Parameter isCurrent: whether the room is known to have all records of the log.
    mutating func join(_ room: RoomID, _ hosted: Room, isCurrent: Bool) {
        let (life, strokes) = boards[room] ?? ("", [])
        let request = JoinRequest(incarnation: life, have: UInt64(strokes.count))
        guard let answer = hosted.catchUp(request, cohort: .main, isCurrent: isCurrent) else { return }
        switch answer.content {
        case .tail(let operations):
            let isKnown = answer.index < strokes.count || hosted.head.visible.map(\.author).starts(with: strokes)
            if !isKnown { misled.insert(room) }
            boards[room]?.strokes += operations.map(\.author)
        case .board(let board):
            misled.remove(room)
            boards[room] = (answer.incarnation, board.visible.map(\.author))
        case .version: break
        }
    }

    /// An operation comes to the student, who drops repeats.
    mutating func follow(_ stroke: AuthorID, at index: UInt64, of life: String, in room: RoomID) {
        guard let board = boards[room], board.life == life, index == board.strokes.count + 1 else { return }
        boards[room]?.strokes.append(stroke)
    }
}
