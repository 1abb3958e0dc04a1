/// The binary form of a join reply begins with this after the first byte, where a message has the kind of its layout.
private let replyKind: UInt8 = 3

/// The first integer of a reply.
private struct ReplyFlags: OptionSet {
    let rawValue: UInt64
    /// The operations after those that the student has; else a board.
    static let tail = ReplyFlags(rawValue: 1 << 0)
    static let provisional = ReplyFlags(rawValue: 1 << 1)
    /// The pages follow the head, and operations may concern others than page 0.
    static let pages = ReplyFlags(rawValue: 1 << 2)
    /// Papers follow the pages.
    static let paper = ReplyFlags(rawValue: 1 << 3)
    /// What was cleared or removed has the indices that removals name.
    static let removals = ReplyFlags(rawValue: 1 << 4)
    static let all: ReplyFlags = [.tail, .provisional, .pages, .paper, .removals]
}

/// The lowest bits of the first integer of an operation; the number of its origin is above them.
private struct OperationFlags: OptionSet {
    let rawValue: UInt64
    static let late = OperationFlags(rawValue: 1 << 0)
    static let reference = OperationFlags(rawValue: 1 << 1)
    static let digest = OperationFlags(rawValue: 1 << 2)
    /// A page other than 0; only where the reply has pages.
    static let page = OperationFlags(rawValue: 1 << 3)

    /// The number of flags.
    static func bits(hasPages: Bool) -> UInt64 { hasPages ? 4 : 3 }
}

/// An operation in the binary form of a join reply.
package struct BinaryOperation: Sendable {
    let index: UInt64
    let author: AuthorID
    let reference: UInt64?
    let isLate: Bool
    let digest: BoardDigest?
    let page: Int
    let payload: BinaryPayload

    package init(
        index: UInt64, author: AuthorID, reference: UInt64? = nil, isLate: Bool = false, digest: BoardDigest? = nil,
        page: Int = 0, payload: BinaryPayload
    ) {
        (self.index, self.author, self.reference, self.isLate) = (index, author, reference, isLate)
        (self.digest, self.page, self.payload) = (digest, page, payload)
    }
}

