/// What all updates of a stroke being drawn have in common.
public struct WetStrokeStyle: Sendable, Equatable {
    /// As in ``StrokeMessage``. `c`.
    public var colour: UInt32
    /// In the sender's board units, 0 < width ≤ 512. `l`.
    public var width: Double
    /// `e`.
    public var element: Element
    /// Media time in milliseconds, which the points' ``StrokePoint/milliseconds`` count from; nil if not sent. `t`.
    public var time: Int64?
    /// 1 … 16384, nil if not sent. `w`.
    public var boardWidth: Double?
    /// 1 … 16384, nil if not sent. `h`.
    public var boardHeight: Double?
    /// 0 … 999, nil if not sent. `g`.
    public var page: Int?

    public init(
        colour: UInt32 = 0, width: Double = 1, element: Element = .freehand, time: Int64? = nil,
        boardWidth: Double? = nil, boardHeight: Double? = nil, page: Int? = nil
    ) {
        (self.colour, self.width, self.element, self.time) = (colour, width, element, time)
        (self.boardWidth, self.boardHeight, self.page) = (boardWidth, boardHeight, page)
    }

    /// That of a stroke on a page.
    public init(_ header: StrokeMessage, page: Int?) {
        self.init(
            colour: header.colour, width: header.width, element: header.element, time: header.time,
            boardWidth: header.boardWidth, boardHeight: header.boardHeight, page: page)
    }
}

/// An update of a stroke that its author is drawing: the body of a message on `.wet-in.<author>`.
public struct WetUpdate: Sendable, Equatable {
    /// New points of the stroke, or its end without an operation.
    public enum Content: Sendable, Equatable {
        case points(WetPoints)
        /// The stroke is given up: nothing of it stays. `x`.
        case givenUp
    }

    /// The number that the operation will have, 0 … 2⁵³−1. `n`.
    public var number: Int64
    /// Number of the update, from 1 for each stroke. `u`.
    public var update: Int64
    public var content: Content

    public init(number: Int64, update: Int64, _ content: Content) {
        (self.number, self.update, self.content) = (number, update, content)
    }
}

/// The points of an update.
public struct WetPoints: Sendable, Equatable {
    public var style: WetStrokeStyle
    /// Index of the first of ``points`` in the stroke. `k`.
    public var first: Int
    /// They take the places from ``first`` on; points behind them stay. `d`.
    public var points: [StrokePoint]
    /// Predicted points after the last one of the stroke. They hold until the next update. `p`.
    public var predicted: [StrokePoint]

    public init(style: WetStrokeStyle, first: Int, points: [StrokePoint], predicted: [StrokePoint] = []) {
        (self.style, self.first, self.points, self.predicted) = (style, first, points, predicted)
    }
}

// MARK: - Decoding

extension WetUpdate {
    /// Greatest size of an update in bytes.
    public static let maximumBytes = 65_536

    /// Decodes an update. Unknown keys are ignored.
    /// - Parameters:
    ///   - bytes: one JSON object in UTF-8. More than ``maximumBytes``, or `limits.messageBytes` where that is less, are
    ///     rejected unread.
    ///   - limits: limits of the stroke, and the meaning of colours.
    /// - Throws: the first fault in the order: size, well-formed JSON, an object, then the fields `n u x`, and, unless
    ///   `x` is true, `k c l e t w h g d p`.
    public init(decoding bytes: [UInt8], limits: WireLimits = WireLimits()) throws(Rejection) {
        let limit = min(Self.maximumBytes, limits.messageBytes)
        guard bytes.count <= limit else { throw .tooLarge(bytes: bytes.count, limit: limit) }
        let text = bytes.span
        let fields = try WetFields(text)
        number = try fields.message.readNumber(text)
        update = try fields.update.integer("u", in: 1...Int64.maxSafeInteger, text).required("u")
        content = try fields.readIsGivenUp() ? .givenUp : .points(try fields.readPoints(limits, text))
    }
}

/// The members of an update or of a release; of a repeated key the last one.
struct WetFields {
    /// Those that a stroke message has too; its points without their values.
    var message = MessageFields()
    var update: JSONToken?
    var givenUp: JSONToken?
    var first: JSONToken?
    var points: [StrokePoint] = []
    var predicted: [StrokePoint] = []
    var predictedField = MessageFields.PointsField.absent
    /// Those with longer names.
    var author: JSONToken?
    var session: JSONToken?
    var index: JSONToken?
    var releasedPage: JSONToken?

