/// What a message carries besides the fields of a stroke; depends on its action and element.
public indirect enum MessageContent: Sendable, Equatable {
    /// Of an arrange: the pages in their new order. `v`.
    case order([Int])
    /// Of a removal: the entries that go, by their indices, different from each other. `v`.
    case indices([UInt64])
    /// Of a paper. `p`, `l`, `i`, `d`, `k`.
    case paper(Paper)
    /// Of an image: which page of which asset. `i`, `p`.
    case image(AssetID, page: Int)
    /// Of a lasso: where its inside goes, nil to cut it away, in the sender's board units; whether the original stays.
    /// `m`, `k`.
    case lasso(LassoMap?, keepsOriginal: Bool)
    /// Of a text: what ``BoardText/isValid(_:)`` allows. `x`.
    case text(String)
}

/// Each field is read only where it means something.
extension MessageFields {
    func readContent(
        of action: Action, _ element: Element, _ text: borrowing Span<UInt8>
    ) throws(Rejection) -> MessageContent? {
        switch (action, element) {
        case (.arrange, _): return .order(try readOrder(text))
        case (.remove, _): return .indices(try readIndices(text))
        case (.paper, _): return .paper(try readPaper(text))
        case (.draw, .image):
            let asset = try readAsset(text)
            return .image(asset, page: try readAssetPage(text))
        case (.draw, .lasso):
            let map = try readMap(text)
            return .lasso(map, keepsOriginal: try keepsOriginal.integer("k", in: 0...1, text) == 1)
        case (.draw, .text):
            guard BoardText.lineHeights.contains(try width.number("l", text) ?? 1) else {
                throw .outOfRange("l", "between 4 and 512, the height of a line")
            }
            return .text(try readText(text))
        default: return nil
        }
    }

    private func readOrder(_ text: borrowing Span<UInt8>) throws(Rejection) -> [Int] {
        let pages = try readList(in: PageNumber.range.wide, atMost: PageNumber.range.count, text).map { Int($0) }
        guard PageNumber.isOrder(pages) else { throw .outOfRange("v", "a list of different pages, one or more") }
        return pages
    }

    private func readIndices(_ text: borrowing Span<UInt8>) throws(Rejection) -> [UInt64] {
        let indices = try readList(in: 1...Int64.maxSafeInteger, atMost: StrokeMessage.removalBound, text).map {
            UInt64($0)
        }
        guard !indices.isEmpty, Set(indices).count == indices.count else {
            throw .outOfRange("v", "a list of different indices, one or more")
        }
        return indices
    }

    /// The integers of `v`.
    private func readList(
        in range: ClosedRange<Int64>, atMost limit: Int, _ text: borrowing Span<UInt8>
    ) throws(Rejection) -> [Int64] {
        var list: [Int64] = []
        for (position, token) in try order.required("v").elements("v", atMost: limit, text).enumerated() {
            list.append(try Optional(token).integer("v[\(position)]", in: range, text) ?? 0)
        }
        return list
    }

    func readAsset(_ text: borrowing Span<UInt8>) throws(Rejection) -> AssetID {
        guard let asset else { throw .missing("i") }
        guard case .string(let range) = asset else { throw .wrongType("i", "a string") }
        guard range.count <= 6 * 64, let id = AssetID(hexadecimal: JSONText.string(range, of: text)) else {
            throw .outOfRange("i", "64 lower-case hexadecimal digits")
        }
        return id
    }

    func readAssetPage(_ text: borrowing Span<UInt8>) throws(Rejection) -> Int {
        Int(try assetPage.integer("p", in: AssetID.pages.wide, text) ?? 0)
    }

    private func readText(_ text: borrowing Span<UInt8>) throws(Rejection) -> String {
        guard let token = self.text else { throw .missing("x") }
        guard case .string(let range) = token else { throw .wrongType("x", "a string") }
        // An escape of six bytes is one byte of text or more.
        guard range.count <= 6 * BoardText.byteBound else { throw .invalidText }
        let value = JSONText.string(range, of: text)
        guard BoardText.isValid(value) else { throw .invalidText }
        return value
    }