/// Writes a join reply in the binary form. The payloads of messages are copied; authors and layouts stand once, where they
/// come first.
package struct BinaryJoinReplyWriter: Sendable {
    /// What many operations have in common.
    private struct Origin: Hashable {
        let author: AuthorID
        let layout: MessageLayout
    }

    private var bytes: [UInt8] = [BinaryMessage.firstByte, replyKind]
    private let head: [UInt8]
    private let pages: BoardPages?
    private var origins: [Origin: Int] = [:]
    /// The last one used, most likely the next operation's too.
    private var recent: (origin: Origin, number: Int)?
    private var lastIndex: UInt64 = 0

    /// - Parameters:
    ///   - room: incarnation of the room, empty if nobody has written to it.
    ///   - index: the cohort's cursor.
    ///   - digest: that of the board at `index`.
    ///   - palette: the colours in force.
    ///   - style: name of the ink style in force.
    ///   - pages: the pages at `index`; nil where no operation of the reply concerns a page other than 0.
    package init(
        room: String, index: UInt64, digest: BoardDigest, palette: Palette, style: String,
        pages: BoardPages?
    ) {
        self.pages = pages
        var head: [UInt8] = []
        head.append(counted: room.utf8)
        Varint.append(index, to: &head)
        head.append(word: digest.value)
        Varint.append(UInt64(palette.colours.count), to: &head)
        for colour in palette.colours {
            for shift in [16, 8, 0] as [UInt32] { head.append(UInt8(truncatingIfNeeded: colour >> shift)) }
        }
        head.append(counted: style.utf8)
        self.head = head
    }

    /// The reply with the operations after those that the student has.
    package consuming func tail(_ operations: some Collection<BinaryOperation>) -> [UInt8] {
        begin(.tail)
        append(operations)
        return bytes
    }

    /// The reply with the whole board; the parameters are those of ``JoinReplyWriter``.
    package consuming func board(
        width: Double, height: Double, isProvisional: Bool = false, visible: some Collection<BinaryOperation>,
        redo: some Collection<BinaryOperation>,
        cleared: [(index: UInt64, page: Int, indices: [UInt64]?, visible: [BinaryOperation])] = []
    ) -> [UInt8] {
        let hasRemovals = cleared.contains { $0.indices != nil }
        begin((isProvisional ? .provisional : [] as ReplyFlags).union(hasRemovals ? .removals : []))
        bytes.append(word: width.bitPattern)
        bytes.append(word: height.bitPattern)
        append(visible)
        append(redo)
        Varint.append(UInt64(cleared.count), to: &bytes)
        for board in cleared {
            Varint.append(board.index, to: &bytes)
            if pages != nil { Varint.append(UInt64(board.page), to: &bytes) }
            if hasRemovals { Varint.append(list: board.indices ?? [], to: &bytes) }
            append(board.visible)
        }
        return bytes
    }

    private mutating func begin(_ flags: ReplyFlags) {
        var flags = flags
        if let pages { flags.formUnion(pages.papers.isEmpty ? .pages : [.pages, .paper]) }
        Varint.append(flags.rawValue, to: &bytes)
        bytes += head
        guard let pages else { return }
        Varint.append(UInt64(pages.shown), to: &bytes)
        for list in [pages.order, pages.hidden] { Varint.append(list: list.map { UInt64($0) }, to: &bytes) }
        guard !pages.papers.isEmpty else { return }
        Varint.append(UInt64(pages.papers.count), to: &bytes)
        for laid in pages.papers {
            Varint.append(UInt64(laid.page), to: &bytes)
            bytes.append(counted: laid.paper.encoded)
        }
    }

    private mutating func append(_ operations: some Collection<BinaryOperation>) {
        Varint.append(UInt64(operations.count), to: &bytes)
        for operation in operations { append(operation) }
    }

    private mutating func append(_ operation: BinaryOperation) {
        var flags: OperationFlags = operation.isLate ? .late : []
        if operation.reference != nil { flags.insert(.reference) }
        if operation.digest != nil { flags.insert(.digest) }
        if operation.page != 0 { flags.insert(.page) }
        appendOrigin(of: operation, flags)
        Varint.append(UInt64(zigzag: Int64(bitPattern: operation.index &- lastIndex)), to: &bytes)
        lastIndex = operation.index
        if let reference = operation.reference {
            Varint.append(UInt64(zigzag: Int64(bitPattern: operation.index &- reference)), to: &bytes)
        }
        if let digest = operation.digest { bytes.append(word: digest.value) }
        if operation.page != 0 { Varint.append(UInt64(operation.page), to: &bytes) }
        bytes.append(counted: operation.payload.bytes)
    }

    private mutating func appendOrigin(of operation: BinaryOperation, _ flags: OperationFlags) {
        let origin = Origin(author: operation.author, layout: operation.payload.layout)
        let known = recent.flatMap { $0.origin == origin ? $0.number : nil } ?? origins[origin]
        let number = known ?? origins.count
        Varint.append(UInt64(number) << OperationFlags.bits(hasPages: pages != nil) | flags.rawValue, to: &bytes)
        recent = (origin, number)
        guard known == nil else { return }
        origins[origin] = number
        bytes.append(counted: origin.author.text.utf8)
        origin.layout.append(to: &bytes)
    }
}

extension Varint {
    /// Appends the number of some integers, and the integers.
    fileprivate static func append(list: [UInt64], to bytes: inout [UInt8]) {
        append(UInt64(list.count), to: &bytes)
        for value in list { append(value, to: &bytes) }
    }
}

