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

    /// Undo, redo and removals concern one's own entries: `history.scope: author` in the configuration. Told in replies alone.
    public static let authorScope = BoardFeatures(rawValue: 1 << 10)

    /// Those of `board.features`.
    public static let all: BoardFeatures = [.pages, .images, .lasso, .pens, .pointer, .paper, .remove, .text]

    private static let named: [(name: String, feature: BoardFeatures)] = [
        ("pages", .pages), ("images", .images), ("lasso", .lasso), ("pens", .pens), ("pointer", .pointer),
        ("paper", .paper), ("remove", .remove), ("text", .text), ("undoable-clear", .undoableClears),
        ("rgb", .rgbColours), ("author-scope", .authorScope),
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
