extension StrokeMessage {
    /// Decodes a message.
    ///
    /// The points are checked and stay in the bytes; see ``PointArray``. Memory is allocated only for a rejection and
    /// for numbers of more than 19 digits.
    /// - Parameters:
    ///   - bytes: one JSON object in UTF-8. More than `limits.messageBytes` are rejected unread.
    ///   - limits: limits of the message, and the meaning of colours.
    /// - Throws: the first fault in the order: size, well-formed JSON, an object, then the fields `n c l s o e a t w h
    ///   d`, points in their order, and `x y f i z m` in each.
    public init(decoding bytes: [UInt8], limits: WireLimits = WireLimits()) throws(MalformedMessage) {
        var points = NoPoints()
        try self.init(bytes, limits, points: &points)
    }

    /// Decodes a message and its points in one pass: in half the time of decoding the points afterwards.
    /// - Parameters:
    ///   - bytes: one JSON object in UTF-8.
    ///   - limits: limits of the message, and the meaning of colours.
    ///   - points: the points of a draw; empty for other actions and for a rejected message. The capacity is kept.
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
        // Filled in place, because it is large.
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
    /// A message whose fields could not be read.
    fileprivate init(_ rejection: Rejection) {
        self.init(number: nil, order: nil, rejection: rejection)
    }

    /// A message with a faulty field; number and order identify it if they are valid.
    fileprivate init(
        _ rejection: Rejection, of fields: MessageFields, _ limits: WireLimits, _ text: borrowing Span<UInt8>
    ) {
        let shardCount = try? fields.readShardCount(limits.shards, text)
        var order: Int?
        if let shardCount { order = try? fields.readShardOrder(of: shardCount, text) }
        self.init(number: try? fields.readNumber(text), order: order, rejection: rejection)
    }
}

/// The members of a message; of a repeated key the last one.
struct MessageFields {
    var number: JSONToken?
    var colour: JSONToken?
    var width: JSONToken?
    var shardCount: JSONToken?
    var shardOrder: JSONToken?
    var element: JSONToken?
    var action: JSONToken?
    var time: JSONToken?
    var boardWidth: JSONToken?
    var boardHeight: JSONToken?
    var points: PointsField = .absent

    enum PointsField {
        case absent
        /// Present, but not an array.
        case other
        case array(PointArray, fault: PointFault?)
    }

    /// - Parameter key: a letter; others than those of the members are ignored.
    mutating func set(_ key: UInt8, _ token: JSONToken) {
        switch key {
        case UInt8(ascii: "n"): number = token
        case UInt8(ascii: "c"): colour = token
        case UInt8(ascii: "l"): width = token
        case UInt8(ascii: "s"): shardCount = token
        case UInt8(ascii: "o"): shardOrder = token
        case UInt8(ascii: "e"): element = token
        case UInt8(ascii: "a"): action = token
        case UInt8(ascii: "t"): time = token
        case UInt8(ascii: "w"): boardWidth = token
        case UInt8(ascii: "h"): boardHeight = token
        default: break
        }
    }
}

extension JSONScanner {
    /// Nesting limit of a message; the object itself is level 1.
    static let messageDepth = 8

    /// Takes a whole message in one pass: finds its fields and decodes its points. Fields are checked afterwards, in
    /// the order of the specification: a fault further on may come first.
    /// - Returns: whether the text is an object.
    fileprivate mutating func takeMessage(
        _ text: borrowing Span<UInt8>, _ fields: inout MessageFields, points: inout some PointSink
    ) throws(JSONFault) -> Bool {
        try begin(text)
        guard next(text) == UInt8(ascii: "{") else {
            _ = try takeValue(text)
            try end(text)
            return false
        }
        var more = try enterObject(text)
        while more {
            let key = JSONText.letter(try takeKey(text), of: text) ?? 0
            if key == UInt8(ascii: "d") {
                fields.points = try takePointsField(text, into: &points)
            } else {
                fields.set(key, try takeValue(text))
            }
            more = try continueObject(text)
        }
        try end(text)
        return true
    }

