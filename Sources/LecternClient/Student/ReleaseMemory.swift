import StrokeWire

/// The contents of the last messages that were applied, to tell a repeat from another operation under the same index.
///
/// Remembers 2,048 messages; older repeats are taken for what they claim to be.
struct ReleaseMemory: Sendable {
    private static let size = 2048

    private struct Entry: Sendable {
        var room = 0
        var index: UInt64 = 0
        var order = 0
        var content = 0
    }

    private var entries = [Entry](repeating: Entry(), count: size)

    /// Whether a message may be what was seen before under its index and order; remembers it when nothing is known.
    mutating func agrees(with message: ReleasedMessage) -> Bool {
        var hasher = Hasher()
        hasher.combine(message.author)
        hasher.combine(message.reference)
        hasher.combine(message.bytes)
        let entry = Entry(
            room: message.room.hashValue, index: message.index, order: message.header.shardOrder,
            content: hasher.finalize())
        let slot = Int(truncatingIfNeeded: (message.index &* 31 &+ UInt64(entry.order)) % UInt64(Self.size))
        let known = entries[slot]
        guard known.room == entry.room, known.index == entry.index, known.order == entry.order else {
            entries[slot] = entry
            return true
        }
        return known.content == entry.content
    }
}
