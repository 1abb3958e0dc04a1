extension StrokeMessage {
    /// Decodes a message.
    ///
    /// The points are checked and stay in the bytes; see ``PointArray``. Memory is allocated only for a rejection and
    /// for numbers of more than 19 digits.
    /// - Parameters:
    ///   - bytes: one JSON object in UTF-8. More than `limits.messageBytes` are rejected unread.
    ///   - limits: limits of the message, and the meaning of colours.
    /// - Throws: the first fault in the order: size, well-formed JSON, an object, then the fields `n c l s o e a t w h
    ///   d g v i p m k` (of a paper `l`, or `i p k d`, last, and of a text `l x`), points in their order, and `x y f i z m` in each.
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

    /// Decodes a message that a room has accepted, under whatever limits. Where the room has no pages, anything may stand in
    /// their keys: the room knows the page, not the message.
    package init(accepted bytes: [UInt8]) throws(MalformedMessage) {
        if let message = try? StrokeMessage(decoding: bytes, limits: .any) {
            self = message
        } else {
            try self.init(decoding: bytes, limits: .accepted)
        }
    }

    private init(
        _ bytes: [UInt8], _ limits: WireLimits, points: inout some PointSink
    ) throws(MalformedMessage) {
        guard bytes.count <= limits.messageBytes else {
            throw MalformedMessage(.tooLarge(bytes: bytes.count, limit: limits.messageBytes))
        }
        let text = bytes.span
        // Filled in place, because it is large. Fields are checked afterwards, in the order of the specification: a fault
        // further on may come first.
        var fields = MessageFields()
        let isObject: Bool
        do {
            var scanner = JSONScanner(maximumDepth: JSONScanner.messageDepth)
            isObject = try scanner.takeObject(text) { key, scanner, text throws(JSONFault) in
                let key = JSONText.letter(key, of: text) ?? 0
                if key == UInt8(ascii: "d") {
                    fields.points = try scanner.takePointsField(text, into: &points)
                } else {
                    fields.set(key, try scanner.takeValue(text))
                }
            }
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
        element = try fields.readElement(limits.features, text)
        action = try fields.readAction(limits.features, text)
        time = try fields.readTime(text)
        boardWidth = try fields.readBoardWidth(text)
        boardHeight = try fields.readBoardHeight(text)
        points =
            action == .draw
            ? try fields.readPoints(
                isSharded: shardCount >= 2,
                limit: element == .lasso ? min(limits.points, WireLimits.lassoPoints) : limits.points) : .empty
        page = try fields.readPage(of: action, limits.features, text)
        content = try fields.readContent(of: action, element, text)
    }
}

extension StrokeMessage {
    /// What identifies a message for its author, as far as it can be read: its number, and its order among the shards.
    package static func identity(
        of bytes: [UInt8], limits: WireLimits = .any
    ) -> (number: Int64?, order: Int?) {
        do throws(MalformedMessage) {
            let message = try StrokeMessage(decoding: bytes, limits: limits)
            return (message.number, message.shardOrder)
        } catch {
            return (error.number, error.order)
        }
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
    var page: JSONToken?
    var order: JSONToken?
    var asset: JSONToken?
    var assetPage: JSONToken?
    var map: JSONToken?
    var keepsOriginal: JSONToken?
    var text: JSONToken?
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
        case UInt8(ascii: "g"): page = token
        case UInt8(ascii: "v"): order = token
        case UInt8(ascii: "i"): asset = token
        case UInt8(ascii: "p"): assetPage = token
        case UInt8(ascii: "m"): map = token
        case UInt8(ascii: "k"): keepsOriginal = token
        case UInt8(ascii: "x"): self.text = token
        default: break
        }
    }
}

extension JSONScanner {
    /// Nesting limit of a message; the object itself is level 1.
    static let messageDepth = 8

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
        try number.integer("n", in: 0...Int64.maxSafeInteger, text).required("n")
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

    func readElement(_ features: BoardFeatures, _ text: borrowing Span<UInt8>) throws(Rejection) -> Element {
        let value = try element.integer("e", text) ?? 0
        guard let element = UInt8(exactly: value).flatMap(Element.init), element.isOffered(by: features) else {
            throw Rejection(code: .unknownElement, field: "e", message: "There is no element \(value).")
        }
        return element
    }

    func readAction(_ features: BoardFeatures, _ text: borrowing Span<UInt8>) throws(Rejection) -> Action {
        let value = try action.integer("a", text) ?? 1
        // The first clients of the protocol send 0 for draw.
        guard let action = value == 0 ? .draw : UInt8(exactly: value).flatMap(Action.init),
            action.isOffered(by: features)
        else {
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
        let points = try points.read("d", limit: limit).required("d")
        // A shard may be empty, a whole stroke may not.
        guard isSharded || points.count > 0 else { throw .outOfRange("d", "one point or more") }
        return points
    }
}

extension MessageFields.PointsField {
    /// The points, of a stroke that has others before them; nil where the field is absent.
    func read(_ field: String, after first: Int = 0, limit: Int) throws(Rejection) -> PointArray? {
        switch self {
        case .absent:
            return nil
        case .other:
            throw .wrongType(field, "an array")
        case .array(let points, let fault):
            guard points.count <= limit - first else {
                throw Rejection(
                    code: .tooManyPoints, field: field, message: "A stroke may have at most \(limit) points.")
            }
            if let fault { throw fault.rejection(in: field) }
            return points
        }
    }
}

extension MessageFields {
    /// Read only where there are pages.
    func readPage(
        of action: Action, _ features: BoardFeatures, _ text: borrowing Span<UInt8>
    ) throws(Rejection) -> Int? {
        guard features.contains(.pages) else { return nil }
        let page = try page.integer("g", in: PageNumber.range.wide, text)
        if page == nil, action == .turn { throw .missing("g") }
        return page.map(Int.init)
    }
}

extension Element {
    func isOffered(by features: BoardFeatures) -> Bool {
        switch self {
        case .image: features.contains(.images)
        case .lasso: features.contains(.lasso)
        case .highlighter, .arrow: features.contains(.pens)
        case .pointer: features.contains(.pointer)
        case .text: features.contains(.text)
        default: true
        }
    }
}

extension Action {
    fileprivate func isOffered(by features: BoardFeatures) -> Bool {
        switch self {
        case .draw, .undo, .redo, .clear: true
        case .turn, .arrange: features.contains(.pages)
        case .paper: features.isSuperset(of: [.pages, .paper])
        case .remove: features.contains(.remove)
        }
    }
}