    /// Takes the value of a member that should be an array of points.
    mutating func takePointsField(
        _ text: borrowing Span<UInt8>, into sink: inout some PointSink
    ) throws(JSONFault) -> MessageFields.PointsField {
        guard next(text) == UInt8(ascii: "[") else {
            _ = try takeValue(text)
            return .other
        }
        let (points, fault) = try takePoints(text, into: &sink)
        return .array(points, fault: fault)
    }
}

/// The check of each field, in the order of the specification's table.
extension MessageFields {
    func readNumber(_ text: borrowing Span<UInt8>) throws(Rejection) -> Int64 {
        guard let value = try number.integer("n", in: 0...Int64.maxSafeInteger, text) else { throw .missing("n") }
        return value
    }

    func readColour(_ space: ColourSpace, _ text: borrowing Span<UInt8>) throws(Rejection) -> UInt32 {
        let value = try colour.integer("c", text) ?? 0
        guard space.contains(value), let colour = UInt32(exactly: value) else {
            throw .outOfRange("c", "a colour of the \(space == .rgb ? "form 0xRRGGBB" : "palette")")
        }
        return colour
    }

    func readWidth(_ text: borrowing Span<UInt8>) throws(Rejection) -> Double {
        let value = try width.number("l", text) ?? 1
        guard value > 0, value <= 512 else { throw .outOfRange("l", "greater than 0 and at most 512") }
        return value
    }

    func readShardCount(_ limit: Int, _ text: borrowing Span<UInt8>) throws(Rejection) -> Int {
        let value = try shardCount.integer("s", text) ?? 0
        guard value >= 0 else { throw .outOfRange("s", "0 or more") }
        guard value <= limit else {
            throw Rejection(code: .tooManyShards, field: "s", message: "A stroke may have at most \(limit) shards.")
        }
        return Int(value)
    }

    /// Orders run from 0 or from 1, so `shardCount` is a valid order.
    func readShardOrder(of shardCount: Int, _ text: borrowing Span<UInt8>) throws(Rejection) -> Int {
        Int(try shardOrder.integer("o", in: 0...Int64(shardCount), text) ?? 0)
    }

    func readElement(_ text: borrowing Span<UInt8>) throws(Rejection) -> Element {
        let value = try element.integer("e", text) ?? 0
        guard let element = UInt8(exactly: value).flatMap(Element.init) else {
            throw Rejection(code: .unknownElement, field: "e", message: "There is no element \(value).")
        }
        return element
    }

    func readAction(_ text: borrowing Span<UInt8>) throws(Rejection) -> Action {
        let value = try action.integer("a", text) ?? 1
        // The first clients of the protocol send 0 for draw.
        guard let action = value == 0 ? .draw : UInt8(exactly: value).flatMap(Action.init) else {
            throw Rejection(code: .unknownAction, field: "a", message: "There is no action \(value).")
        }
        return action
    }

    func readTime(_ text: borrowing Span<UInt8>) throws(Rejection) -> Int64? {
        try time.truncated("t", text)
    }

    func readBoardWidth(_ text: borrowing Span<UInt8>) throws(Rejection) -> Double? {
        try boardWidth.number("w", in: 1...16384, text)
    }

    func readBoardHeight(_ text: borrowing Span<UInt8>) throws(Rejection) -> Double? {
        try boardHeight.number("h", in: 1...16384, text)
    }

    /// The points of a draw.
    func readPoints(isSharded: Bool, limit: Int) throws(Rejection) -> PointArray {
        switch points {
        case .absent:
            throw .missing("d")
        case .other:
            throw .wrongType("d", "an array")
        case .array(let points, let fault):
            guard points.count <= limit else {
                throw Rejection(
                    code: .tooManyPoints, field: "d", message: "A stroke may have at most \(limit) points.")
            }
            if let fault { throw fault.rejection(in: "d") }
            // A shard may be empty, a whole stroke may not.
            guard isSharded || points.count > 0 else { throw .outOfRange("d", "one point or more") }
            return points
        }
    }
}
