import Hosting
import Whiteboard

/// A room as it was fetched.
struct Restoration: Sendable {
    /// nil where nothing of it could be read.
    let room: Room?
    /// It holds its records through this one.
    let sequence: UInt64
    /// Records after that, where the state is older than the one that was asked for.
    let tail: [JournalRecord]
}
