import ArgumentParser
import LecternClient
import StrokeWire
import Whiteboard

/// The first strokes of a lesson, as their author would send them to a room of its own where nothing else is done.
struct RoomMessages {
    let author: AuthorID
    /// In order, numbered from 1; a stroke that the lesson has in shards comes in the same shards.
    let messages: [[UInt8]]
    let strokes: Int
    let points: Int

    /// - Throws: where the lesson has no stroke.
    init(_ lesson: Lesson, strokes most: Int) throws {
        guard let author = AuthorID("bench") else { throw ExitCode.failure }
        var messages: [[UInt8]] = []
        var (strokes, points) = (0, 0)
        var last: Int64?
        for message in lesson.messages where message.header.action == .draw {
            if message.header.number != last {
                guard strokes < most else { break }
                strokes += 1
                last = message.header.number
            }
            var header = message.header
            header.number = Int64(strokes)
            points += header.points.count
            messages.append(header.encoded(interior: message.interior))
        }
        guard strokes > 0 else { throw ValidationError("the lesson has no strokes") }
        self.author = author
        self.messages = messages
        self.strokes = strokes
        self.points = points
    }

    /// The settings of rooms that show everything at once, take messages as fast as they come, and soon go to rest.
    static var configuration: RoomConfiguration {
        var configuration = RoomConfiguration()
        configuration.cohorts.defaults.gate = .none
        configuration.log.quiet = .seconds(1)
        configuration.intake.messagesPerSecond = 1_000_000
        configuration.intake.bytesPerSecond = 1 << 30
        configuration.intake.boardPoints = .max
        return configuration
    }

    /// A room that has them all, released, and the time then.
    /// - Throws: where the room did not take them.
    func room() throws -> (room: Room, now: Instant) {
        var now = Instant(nanoseconds: 0)
        var room = Room(configuration: Self.configuration, at: now)
        var effects = RoomEffects()
        for bytes in messages {
            now = now + .milliseconds(10)
            let message = IncomingMessage(author: author, session: nil, bytes: bytes, loggedAt: now)
            room.receive(message, incarnation: { "bench" }, at: now, into: &effects)
            room.advance(to: now, into: &effects)
            effects.removeAll()
        }
        guard room.isQuiet, room.head.visible.count == strokes else {
            throw ValidationError("a room has \(room.head.visible.count) of the \(strokes) strokes")
        }
        return (room, now)
    }
}
