public import StrokeWire

/// One message on `.out.<cohort>` or `.head`: an operation, or a shard of a large one.
public struct ReleasedMessage: Sendable, Equatable {
    /// The operation's place in the room, from 1. All shards of an operation carry the same.
    public let index: UInt64
    /// Incarnation of the room.
    public let room: String
    /// Who drew.
    public let author: AuthorID
    /// Of an undo or redo: the operation that leaves or returns.
    public let reference: UInt64?
    /// Digest of the board after the operation.
    public let digest: BoardDigest
    /// Whether a policy, not the clock, released it, or the stroke itself came late.
    public let isLate: Bool
    /// The compact message.
    public let bytes: [UInt8]
    /// What `bytes` say; the points lie in there.
    public let header: StrokeMessage

    /// A message from what it consists of.
    public init(
        index: UInt64, room: String, author: AuthorID, reference: UInt64? = nil, digest: BoardDigest,
        isLate: Bool = false, bytes: [UInt8], header: StrokeMessage
    ) {
        self.index = index
        self.room = room
        self.author = author
        self.reference = reference
        self.digest = digest
        self.isLate = isLate
        self.bytes = bytes
        self.header = header
    }
}

/// Why something that the service sent could not be understood.
public struct MalformedRelease: Error, Sendable, Equatable, CustomStringConvertible {
    /// One English sentence.
    public let description: String
}

extension ReleasedMessage {
    /// What a student accepts: whatever the room took, so no limits but those of the format.
    static let limits = WireLimits(messageBytes: .max, shards: 1024, points: .max, colours: .rgb)

    /// Reads a message as it came from NATS.
    ///
    /// - Parameters:
    ///   - bytes: the body.
    ///   - header: looks a header up by its name.
    public init(bytes: [UInt8], header: (String) -> String?) throws(MalformedRelease) {
        guard let index = header(HeaderName.index).flatMap(UInt64.init), index > 0 else {
            throw MalformedRelease(description: "no usable \(HeaderName.index)")
        }
        guard let room = header(HeaderName.room), !room.isEmpty else {
            throw MalformedRelease(description: "operation \(index) has no \(HeaderName.room)")
        }
        guard let author = header(HeaderName.author).flatMap({ AuthorID($0) }) else {
            throw MalformedRelease(description: "operation \(index) has no usable \(HeaderName.author)")
        }
        guard let digest = header(HeaderName.digest).flatMap({ BoardDigest(hexadecimal: $0) }) else {
            throw MalformedRelease(description: "operation \(index) has no usable \(HeaderName.digest)")
        }
        do throws(MalformedMessage) {
            self.init(
                index: index, room: room, author: author, reference: header(HeaderName.ref).flatMap(UInt64.init),
                digest: digest, isLate: header(HeaderName.late) == "1", bytes: bytes,
                header: try StrokeMessage(decoding: bytes, limits: Self.limits))
        } catch {
            throw MalformedRelease(description: "operation \(index): \(error.rejection.message)")
        }
    }
}