    /// Reads an update or a release; which fields it has is not looked at.
    init(_ text: borrowing Span<UInt8>) throws(Rejection) {
        let isObject: Bool
        do {
            var scanner = JSONScanner(maximumDepth: JSONScanner.messageDepth)
            isObject = try scanner.takeObject(text) { key, scanner, text throws(JSONFault) in
                try take(key, &scanner, text)
            }
        } catch {
            throw error.rejection
        }
        guard isObject else { throw .wrongType(nil, "an object") }
    }

    /// Takes the value of a member.
    private mutating func take(
        _ key: Range<Int>, _ scanner: inout JSONScanner, _ text: borrowing Span<UInt8>
    ) throws(JSONFault) {
        switch JSONText.letter(key, of: text) {
        case UInt8(ascii: "d"): message.points = try scanner.takePointsField(text, into: &points)
        case UInt8(ascii: "p"): predictedField = try scanner.takePointsField(text, into: &predicted)
        case UInt8(ascii: "u"): update = try scanner.takeValue(text)
        case UInt8(ascii: "x"): givenUp = try scanner.takeValue(text)
        case UInt8(ascii: "k"): first = try scanner.takeValue(text)
        case let letter?: message.set(letter, try scanner.takeValue(text))
        case nil:
            let value = try scanner.takeValue(text)
            switch JSONText.string(key, of: text) {
            case "author": author = value
            case "session": session = value
            case "index": index = value
            case "page": releasedPage = value
            default: break
            }
        }
    }

    func readIsGivenUp() throws(Rejection) -> Bool {
        switch givenUp {
        case nil: return false
        case .bool(let value): return value
        default: throw .wrongType("x", "true or false")
        }
    }

    func readFirst(_ limits: WireLimits, _ text: borrowing Span<UInt8>) throws(Rejection) -> Int {
        Int(try first.integer("k", in: 0...Int64(limits.points), text).required("k"))
    }

    /// The common fields, without the page.
    func readStyle(_ limits: WireLimits, _ text: borrowing Span<UInt8>) throws(Rejection) -> WetStrokeStyle {
        WetStrokeStyle(
            colour: try message.readColour(limits.colours, text), width: try message.readWidth(text),
            element: try message.readElement(limits.features.intersection([.pens, .pointer]), text),
            time: try message.readTime(text),
            boardWidth: try message.readBoardWidth(text), boardHeight: try message.readBoardHeight(text))
    }

    /// Checks `d` and `p`.
    /// - Parameter first: index of the first point of `d`.
    func checkPoints(first: Int, _ limits: WireLimits) throws(Rejection) {
        _ = try message.points.read("d", after: first, limit: limits.points).required("d")
        _ = try predictedField.read("p", limit: limits.points)
    }

    fileprivate func readPoints(_ limits: WireLimits, _ text: borrowing Span<UInt8>) throws(Rejection) -> WetPoints {
        let first = try readFirst(limits, text)
        var style = try readStyle(limits, text)
        style.page = try message.readPage(of: .draw, limits.features, text)
        try checkPoints(first: first, limits)
        return WetPoints(style: style, first: first, points: points, predicted: predicted)
    }
}

// MARK: - Encoding

extension WetUpdate {
    /// The body of an update, without white space; what is absent is left out.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append("{")
        bytes.append("n", integer: number)
        bytes.append("u", integer: update)
        switch content {
        case .givenUp:
            bytes.append(",\"x\":true")
        case .points(let points):
            bytes.append("k", integer: points.first)
            bytes.append(wetStyle: points.style)
            bytes.append("g", integer: points.style.page)
            bytes.append("d", interior: PointEncoder.interior(of: points.points))
            if !points.predicted.isEmpty { bytes.append("p", interior: PointEncoder.interior(of: points.predicted)) }
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}

extension [UInt8] {
    mutating func append(wetStyle style: WetStrokeStyle) {
        append("c", integer: style.colour)
        append("l", number: style.width)
        append("e", integer: style.element.rawValue)
        append("t", integer: style.time)
        append("w", number: style.boardWidth)
        append("h", number: style.boardHeight)
    }
}
