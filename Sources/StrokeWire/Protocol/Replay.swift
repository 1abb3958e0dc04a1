/// Request for a part of a recorded lesson: the board as of a media time, and the operations after it with their times.
public struct ReplayRequest: Sendable, Hashable {
    /// Media time at which the part begins; nil for the beginning. `from` on the wire, milliseconds.
    public var from: MediaTime?
    /// Media time of the last operations; nil for the end. `to`.
    public var to: MediaTime?
    /// Encoder session whose time line ``from`` and ``to`` are on; nil for the last one. `ep`.
    public var epoch: Int64?
    /// Index after which operations are asked for, without a board: the ``ReplayReply/next`` of the reply before. `after`.
    public var after: UInt64?
    /// Incarnation of the room that is asked for, nil for the present one. `room`.
    public var incarnation: String?
    /// Operations in the reply at most, 1 … 1000. `limit`.
    public var limit: Int

    public init(
        from: MediaTime? = nil, to: MediaTime? = nil, epoch: Int64? = nil, after: UInt64? = nil,
        incarnation: String? = nil, limit: Int = ReplayRequest.mostOperations
    ) {
        (self.from, self.to, self.epoch) = (from, to, epoch)
        (self.after, self.incarnation, self.limit) = (after, incarnation, limit)
    }

    /// Operations in a reply at most.
    public static let mostOperations = 1000
    /// Bytes of messages in a reply, beside its board, after which no further operation is added.
    public static let pageBytes = 1 << 20
}

extension ReplayRequest {
    /// Writes the request, `{}` for the whole lesson.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("from", time: from)
            body.append("to", time: to)
            body.append("ep", integer: epoch)
            body.append("after", integer: after)
            body.append("room", string: incarnation)
            if limit != Self.mostOperations { body.append("limit", integer: limit) }
        }
    }

    /// Reads a request. An empty payload asks for the whole lesson, as `{}` does.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        self.init()
        let names = ["from", "to", "ep", "after", "room", "limit"]
        guard let body = try RequestBody.decoded(bytes, keeping: names)?.withoutNulls else { return }
        from = try body.time("from")
        to = try body.time("to")
        epoch = try body.integer("ep", in: 0...Int64.maxSafeInteger)
        after = try body.index("after")
        incarnation = try body.string("room", limit: 256)
        limit = try body.integer("limit", in: 1...Self.mostOperations) ?? Self.mostOperations
    }
}

/// A part of a recorded lesson, as a client reads it.
public struct ReplayReply: Sendable, Hashable {
    /// An encoder session of the lesson.
    public struct Epoch: Sendable, Hashable {
        /// 0 where the video side names none. `ep`.
        public var number: Int64
        /// Its first and its last operation. `first`, `last`.
        public var indices: ClosedRange<UInt64>
        /// The first and the last gate time, nil where no operation has a time. `from`, `to`, milliseconds.
        public var from: MediaTime?
        public var to: MediaTime?

        public init(number: Int64, indices: ClosedRange<UInt64>, from: MediaTime?, to: MediaTime?) {
            (self.number, self.indices, self.from, self.to) = (number, indices, from, to)
        }
    }

    /// An operation and when it is seen.
    public struct Entry: Sendable, Hashable {
        /// Encoder session whose time line the times are on. `ep`.
        public var epoch: Int64
        /// Gate time where strokes appear whole: seen when the video has passed it; nil for at once. `e`.
        public var gateTime: MediaTime?
        /// Gate time where strokes grow, that of the last point. `end`; left out where it is the same.
        public var endTime: MediaTime?
        public var operation: JoinedOperation

        public init(epoch: Int64, gateTime: MediaTime?, endTime: MediaTime?, operation: JoinedOperation) {
            (self.epoch, self.gateTime, self.endTime, self.operation) = (epoch, gateTime, endTime, operation)
        }
    }

    /// Incarnation of the room.
    public var room: String
    /// In the order of the log.
    public var epochs: [Epoch]
    /// The board at ``ReplayRequest/from``; nil where the request names `after`.
    public var board: JoinReply?
    /// In the order of the log, after the board or after the request's `after`.
    public var operations: [Entry]
    /// What to ask for next as `after`; nil where there is nothing more.
    public var next: UInt64?
}

