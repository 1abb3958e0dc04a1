/// What a service offers beyond strokes on one page; `board.features` in the configuration.
///
/// Where a feature is missing its keys are ignored, its actions are `unknown-action`, its elements `unknown-element`: so
/// a class with clients of the original protocol is served as before.
public struct BoardFeatures: OptionSet, Sendable, Hashable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Pages: `g`, `v`, the actions 5 and 6.
    public static let pages = BoardFeatures(rawValue: 1 << 0)
    /// Images: `i`, `p`, the element 5.
    public static let images = BoardFeatures(rawValue: 1 << 1)
    /// Lassos: `m`, `k`, the element 6.
    public static let lasso = BoardFeatures(rawValue: 1 << 2)

    /// Clears that an undo takes back: `history.clear: undoable` in the configuration. Told in replies alone.
    public static let undoableClears = BoardFeatures(rawValue: 1 << 3)

    /// Highlighter and arrow: the elements 9 and 10.
    public static let pens = BoardFeatures(rawValue: 1 << 4)

    /// Colours of messages are `0xRRGGBB`: `colour: rgb` in the configuration. Told in replies alone.
    public static let rgbColours = BoardFeatures(rawValue: 1 << 5)

    /// Papers: the action 7. Where there are no pages there is no paper.
    public static let paper = BoardFeatures(rawValue: 1 << 6)

    /// Removals of entries: the action 8.
    public static let remove = BoardFeatures(rawValue: 1 << 7)

    /// Pointer: the element 7.
    public static let pointer = BoardFeatures(rawValue: 1 << 8)

    /// Texts: `x`, the element 8.
    public static let text = BoardFeatures(rawValue: 1 << 9)

    /// Those of `board.features`.
    public static let all: BoardFeatures = [.pages, .images, .lasso, .pens, .pointer, .paper, .remove, .text]

    private static let named: [(name: String, feature: BoardFeatures)] = [
        ("pages", .pages), ("images", .images), ("lasso", .lasso), ("pens", .pens), ("pointer", .pointer),
        ("paper", .paper), ("remove", .remove), ("text", .text), ("undoable-clear", .undoableClears),
        ("rgb", .rgbColours),
    ]

    /// Their names in replies and in the configuration.
    public var names: [String] { Self.named.filter { contains($0.feature) }.map { $0.name } }

    /// - Parameter names: those of features that are not known here are left out.
    public init(names: some Sequence<String>) {
        self.init(names.compactMap { name in Self.named.first { $0.name == name }?.feature })
    }
}

/// Numbers of a board's pages.
public enum PageNumber {
    public static let range = 0...999

    /// Reads a header's number; nil for anything else.
    package static func read(_ text: String) -> Int? { Int(text).flatMap { range.contains($0) ? $0 : nil } }

    /// Whether a list may be the order of a board's pages: not empty, no number twice, each in the range.
    public static func isOrder(_ pages: [Int]) -> Bool {
        !pages.isEmpty && pages.allSatisfy(range.contains) && Set(pages).count == pages.count
    }
}

/// Which pages a board has, in which order, and which one is shown.
public struct BoardPages: Sendable, Hashable {
    /// The page that is shown; one of ``order``.
    public private(set) var shown: Int
    /// The pages in sight. Not empty.
    public private(set) var order: [Int]
    /// The pages that an arrange left out, in the order of their numbers: they keep their ink.
    public private(set) var hidden: [Int]
    /// What lies under the ink of pages, in the order of their numbers; nothing under that of the others.
    public private(set) var papers: [LaidPaper]

    /// The paper of a page.
    public struct LaidPaper: Sendable, Hashable {
        public let page: Int
        /// Not blank.
        public let paper: Paper
    }

    /// Shared by all boards that have no other.
    private static let firstPage = [0]

    /// Page 0, shown and alone.
    public init() {
        shown = 0
        order = Self.firstPage
        hidden = []
        papers = []
    }

    /// - Returns: nil where `order` and `hidden` are not lists of different pages, `order` does not have `shown`, or a page
    ///   with a paper is in neither.
    public init?(shown: Int, order: [Int], hidden: [Int] = [], papers: [(page: Int, paper: Paper)] = []) {
        guard PageNumber.isOrder(order + hidden), order.contains(shown) else { return nil }
        (self.shown, self.order) = (shown, order)
        self.hidden = hidden.sorted()
        self.papers = []
        for (page, paper) in papers {
            guard order.contains(page) || hidden.contains(page) else { return nil }
            lay(paper, under: page)
        }
    }

