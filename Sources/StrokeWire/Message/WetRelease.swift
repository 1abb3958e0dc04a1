/// Points of a stroke being drawn, or the word that it is given up: the body of a message on `.wet.<cohort>` and on
/// `.wet-head`.
public struct WetRelease: Sendable, Equatable {
    public typealias Content = WetUpdate.Content

    public var author: AuthorID
    /// The session whose sequence ``number`` belongs to; nil for one without a name.
    public var session: String?
    /// The number that the operation has or will have. `n`.
    public var number: Int64
    /// The operation's index, once it is in the log.
    public var index: UInt64?
    /// Predicted points stand on `.wet-head` alone.
    public var content: Content

    public init(author: AuthorID, session: String?, number: Int64, index: UInt64? = nil, _ content: Content) {
        (self.author, self.session, self.number, self.index, self.content) = (author, session, number, index, content)
    }
}

extension WetRelease {
    /// The body of the message.
    public func encoded() -> [UInt8] {
        guard case .points(let points) = content else {
            var bytes = Self.start(author, session, number)
            bytes.append(",\"x\":true}")
            return bytes
        }
        return Self.encode(
            author: author, session: session, number: number, index: index, style: points.style, first: points.first,
            interior: PointEncoder.interior(of: points.points)[...],
            predicted: PointEncoder.interior(of: points.predicted)[...])
    }

    /// The body of a message with points that are encoded already.
    /// - Parameters:
    ///   - interior: the bytes between the brackets of `d`.
    ///   - predicted: the same of `p`, which is left out where it is empty.
    package static func encode(
        author: AuthorID, session: String?, number: Int64, index: UInt64?, style: WetStrokeStyle, first: Int,
        interior: ArraySlice<UInt8>, predicted: ArraySlice<UInt8>
    ) -> [UInt8] {
        var bytes = start(author, session, number)
        bytes.reserveCapacity(bytes.count + interior.count + predicted.count + 128)
        bytes.append("k", integer: first)
        bytes.append("page", integer: style.page ?? 0)
        bytes.append(wetStyle: style)
        bytes.append("index", integer: index)
        bytes.append("d", interior: interior)
        if !predicted.isEmpty { bytes.append("p", interior: predicted) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private static func start(_ author: AuthorID, _ session: String?, _ number: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append("{")
        bytes.append("author", string: author.text)
        bytes.append("session", string: session)
        bytes.append("n", integer: number)
        return bytes
    }

    /// Reads a body as a student's client gets it. Unknown keys are ignored.
    /// - Parameters:
    ///   - bytes: at most ``WetUpdate/maximumBytes``.
    ///   - limits: limits of the stroke, and the meaning of colours.
    /// - Throws: the first fault in the order: size, well-formed JSON, an object, then the fields `author session n x`,
    ///   and, unless `x` is true, `k page c l e t w h index d p`.
    public init(decoding bytes: [UInt8], limits: WireLimits = WireLimits()) throws(Rejection) {
        guard bytes.count <= WetUpdate.maximumBytes else {
            throw .tooLarge(bytes: bytes.count, limit: WetUpdate.maximumBytes)
        }
        let text = bytes.span
        let fields = try WetFields(text)
        author = try AuthorID(try fields.author.string("author", text).required("author"))
            .required(orOutOfRange: "author", "the name of an author")
        if let name = try fields.session.string("session", text) {
            session = try HeaderName.validSession(name)
                .required(orOutOfRange: "session", "1 to 64 visible characters")
        }
        number = try fields.message.readNumber(text)
        if try fields.readIsGivenUp() {
            index = nil
            content = .givenUp
            return
        }
        let first = try fields.readFirst(limits, text)
        let page = try fields.releasedPage.integer("page", in: 0...999, text)
        var style = try fields.readStyle(limits, text)
        style.page = Int(page ?? 0)
        index = try fields.index.integer("index", in: 1...(Int64.max - 1), text).map { UInt64($0) }
        try fields.checkPoints(first: first, limits)
        content = .points(
            WetPoints(style: style, first: first, points: fields.points, predicted: fields.predicted))
    }
}
