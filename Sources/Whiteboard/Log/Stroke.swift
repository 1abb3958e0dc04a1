public import StrokeWire

/// A drawn stroke as boards keep it: one reference to memory that every board, log and canvas that shows it shares.
///
/// Immutable. Everything lies in one piece, the packed message behind the fields, for a board has very many of them:
/// about 50 bytes a stroke besides the message. Sendable though it has to be said, for a `ManagedBuffer` could be written
/// to: nobody does after `init`.
public struct Stroke: @unchecked Sendable {
    private let storage: StrokeStorage

    /// - Parameter message: what it occupies is copied.
    init(
        index: UInt64, author: AuthorID, isLate: Bool, pointCount: Int, message: PackedMessage,
        origins: inout StrokeOrigins
    ) {
        storage = StrokeStorage.make(
            StrokeFields(
                index: index, origin: origins.origin(author, message.shape), byteCount: message.occupied.count,
                pointCount: UInt32(clamping: pointCount), isLate: isLate),
            message.occupied)
    }

    /// The operation's place in the room's log, from 1.
    public var index: UInt64 { storage.header.index }
    public var author: AuthorID { storage.header.origin.author }
    /// How many points it has.
    public var pointCount: Int { Int(storage.header.pointCount) }
    /// Whether the stroke came after it had been given up.
    public var isLate: Bool { storage.header.isLate }
    /// What its message occupies in memory, in bytes.
    var byteCount: Int { storage.header.byteCount }

    /// The whole compact message. A copy of what is kept: hold it no longer than it is needed.
    public var message: PackedMessage { PackedMessage(shape: storage.header.origin.shape, occupied: storage.bytes) }

    /// What the stroke counts for where memory is bounded: its points, and at least one for every 16 bytes that it
    /// occupies, so that neither dots nor messages full of unknown keys get around the bound.
    ///
    /// What a board refuses depends on it, so it must stay the same from version to version.
    var weight: Int { max(pointCount, (byteCount + Self.overhead) / 16) }

    /// Bytes of a stroke without its message, more than they are.
    private static let overhead = 128

    /// The fields and the points of its message, unpacked and decoded: for drawing, not for the path to students.
    public func decoded() -> (header: StrokeMessage, points: [StrokePoint])? {
        let bytes = message.bytes
        // It was within the room's limits when it came.
        let limits = WireLimits(messageBytes: .max, points: .max, colours: .rgb)
        var points: [StrokePoint] = []
        guard let header = try? StrokeMessage(decoding: bytes, limits: limits, points: &points) else { return nil }
        return (header, points)
    }
}
