/// What lies under the ink of a page: a ruling, or a page of an asset. No undo, eraser, clear or lasso takes it away.
///
/// Lengths are in the board units of its sender; ``boardWidth`` and ``boardHeight`` say which.
public struct Paper: Sendable, Hashable {
    /// The two kinds of paper.
    public enum Kind: Sendable, Hashable {
        /// Lines, `distance` apart. `p`, `l`.
        case ruled(Ruling, distance: Double)
        /// A page of an asset.
        case slide(Slide)
    }

    /// A page of an asset in a box.
    public struct Slide: Sendable, Hashable {
        /// `i`.
        public var asset: AssetID
        /// From 0, ``AssetID/pages``. `p`.
        public var page: Int
        /// Two opposite corners of the box. `d`.
        public var from, to: SIMD2<Double>
        /// By how many quarters the page is rotated clockwise before it fills the box, 0 … 3. `k`.
        public var quarters: Int

        public init(_ asset: AssetID, page: Int, from: SIMD2<Double>, to: SIMD2<Double>, quarters: Int = 0) {
            (self.asset, self.page, self.from, self.to, self.quarters) = (asset, page, from, to, quarters & 3)
        }
    }

    /// `p` on the wire.
    public enum Ruling: UInt8, Sendable, CaseIterable {
        case blank
        case lines
        case squares
        case dots
        /// Groups of five lines, with as much space between them.
        case staves
    }

    /// Distances of lines, 8 … 256; beyond: `out-of-range`.
    public static let distances = 8.0...256.0
    /// The distance where a message gives none.
    public static let standardDistance = 32.0

    public var kind: Kind
    /// Width of the sender's board, 1 … 16384, nil for the room's. `w`.
    public var boardWidth: Double?
    /// Height of the sender's board, 1 … 16384, nil for the room's. `h`.
    public var boardHeight: Double?

    public init(_ kind: Kind, boardWidth: Double? = nil, boardHeight: Double? = nil) {
        (self.kind, self.boardWidth, self.boardHeight) = (kind, boardWidth, boardHeight)
    }

    /// Whether nothing is seen of it.
    public var isBlank: Bool {
        if case .ruled(.blank, _) = kind { true } else { false }
    }

    public var slide: Slide? {
        if case .slide(let slide) = kind { slide } else { nil }
    }

    /// The asset that it shows.
    public var asset: AssetID? { slide?.asset }

    /// Bytes that one takes in memory and in a reply at most, about.
    package static let byteBound = 384
}

extension Paper {
    /// Reads a member of `paper` in a reply, which has the keys of its message.
    init(_ token: JSONToken, of bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(token, of: bytes, keeping: ["p", "l", "i", "d", "k", "w", "h"], field: "paper")
        var fields = MessageFields()
        fields.width = body["l"]
        fields.asset = body["i"]
        fields.assetPage = body["p"]
        fields.keepsOriginal = body["k"]
        fields.boardWidth = body["w"]
        fields.boardHeight = body["h"]
        if case .array(let range)? = body["d"] {
            var points = NoPoints()
            do {
                var scanner = JSONScanner(at: range.lowerBound, maximumDepth: JSONObject.maximumDepth)
                fields.points = try scanner.takePointsField(bytes.span, into: &points)
            } catch {
                throw error.rejection
            }
        }
        self = try fields.readPaper(bytes.span)
    }

    /// Reads what ``encoded`` wrote.
    package init(decoding bytes: [UInt8]) throws(Rejection) {
        try self.init(JSONToken(document: bytes), of: bytes)
    }

    /// As it stands in a reply: an object with the keys of its message.
    package var encoded: [UInt8] {
        JSONObject.encoded { body in
            switch kind {
            case .ruled(let ruling, let distance):
                body.append("p", integer: ruling.rawValue)
                body.append("l", number: distance)
            case .slide(let slide):
                body.append(slide: slide)
            }
            body.append("w", number: boardWidth)
            body.append("h", number: boardHeight)
        }
    }
}

extension MessageFields {
    /// The paper of a message or of a reply: `w`, `h`, then `p` and `l`, or `i`, `p`, `k` and `d`.
    func readPaper(_ text: borrowing Span<UInt8>) throws(Rejection) -> Paper {
        let (width, height) = (try readBoardWidth(text), try readBoardHeight(text))
        guard asset != nil else {
            let value = try assetPage.integer("p", in: 0...4, text) ?? 0
            let distance = try self.width.number("l", in: Paper.distances, text) ?? Paper.standardDistance
            let ruling = UInt8(exactly: value).flatMap(Paper.Ruling.init) ?? .blank
            return Paper(.ruled(ruling, distance: distance), boardWidth: width, boardHeight: height)
        }
        let asset = try readAsset(text)
        let page = try readAssetPage(text)
        let quarters = Int(try keepsOriginal.integer("k", in: 0...3, text) ?? 0)
        let points = try readPoints(isSharded: false, limit: 2)
        var corners: [StrokePoint] = []
        points.forEachPoint(in: text) { corners.append($0) }
        guard corners.count == 2 else { throw .outOfRange("d", "two opposite corners") }
        let slide = Paper.Slide(
            asset, page: page, from: SIMD2(corners[0].x, corners[0].y), to: SIMD2(corners[1].x, corners[1].y),
            quarters: quarters)
        return Paper(.slide(slide), boardWidth: width, boardHeight: height)
    }
}

extension [UInt8] {
    /// The members of a slide.
    mutating func append(slide: Paper.Slide) {
        append("i", string: slide.asset.description)
        append("p", integer: slide.page)
        if slide.quarters > 0 { append("k", integer: slide.quarters) }
        append("d", list: [slide.from, slide.to]) { bytes, corner in
            bytes.appendObject { body in
                body.append("x", number: corner.x)
                body.append("y", number: corner.y)
            }
        }
    }
}