extension ReplayReply {
    /// Reads a reply whose parts were joined. A ``RequestError`` is not a reply; look for one first.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        var reader = try ReplayReplyReader(bytes)
        (room, epochs, next) = (reader.room, reader.epochs, reader.next)
        board = try reader.board()
        operations = []
        while let entry = try reader.takeEntry() { operations.append(entry) }
    }
}

/// Reads a reply operation by operation, for a client that has little time at once.
package struct ReplayReplyReader: Sendable {
    package let room: String
    package let epochs: [ReplayReply.Epoch]
    package let next: UInt64?
    private let bytes: [UInt8]
    private let boardToken: JSONToken?
    private var tokens: ArraySlice<JSONToken>

    /// Reads all but the board and the operations.
    /// - Throws: the first fault; those of the operations are found when they are taken.
    package init(_ bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(
            bytes, keeping: ["room", "epochs", "board", "ops", "next"], limit: JoinReply.maximumBytes)
        self.bytes = bytes
        room = try body.requiredString("room", limit: 256)
        epochs = try body.objects("epochs", keeping: ["ep", "first", "last", "from", "to"]) { epoch throws(Rejection) in
            let epoch = epoch.withoutNulls
            let (first, last) = (try epoch.requiredIndex("first"), try epoch.requiredIndex("last"))
            guard first <= last else { throw .outOfRange("last", "first or greater") }
            return ReplayReply.Epoch(
                number: try epoch.requiredInteger("ep", in: 0...Int64.maxSafeInteger), indices: first...last,
                from: try epoch.time("from"), to: try epoch.time("to"))
        }.required("epochs")
        boardToken = body["board"]
        tokens = try body.elements("ops").required("ops")[...]
        next = try body.index("next")
    }

    /// The board that the operations follow; nil where the reply has none.
    package func board() throws(Rejection) -> JoinReply? {
        guard let boardToken else { return nil }
        guard case .object(let range) = boardToken else { throw .wrongType("board", "an object") }
        return try JoinReply(decoding: Array(bytes[range]))
    }

    /// The next operation; nil behind the last one.
    package mutating func takeEntry() throws(Rejection) -> ReplayReply.Entry? {
        guard let token = tokens.popFirst() else { return nil }
        let times = try JSONObject(token, of: bytes, keeping: ["ep", "e", "end"], field: "ops").withoutNulls
        let gateTime = try times.time("e")
        return ReplayReply.Entry(
            epoch: try times.requiredInteger("ep", in: 0...Int64.maxSafeInteger), gateTime: gateTime,
            endTime: try times.time("end") ?? gateTime,
            operation: try JoinedOperation(token, of: bytes, field: "ops"))
    }
}

/// Writes a part of a recorded lesson.
public struct ReplayReplyWriter: Sendable {
    private var bytes: [UInt8] = []
    private var isEmpty = true

    /// - Parameters:
    ///   - board: the join reply with the board, encoded; nil for none.
    public init(room: String, epochs: [ReplayReply.Epoch], board: [UInt8]?) {
        bytes.append("{")
        bytes.append("room", string: room)
        bytes.append("epochs", list: epochs) { bytes, epoch in
            bytes.appendObject { body in
                body.append("ep", integer: epoch.number)
                body.append("first", integer: epoch.indices.lowerBound)
                body.append("last", integer: epoch.indices.upperBound)
                body.append("from", timeOrNull: epoch.from)
                body.append("to", timeOrNull: epoch.to)
            }
        }
        if let board {
            bytes.append(",\"board\":")
            bytes.append(contentsOf: board)
        }
        bytes.append(",\"ops\":[")
    }

    /// Adds the next operation.
    public mutating func add(_ entry: ReplayReply.Entry) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        bytes.appendObject { body in
            body.append("ep", integer: entry.epoch)
            body.append("e", timeOrNull: entry.gateTime)
            if entry.endTime != entry.gateTime { body.append("end", timeOrNull: entry.endTime) }
            body.append(members: entry.operation)
        }
    }

    /// The reply.
    /// - Parameter next: the index after which there is more; nil for the end.
    public consuming func end(next: UInt64?) -> [UInt8] {
        bytes.append(UInt8(ascii: "]"))
        bytes.append("next", integer: next)
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
