public import StrokeWire

/// One message on `.out.<cohort>` or `.head`: an operation, or a shard of one.
public struct ReleasedMessage: Sendable, Equatable {
    /// The operation's index in the room, from 1; the same for all its shards.
    public let index: UInt64
    /// Incarnation of the room.
    public let room: String
    /// The author.
    public let author: AuthorID
    /// Of an undo or redo: index of the operation that it removes or restores.
    public let reference: UInt64?
    /// Digest of the board after the operation.
    public let digest: BoardDigest
    /// The page that it concerns; of an arrange the one shown after it.
    public let page: Int
    /// Whether the gate's policy released it instead of the clock, or the stroke itself came late.
    public let isLate: Bool
    /// The stroke message as JSON, in whichever form it came.
    public let bytes: [UInt8]
    /// The decoded message; its points are ranges of `bytes`.
    public let header: StrokeMessage

    /// Makes a message of its parts.
    public init(
        index: UInt64, room: String, author: AuthorID, reference: UInt64? = nil, digest: BoardDigest,
        page: Int = 0, isLate: Bool = false, bytes: [UInt8], header: StrokeMessage
    ) {
        (self.index, self.room, self.author, self.reference, self.digest) = (index, room, author, reference, digest)
        (self.page, self.isLate, self.bytes, self.header) = (page, isLate, bytes, header)
    }
}

/// A message of the service that cannot be decoded.
public struct MalformedRelease: Error, Sendable, Equatable, CustomStringConvertible {
    /// One English sentence.
    public let description: String

    package init(description: String) { self.description = description }
}

extension ReleasedMessage {
    /// Decodes a message of NATS.
    ///
    /// - Parameters:
    ///   - payload: JSON, or the binary form.
    ///   - header: the value of a header by its name.
    public init(bytes payload: [UInt8], header: (String) -> String?) throws(MalformedRelease) {
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
        let bytes: [UInt8]
        do throws(BinaryFormError) {
            bytes = BinaryMessage.isBinary(payload) ? try BinaryMessage.json(of: payload) : payload
        } catch {
            throw MalformedRelease(description: "operation \(index): \(error)")
        }
        do throws(MalformedMessage) {
            self.init(
                index: index, room: room, author: author, reference: header(HeaderName.ref).flatMap(UInt64.init),
                digest: digest, page: header(HeaderName.page).flatMap(PageNumber.read) ?? 0,
                isLate: header(HeaderName.late) == "1", bytes: bytes, header: try StrokeMessage(accepted: bytes))
        } catch {
            throw MalformedRelease(description: "operation \(index): \(error.rejection.message)")
        }
    }
}

/// A complete operation, joined from its shards.
public struct ReleasedOperation: Sendable, Equatable {
    /// Its index in the room, from 1.
    public let index: UInt64
    /// The author.
    public let author: AuthorID
    /// Of an undo or redo: index of the operation that it removes or restores.
    public let reference: UInt64?
    /// Whether the gate's policy released it instead of the clock, or the stroke itself came late.
    public let isLate: Bool
    /// The page that it concerns; of an arrange the one shown after it.
    public let page: Int
    /// The action.
    public let action: Action
    /// Of an arrange: the pages in their new order.
    public let order: [Int]?
    /// The stroke message, unsharded.
    public let bytes: [UInt8]
    /// The service's digest of the board after it; nil for an operation of a join's board.
    public let digest: BoardDigest?

    /// Makes an operation of its parts.
    public init(
        index: UInt64, author: AuthorID, reference: UInt64? = nil, isLate: Bool = false, page: Int = 0,
        action: Action, order: [Int]? = nil, bytes: [UInt8], digest: BoardDigest? = nil
    ) {
        (self.index, self.author, self.reference, self.isLate, self.page) = (index, author, reference, isLate, page)
        (self.action, self.order, self.bytes, self.digest) = (action, order, bytes, digest)
    }
}

extension ReleasedOperation {
    /// Decodes the data of an event `op` of a gateway's stream.
    package init(decoding bytes: [UInt8]) throws(MalformedRelease) {
        let joined: JoinedOperation
        do throws(Rejection) {
            joined = try JoinedOperation(decoding: bytes)
        } catch {
            throw MalformedRelease(description: "an operation cannot be read: \(error.message)")
        }
        try self.init(joined)
    }

    /// Whether it is a pointer, which the board passes over. Decodes its message.
    package var isPointer: Bool { action == .draw && (try? header())?.element == .pointer }

    package func header() throws(MalformedRelease) -> StrokeMessage {
        do throws(MalformedMessage) {
            return try StrokeMessage(accepted: bytes)
        } catch {
            throw MalformedRelease(description: "operation \(index): \(error.rejection.message)")
        }
    }

    /// Decodes an operation of a join reply.
    package init(_ joined: JoinedOperation) throws(MalformedRelease) {
        var header = StrokeMessage(number: 0)
        try self.init(joined, header: &header)
    }

    /// - Parameter header: the fields of the message.
    init(_ joined: JoinedOperation, header: inout StrokeMessage) throws(MalformedRelease) {
        let bytes = Array(joined.message)
        do throws(MalformedMessage) {
            header = try StrokeMessage(accepted: bytes)
        } catch {
            throw MalformedRelease(description: "operation \(joined.index) of a join: \(error.rejection.message)")
        }
        self.init(
            index: joined.index, author: joined.author, reference: joined.reference, isLate: joined.isLate,
            page: joined.page, action: header.action, order: header.order, bytes: bytes, digest: joined.digest)
    }
}