extension [UInt8] {
    /// Appends the number of some bytes, and the bytes.
    fileprivate mutating func append(counted data: some Collection<UInt8>) {
        Varint.append(UInt64(data.count), to: &self)
        append(contentsOf: data)
    }

    /// Appends eight bytes, highest first.
    fileprivate mutating func append(word: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) { append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
}

extension JoinReply {
    /// Reads a reply in the binary form whose parts were joined; ``BinaryMessage/isBinary(_:)`` tells it from JSON. Its
    /// messages are JSON, as in a reply in JSON.
    public init(binary bytes: [UInt8]) throws(BinaryFormError) {
        guard bytes.count <= Self.maximumBytes else { throw .tooLarge(limit: Self.maximumBytes) }
        var reader = try BinaryReplyReader(bytes)
        self = try reader.reply()
    }
}

/// Reads a join reply. What comes of it is bounded by ``JoinReply/maximumBytes``.
private struct BinaryReplyReader {
    private struct Origin {
        let author: AuthorID
        /// nil for messages that stay JSON.
        let template: MessageTemplate?
    }

    private var input: BinaryReader
    private var origins: [Origin] = []
    private var lastIndex: UInt64 = 0
    private var hasPages = false
    /// Bytes that may still be taken for messages.
    private var left = JoinReply.maximumBytes

    /// Bytes that an operation takes besides its message, and an origin besides its bytes, about.
    private static let overhead = 64
    private static let memoryOfOrigin = 512

    init(_ bytes: [UInt8]) throws(BinaryFormError) {
        input = try BinaryReader(bytes)
        guard try input.byte() == replyKind else { throw input.damaged }
    }

    mutating func reply() throws(BinaryFormError) -> JoinReply {
        let flags = ReplyFlags(rawValue: try input.varint())
        guard flags.isSubset(of: .all) else { throw input.damaged }
        let room = try input.string(atMost: 256)
        let index = try input.index()
        let digest = BoardDigest(value: try input.word())
        let palette = try palette()
        let style = try input.string(atMost: 64)
        hasPages = flags.contains(.pages)
        let pages = hasPages ? try pages(hasPaper: flags.contains(.paper)) : BoardPages()
        let content =
            flags.contains(.tail)
            ? JoinReply.Content.tail(try operations()) : try board(hasRemovals: flags.contains(.removals))
        guard input.isAtEnd else { throw input.damaged }
        return JoinReply(
            room: room, index: index, digest: digest, palette: palette, style: style,
            isProvisional: flags.contains(.provisional), pages: pages, content: content)
    }

    private mutating func pages(hasPaper: Bool) throws(BinaryFormError) -> BoardPages {
        let (shown, order, hidden) = (try page(), try pageList(), try pageList())
        let papers = hasPaper ? try papers() : []
        guard let pages = BoardPages(shown: shown, order: order, hidden: hidden, papers: papers) else {
            throw input.damaged
        }
        return pages
    }

    private mutating func papers() throws(BinaryFormError) -> [(page: Int, paper: Paper)] {
        try list(atMost: PageNumber.range.count) { (reader) throws(BinaryFormError) in
            let page = try reader.page()
            let text = try reader.input.string(atMost: Paper.byteBound)
            guard let paper = try? Paper(decoding: Array(text.utf8)) else { throw reader.input.damaged }
            return (page, paper)
        }
    }

    private mutating func pageList() throws(BinaryFormError) -> [Int] {
        try list(atMost: PageNumber.range.count) { (reader) throws(BinaryFormError) in try reader.page() }
    }