    /// The lowest number of a page that was never seen before; nil where there is none.
    public var unused: Int? {
        let used = Set(order + hidden)
        return PageNumber.range.first { !used.contains($0) }
    }

    /// Shows a page; one that is out of sight, or was never seen before, comes last in the order.
    public mutating func turn(to page: Int) {
        hidden.removeAll { $0 == page }
        add(page)
        shown = page
    }

    /// Puts a page that was never seen before last in the order.
    public mutating func add(_ page: Int) {
        if page != shown, !order.contains(page), !hidden.contains(page) { order.append(page) }
    }

    /// Lays a paper under a page, in place of the one before; a page that was never seen before comes last in the order.
    public mutating func lay(_ paper: Paper, under page: Int) {
        add(page)
        var place = papers.count
        while place > 0, papers[place - 1].page >= page { place -= 1 }
        if place < papers.count, papers[place].page == page { papers.remove(at: place) }
        if !paper.isBlank { papers.insert(LaidPaper(page: page, paper: paper), at: place) }
    }

    /// What lies under the ink of a page; nil for nothing.
    public func paper(of page: Int) -> Paper? { papers.first { $0.page == page }?.paper }

    /// Sets the order; where the shown page is left out, the first one is shown.
    /// - Parameter order: not empty, no page twice.
    public mutating func arrange(_ order: [Int]) {
        let kept = Set(order)
        hidden = (hidden + self.order).filter { !kept.contains($0) }.sorted()
        self.order = order
        if !kept.contains(shown) { shown = order[0] }
    }
}

extension BoardPages {
    /// Reads `{"shown":2,"order":[0,1,2],"hidden":[3],"paper":{"1":{"p":2,"l":32}}}`.
    init(_ token: JSONToken, of bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(token, of: bytes, keeping: ["shown", "order", "hidden", "paper"], field: "pages")
        let (shown, order) = (try body.page("shown").required("shown"), try body.pages("order").required("order"))
        guard
            let pages = BoardPages(
                shown: shown, order: order, hidden: try body.pages("hidden") ?? [], papers: try body.papers())
        else {
            throw .outOfRange("order", "a list of different pages with the one shown, and those that have papers")
        }
        self = pages
    }
}

extension JSONObject {
    fileprivate func papers() throws(Rejection) -> [(page: Int, paper: Paper)] {
        guard let token = self["paper"] else { return [] }
        var papers: [(page: Int, paper: Paper)] = []
        for (name, token) in try JSONObject(token, of: bytes, keeping: nil, field: "paper").members {
            // Only as a page's number is written: so no page has two papers.
            if let page = PageNumber.read(name), name == "\(page)" {
                papers.append((page, try Paper(token, of: bytes)))
            }
        }
        return papers
    }

    fileprivate func pages(_ name: String) throws(Rejection) -> [Int]? {
        try integers(name, in: PageNumber.range.wide, atMost: PageNumber.range.count)?.map { Int($0) }
    }
}

extension [UInt8] {
    package mutating func append(pages: BoardPages) {
        appendObject { body in
            body.append("shown", integer: pages.shown)
            body.append("order", list: pages.order) { $0.append(integer: $1) }
            if !pages.hidden.isEmpty { body.append("hidden", list: pages.hidden) { $0.append(integer: $1) } }
            guard !pages.papers.isEmpty else { return }
            body.appendObject("paper") { body in
                for laid in pages.papers {
                    body.append(key: "\(laid.page)")
                    body.append(contentsOf: laid.paper.encoded)
                }
            }
        }
    }
}

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
        let digits = hexadecimal.utf8
        guard digits.count == 64 else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (position, digit) in digits.enumerated() {
            guard let value = digit.hexadecimalValue, !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(digit) else {
                return nil
            }
            words[position / 16] = words[position / 16] << 4 | UInt64(value)
        }
        first = SIMD2(words[0], words[1])
        second = SIMD2(words[2], words[3])
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
