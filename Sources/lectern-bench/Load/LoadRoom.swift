import ArgumentParser
import LecternClient
import Locking
import NATSClient
import StrokeWire

/// A cohort of every room of a load.
struct LoadCohort: Sendable {
    let name: CohortName
    /// How far its video is behind the teacher, in milliseconds.
    let delay: Int64
}

/// A room that one author writes to. One thread publishes; others look up when an operation was published.
///
/// The room is new, and nothing of it is rejected: so the author's numbers are the indices of the log.
final class LoadRoom: Sendable {
    let address: RoomAddress
    private let author: AuthorID
    private let input: String
    /// When operation i + 1 was due to be published. A late publisher makes its own lateness count.
    private let due = Locked<[Int64]>([])

    init(root: String, name: String, partitions: Int) throws {
        guard let room = RoomID(name), let author = AuthorID("teacher") else {
            throw ValidationError("no name of a room: \(name)")
        }
        self.author = author
        address = RoomAddress(root: root, room: room, partitions: partitions)
        input = address.subject(.input(author))
    }

    /// Operations published so far.
    var count: Int { due.withLock { $0.count } }

    var feedback: String { address.subject(.feedback(author)) }

    /// - Parameter instant: when it is due.
    func publish(_ message: PreparedMessage, due instant: Int64, _ connection: NATSConnection) throws(NATSError) {
        let number = due.withLock { due in
            due.append(instant)
            return due.count
        }
        try connection.publish(message.bytes(number: number), to: input)
    }

    /// When the operation of an index was due to be published; nil for one that is not this load's.
    func due(_ index: Int) -> Int64? {
        due.withLock { $0.indices.contains(index - 1) ? $0[index - 1] : nil }
    }
}

/// The strokes of a lesson that have one message each, and a clear.
struct LoadStrokes: Sendable {
    let messages: [PreparedMessage]
    private let strokesOfBoard: Int
    private let clear: PreparedMessage

    /// - Parameters:
    ///   - count: strokes of the lesson that make one of the load: those of the demo have 15 points on average.
    ///   - strokesOfBoard: after which a room is cleared, so that its board does not grow without end.
    /// - Throws: when the lesson has no such stroke.
    init(_ lesson: Lesson, joining count: Int = 1, strokesOfBoard: Int = 1000) throws {
        self.strokesOfBoard = strokesOfBoard
        let strokes = lesson.messages.filter { $0.header.action == .draw && !$0.header.isSharded }
        guard var header = strokes.first?.header else {
            throw ValidationError("the lesson has no strokes in one message")
        }
        messages = stride(from: 0, to: strokes.count, by: count).map { first in
            let joined = ShardJoiner.join(strokes[first...].prefix(count).map(\.interior))
            return PreparedMessage(strokes[first].header, interior: joined[...])
        }
        header.action = .clear
        clear = PreparedMessage(header, interior: [])
    }

    /// The operation that comes after so many others of a room.
    func operation(after count: Int) -> PreparedMessage {
        (count + 1).isMultiple(of: strokesOfBoard) ? clear : messages[count % messages.count]
    }
}