    /// A number of elements, then the elements.
    private mutating func list<Element>(
        atMost bound: Int = .max, _ element: (inout Self) throws(BinaryFormError) -> Element
    ) throws(BinaryFormError) -> [Element] {
        let count = try input.count()
        guard count <= bound else { throw input.damaged }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try element(&self)) }
        return elements
    }

    private mutating func page() throws(BinaryFormError) -> Int {
        let page = try input.varint()
        guard page <= UInt64(PageNumber.range.upperBound) else { throw input.damaged }
        return Int(page)
    }

    private mutating func palette() throws(BinaryFormError) -> Palette {
        let colours: [UInt32] = try list { (reader) throws(BinaryFormError) in
            var colour: UInt32 = 0
            for _ in 0..<3 { colour = colour << 8 | UInt32(try reader.input.byte()) }
            return colour
        }
        guard let palette = Palette(colours: colours) else { throw input.damaged }
        return palette
    }

    private mutating func board(hasRemovals: Bool) throws(BinaryFormError) -> JoinReply.Content {
        let width = Double(bitPattern: try input.word())
        let height = Double(bitPattern: try input.word())
        guard (1...16384).contains(width), (1...16384).contains(height) else { throw input.damaged }
        let visible = try operations()
        let redo = try operations()
        let cleared = try list { (reader) throws(BinaryFormError) in
            try reader.take(Self.overhead)
            return ClearedBoard(
                index: try reader.input.index(), page: reader.hasPages ? try reader.page() : 0,
                indices: hasRemovals ? try reader.indices() : nil, visible: try reader.operations())
        }
        return .board(width: width, height: height, visible: visible, redo: redo, cleared: cleared)
    }

    /// The indices that a removal names; nil for a clear.
    private mutating func indices() throws(BinaryFormError) -> [UInt64]? {
        let indices = try list(atMost: StrokeMessage.removalBound) { (reader) throws(BinaryFormError) in
            try reader.input.index()
        }
        return indices.isEmpty ? nil : indices
    }

    private mutating func operations() throws(BinaryFormError) -> [JoinedOperation] {
        try list { (reader) throws(BinaryFormError) in try reader.operation() }
    }

    private mutating func operation() throws(BinaryFormError) -> JoinedOperation {
        let first = try input.varint()
        let bits = OperationFlags.bits(hasPages: hasPages)
        let flags = OperationFlags(rawValue: first & (1 << bits - 1))
        let number = first >> bits
        guard number <= UInt64(origins.count) else { throw input.damaged }
        if number == UInt64(origins.count) { origins.append(try origin()) }
        let origin = origins[Int(number)]
        let index = try difference(from: lastIndex, subtracted: false)
        lastIndex = index
        let reference = flags.contains(.reference) ? try difference(from: index, subtracted: true) : nil
        let digest = flags.contains(.digest) ? BoardDigest(value: try input.word()) : nil
        let page = flags.contains(.page) ? try page() : 0
        let payload = try input.dataRange()
        let message = try input.json(payload, origin.template, limit: left)
        try take(message.count + Self.overhead)
        return JoinedOperation(
            index: index, author: origin.author, reference: reference, isLate: flags.contains(.late), digest: digest,
            page: page, message: message[...])
    }

    private mutating func origin() throws(BinaryFormError) -> Origin {
        guard let author = AuthorID(try input.string(atMost: 64)) else { throw input.damaged }
        try take(Self.memoryOfOrigin)
        return Origin(author: author, template: try input.layout().template)
    }

    /// An index, from its difference.
    private mutating func difference(from base: UInt64, subtracted: Bool) throws(BinaryFormError) -> UInt64 {
        let change = UInt64(bitPattern: try input.signed())
        let index = subtracted ? base &- change : base &+ change
        guard index < UInt64(Int64.max) else { throw input.damaged }
        return index
    }

    private mutating func take(_ count: Int) throws(BinaryFormError) {
        left -= count
        guard left >= 0 else { throw .tooLarge(limit: JoinReply.maximumBytes) }
    }
}

extension BinaryReader {
    /// An index of a room, 0 … 2⁶³−2, as in JSON.
    fileprivate mutating func index() throws(BinaryFormError) -> UInt64 {
        let index = try varint()
        guard index < UInt64(Int64.max) else { throw damaged }
        return index
    }
}
