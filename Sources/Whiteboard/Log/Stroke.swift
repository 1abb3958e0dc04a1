public import StrokeWire

/// A drawn stroke as boards keep it. Immutable and shared by every board, log and canvas that shows it.
public final class Stroke: Sendable {
    /// The operation's place in the room's log, from 1.
    public let index: UInt64
    public let author: AuthorID
    /// The whole compact message.
    public let message: PackedMessage
    /// How many points it has.
    public let pointCount: Int
    /// Whether the stroke came after it had been given up.
    public let isLate: Bool

    init(index: UInt64, author: AuthorID, isLate: Bool, pointCount: Int, message: PackedMessage) {
        self.index = index
        self.author = author
        self.isLate = isLate
        self.pointCount = pointCount
        self.message = message
    }

    /// What the stroke counts for where memory is bounded: its points, and at least one for every 16 bytes that it
    /// occupies, so that neither dots nor messages full of unknown keys get around the bound.
    var weight: Int { max(pointCount, (message.byteCount + Self.overhead) / 16) }

    /// Bytes of a stroke without its message, about.
    private static let overhead = 128

    /// The message and its fields, unpacked and decoded: for drawing, not for the path to students.
    public func decoded() -> (header: StrokeMessage, bytes: [UInt8])? {
        let bytes = message.bytes
        // It was within the room's limits when it came.
        let limits = WireLimits(messageBytes: .max, points: .max, colours: .rgb)
        guard let header = try? StrokeMessage(decoding: bytes, limits: limits) else { return nil }
        return (header, bytes)
    }
}
