internal import ClientCore
// Errors of outbox files are part of this module's API.
@_exported public import ClientRuntime
internal import Locking
public import StrokeWire

/// The file of what a teacher has drawn and the room has not answered for yet, or no checkpoint of the room holds.
///
/// It survives the end of the process at any moment, but not always a loss of power. What it grows by is bounded: it is written
/// anew when most of it is over, so that it has 512 MiB at most, and mostly less than 2 MiB.
///
/// One process at a time has it, and one ``Teacher``.
public final class OutboxFile: Sendable {
    /// Path of the file as given.
    public let path: String
    /// Locked while the file is read and written: its length and its lines change together. Nobody waits for another,
    /// for the one teacher makes one call at a time.
    private let state: Locked<DrawingLog>

    /// Opens or creates a file.
    ///
    /// - Parameters:
    ///   - path: the file's path. While it is written anew there is another beside it, with `.new` at its end.
    ///   - room: the room.
    ///   - author: who draws.
    /// - Throws: also for the file of another room or author, one in use by another process, and one that is damaged other than
    ///   at its end.
    public init(path: String, room: RoomID, author: AuthorID) throws(OutboxFileError) {
        self.path = path
        state = Locked(try DrawingLog(path: path, owner: "\(author.text) in \(room.text)"))
    }

    /// The records, and whether the author writes here.
    func load() -> (records: [StoredOperation], writesHere: Bool)? {
        state.withLock { log in try? log.contents() }
    }

    /// Stores a write, all or nothing.
    /// - Returns: whether it is stored.
    func store(_ write: OutboxWrite) -> Bool {
        state.withLock { log in
            (try? log.append(write.records.map { .record($0) } + write.deleted.map { .deleted($0) })) != nil
        }
    }

    /// Notes whether the author writes here.
    func note(writesHere: Bool) {
        state.withLock { log in try? log.append([.writes(here: writesHere)]) }
    }
}