    private func readMap(_ text: borrowing Span<UInt8>) throws(Rejection) -> LassoMap? {
        guard let map else { return nil }
        let tokens = try map.elements("m", atMost: 6, text)
        guard tokens.count == 6 else { throw .outOfRange("m", "a list of six numbers") }
        var numbers: [Double] = []
        for (position, token) in tokens.enumerated() {
            let range = -LassoMap.bound...LassoMap.bound
            numbers.append(try Optional(token).number("m[\(position)]", in: range, text) ?? 0)
        }
        return LassoMap(
            a: numbers[0], b: numbers[1], c: numbers[2], d: numbers[3], e: numbers[4], f: numbers[5])
    }
}

extension [UInt8] {
    mutating func append(content: MessageContent) {
        switch content {
        case .paper(let paper):
            switch paper.kind {
            case .ruled(let ruling, _):
                append("p", integer: ruling.rawValue)
            case .slide(let slide):
                append(slide: slide)
            }
        case .indices(let indices):
            append("v", list: indices) { $0.append(integer: $1) }
        case .order(let pages):
            append("v", list: pages) { $0.append(integer: $1) }
        case .image(let asset, let page):
            append("i", string: asset.description)
            append("p", integer: page)
        case .lasso(let map, let keepsOriginal):
            append("m", list: map?.numbers) { $0.append(number: $1) }
            if keepsOriginal { append(",\"k\":1") }
        case .text(let text):
            append("x", string: text)
        }
    }
}

/// An affine map of a plane: x′ = a·x + c·y + e, y′ = b·x + d·y + f.
public struct LassoMap: Sendable, Hashable {
    public var (a, b, c, d, e, f): (Double, Double, Double, Double, Double, Double)

    /// The greatest size of a number of a map in a message.
    public static let bound = 16384.0

    public init(a: Double, b: Double, c: Double, d: Double, e: Double, f: Double) {
        (self.a, self.b, self.c, self.d, self.e, self.f) = (a, b, c, d, e, f)
    }

    public static let identity = LassoMap(a: 1, b: 0, c: 0, d: 1, e: 0, f: 0)

    /// The six numbers in the order a, b, c, d, e, f.
    public var numbers: [Double] { [a, b, c, d, e, f] }
}

extension LassoMap {
    public static func == (one: LassoMap, other: LassoMap) -> Bool { one.numbers == other.numbers }

    public func hash(into hasher: inout Hasher) { hasher.combine(numbers) }
}

/// The name of an asset: the SHA-256 of its bytes.
public struct AssetID: Sendable, Hashable, Comparable {
    /// Not one vector of four: Swift 6.3 misplaces values that are aligned to 32 bytes on the stacks of tasks.
    private let first, second: SIMD2<UInt64>

    /// The numbers of an asset's pages.
    public static let pages = 0...499

    /// - Parameter hexadecimal: 64 lower-case digits; anything else gives nil.
    public init?(hexadecimal: some StringProtocol) {
        guard hexadecimal.utf8.count == 64, let digest = hexadecimal.utf8.hexadecimalBytes else { return nil }
        self.init(digest: digest)
    }

    /// - Parameter digest: the 32 bytes of a SHA-256; any other number of bytes gives nil.
    public init?(digest: some Collection<UInt8>) {
        guard digest.count == 32 else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (position, byte) in digest.enumerated() { words[position / 8] = words[position / 8] << 8 | UInt64(byte) }
        first = SIMD2(words[0], words[1])
        second = SIMD2(words[2], words[3])
    }

    public static func < (one: AssetID, other: AssetID) -> Bool { one.description < other.description }
}

extension AssetID: CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public var description: String {
        [first.x, first.y, second.x, second.y].map { String(hexadecimal: $0, digits: 16) }.joined()
    }
}

/// What an image shows: a page of an asset.
public struct ImageSource: Sendable, Hashable {
    public let asset: AssetID
    /// From 0.
    public let page: Int

    public init(asset: AssetID, page: Int) { (self.asset, self.page) = (asset, page) }
}
