extension StrokeMessage {
    /// Reads a message as it came in.
    ///
    /// The points are checked and stay where they are; see ``PointArray``. Nothing is allocated unless the message is
    /// refused or a number in it is longer than 19 digits.
    /// - Parameters:
    ///   - bytes: UTF-8, one JSON object. At most `limits.messageBytes` of them are looked at.
    ///   - limits: what is too large, and what colours mean.
    /// - Throws: the first fault in the order: size, well-formed JSON, an object, then the fields `n c l s o e a t w h
    ///   d`, points in their order, and `x y f i z m` in each.
    public init(decoding bytes: [UInt8], limits: WireLimits = WireLimits()) throws(MalformedMessage) {
        var points = NoPoints()
        try self.init(bytes, limits, points: &points)
    }

    /// Reads a message as it came in, and its points on the way: in half the time of reading them afterwards.
    /// - Parameters:
    ///   - points: what the message draws; empty where it does not, or is refused. The memory is kept.
    /// - Throws: the same as ``init(decoding:limits:)``.
    public init(
        decoding bytes: [UInt8], limits: WireLimits = WireLimits(), points: inout [StrokePoint]
    ) throws(MalformedMessage) {
        points.removeAll(keepingCapacity: true)
        do {
            try self.init(bytes, limits, points: &points)
        } catch {
            points.removeAll(keepingCapacity: true)
            throw error
        }
        if self.points.count != points.count { points.removeAll(keepingCapacity: true) }
    }

    private init(
        _ bytes: [UInt8], _ limits: WireLimits, points: inout some PointSink
    ) throws(MalformedMessage) {
        guard bytes.count <= limits.messageBytes else {
            throw MalformedMessage(.tooLarge(bytes: bytes.count, limit: limits.messageBytes))
        }
        let text = bytes.span
        // Filled in place: it is large.
        var fields = MessageFields()
        let isObject: Bool
        do {
            var scanner = JSONScanner(maximumDepth: JSONScanner.messageDepth)
            isObject = try scanner.takeMessage(text, &fields, points: &points)
        } catch {
            throw MalformedMessage(error.rejection)
        }
        guard isObject else { throw MalformedMessage(.wrongType(nil, "an object")) }
        do {
            try self.init(fields, limits, text)
        } catch {
            throw MalformedMessage(error, of: fields, limits, text)
        }
    }

    private init(_ fields: MessageFields, _ limits: WireLimits, _ text: borrowing Span<UInt8>) throws(Rejection) {
        number = try fields.readNumber(text)
        colour = try fields.readColour(limits.colours, text)
        width = try fields.readWidth(text)
        shardCount = try fields.readShardCount(limits.shards, text)
        shardOrder = try fields.readShardOrder(of: shardCount, text)
        element = try fields.readElement(text)
        action = try fields.readAction(text)
        time = try fields.readTime(text)
        boardWidth = try fields.readBoardWidth(text)
        boardHeight = try fields.readBoardHeight(text)
        points =
            action == .draw
            ? try fields.readPoints(isSharded: shardCount >= 2, limit: limits.points) : .empty
    }
}

extension MalformedMessage {
    /// A message of which nothing could be read.
    fileprivate init(_ rejection: Rejection) {
        self.init(number: nil, order: nil, rejection: rejection)
    }

    /// A message of which some field is at fault: number and order may still tell which one it was.
    fileprivate init(
        _ rejection: Rejection, of fields: MessageFields, _ limits: WireLimits, _ text: borrowing Span<UInt8>
    ) {
        let shardCount = try? fields.readShardCount(limits.shards, text)
        var order: Int?
        if let shardCount { order = try? fields.readShardOrder(of: shardCount, text) }
        self.init(number: try? fields.readNumber(text), order: order, rejection: rejection)
    }
}
