import DequeModule
import StrokeWire

extension CheckpointWriter {
    mutating func write(_ board: Board) {
        write(board.index)
        write(strokes: StrokeMoves.distinct(board.strokes))
        write(board.table.first)
        write(optional: board.fixedSize) { writer, size in
            writer.write(fixed: size.width.bitPattern)
            writer.write(fixed: size.height.bitPattern)
        }
        write(board.lastClears[0])
        let hasPages = board.hasPages || board.lastClears.pages.contains { $0 > 0 }
        write(hasPages)
        guard hasPages else { return }
        write(board.pages.shown)
        write(list: board.pages.order) { $0.write($1) }
        write(list: board.pages.hidden) { $0.write($1) }
        write(list: board.table.others) { writer, page in
            writer.write(page.number)
            writer.write(page)
        }
        write(list: board.lastClears.pages.filter { $0 > 0 }) { writer, page in
            writer.write(page)
            writer.write(board.lastClears[page])
        }
        guard format >= 7 else { return }
        write(list: board.pages.papers) { writer, paper in
            writer.write(paper.page)
            writer.write(paper.paper.encoded)
        }
    }

    private mutating func write(_ page: BoardPage) {
        write(indices: page.visible.map { $0.index })
        write(list: page.history.done) { $0.write($1) }
        write(list: page.history.undone) { $0.write($1) }
    }

    private mutating func write(_ entry: HistoryEntry) {
        switch entry {
        case .stroke(let stroke):
            write(Int(EntryKind.stroke.rawValue))
            write(stroke.index)
        case .removal(let removal, let removed, _):
            write(Int((removal.isClear ? EntryKind.clear : .removal).rawValue))
            write(removal.index)
            write(removal.author.text)
            write(removal.message)
            write(indices: removed.map { $0.index })
        }
    }
}

/// What an entry of a stack is. Removals are in no format below 8.
private enum EntryKind: UInt8 {
    case stroke, clear, removal
}

extension CheckpointReader {
    mutating func board(_ configuration: RoomConfiguration) throws(CheckpointError) -> Board {
        let index = try number()
        let strokes = try strokes()
        let first = try page(0, strokes, configuration)
        let size = try optional { (reader) throws(CheckpointError) in try reader.boardSize() }
        var lastClears = LastClears()
        lastClears[0] = try number()
        var (pages, others) = (BoardPages(), [BoardPage]())
        if version > 3, try flag() {
            let shown = try pageNumber()
            let order = try list { (reader) throws(CheckpointError) in try reader.pageNumber() }
            let hidden = try list { (reader) throws(CheckpointError) in try reader.pageNumber() }
            others = try list { (reader) throws(CheckpointError) in
                try reader.page(try reader.pageNumber(), strokes, configuration)
            }
            try require(zip([first] + others, others).allSatisfy { $0.number < $1.number })
            for _ in 0..<(try count()) {
                let page = try pageNumber()
                lastClears[page] = try number()
            }
            var papers: [(page: Int, paper: Paper)] = []
            for _ in 0..<(version > 6 ? try count() : 0) { papers.append((try pageNumber(), try paper())) }
            guard let known = BoardPages(shown: shown, order: order, hidden: hidden, papers: papers) else {
                throw damaged
            }
            pages = known
        }
        return Board(
            index: index, pages: pages, table: PageTable(first: first, others: others),
            size: configuration.boardSize ?? size, weightLimit: configuration.intake.boardPoints,
            lastClears: lastClears)
    }

    private mutating func page(
        _ number: Int, _ strokes: [UInt64: Stroke], _ configuration: RoomConfiguration
    ) throws(CheckpointError) -> BoardPage {
        let visible = try visible(strokes)
        let done = try list { (reader) throws(CheckpointError) in try reader.historyEntry(strokes, on: number) }
        let undone = try list { (reader) throws(CheckpointError) in try reader.historyEntry(strokes, on: number) }
        return BoardPage(
            number: number, history: History(configuration.history, done: done, undone: undone), visible: visible)
    }

    private mutating func paper() throws(CheckpointError) -> Paper {
        let text = try data()
        guard let paper = try? Paper(decoding: text) else { throw damaged }
        return paper
    }

    mutating func pageNumber() throws(CheckpointError) -> Int {
        let page = try integer()
        try require(page <= UInt64(PageNumber.range.upperBound))
        return Int(page)
    }

    private mutating func historyEntry(_ strokes: [UInt64: Stroke], on page: Int) throws(CheckpointError)
        -> HistoryEntry
    {
        guard let kind = EntryKind(rawValue: try byte()) else { throw damaged }
        let index = try number()
        if kind == .stroke {
            guard let stroke = strokes[index] else { throw damaged }
            return .stroke(stroke)
        }
        let author: AuthorID = try name()
        let removal =
            kind == .removal
            ? try removal(at: index, by: author, on: page)
            : Removal(index: index, author: author, page: page, message: try data())
        let removed = try visible(strokes)
        return .removal(removal, removed: removed, weight: removed.reduce(.zero) { $0 + $1.weight })
    }

    /// A removal of entries, with its message.
    private mutating func removal(
        at index: UInt64, by author: AuthorID, on page: Int
    ) throws(CheckpointError) -> Removal {
        try require(version > 7)
        let message = try data()
        guard let indices = (try? StrokeMessage(accepted: message))?.indices else { throw damaged }
        return Removal(index: index, author: author, page: page, indices: indices, message: message)
    }

    private mutating func visible(_ strokes: [UInt64: Stroke]) throws(CheckpointError) -> VisibleStrokes {
        var list: [Stroke] = []
        for index in try indices() {
            guard let stroke = strokes[index], index > list.last?.index ?? 0 else { throw damaged }
            list.append(stroke)
        }
        return VisibleStrokes(list)
    }

    private mutating func boardSize() throws(CheckpointError) -> BoardSize {
        let size = BoardSize(width: Double(bitPattern: try fixed()), height: Double(bitPattern: try fixed()))
        // What `w` and `h` of a message may be.
        let range = 1.0...16_384.0
        try require(range.contains(size.width) && range.contains(size.height))
        return size
    }
}

/// Each stroke is written once, whatever lists of the board it is in.
extension CheckpointWriter {
    mutating func write(strokes: [Stroke]) {
        var last: UInt64 = 0
        write(list: strokes) { writer, stroke in
            writer.write(stroke.index - last)
            last = stroke.index
            writer.write(stroke.author.text)
            writer.write(stroke)
        }
    }

    /// A stroke without what its operation has too.
    mutating func write(_ stroke: Stroke) {
        let extras = stroke.extras
        write(Int(extras.flags))
        if extras.page > 0 { write(extras.page) }
        if extras.copied > 0 { write(extras.copied) }
        write(stroke.message, pointCount: stroke.pointCount)
    }
}

extension CheckpointReader {
    mutating func strokes() throws(CheckpointError) -> [UInt64: Stroke] {
        var strokes: [UInt64: Stroke] = [:]
        var last: UInt64 = 0
        let count = try count()
        writer = StrokeWriter(expecting: bytesLeft + 2 * count)
        for _ in 0..<count {
            last += try number()
            try require(last <= CheckpointFormat.numberBound)
            let stroke = try stroke(at: last, by: try name())
            try require(stroke.kind != .pointer)
            strokes[last] = stroke
        }
        return strokes
    }

    mutating func stroke(at index: UInt64, by author: AuthorID) throws(CheckpointError) -> Stroke {
        // Before, a flag alone stood here.
        let flags = try integer()
        guard flags <= UInt64(version > 3 ? StrokeExtras.greatestFlags : 1) else { throw damaged }
        var extras = StrokeExtras(flags: UInt8(flags))
        try require(extras.kind != .text || version > 8)
        if StrokeExtras.hasPage(UInt8(flags)) { extras.page = try pageNumber() }
        if StrokeExtras.hasCopied(UInt8(flags)) {
            extras.copied = Int(min(try integer(), CheckpointFormat.numberBound))
        }
        let (message, pointCount) = try packedMessage()
        return writer.write(index: index, author: author, extras, pointCount: pointCount, message: message)
    }
}

/// Operations after the board of a checkpoint, without digests, which follow from the board.
extension CheckpointWriter {
    mutating func write(_ operation: Operation) {
        write(operation.author.text)
        write(signed: operation.number)
        write(optional: operation.time) { $0.write(signed: $1) }
        write(Int(operation.action.rawValue))
        switch operation.effect {
        case .draw(let stroke):
            write(operation.isJoined)
            write(stroke)
        case .undo(let reference, let page), .redo(let reference, let page):
            write(reference)
            write(page)
            write(operation.message)
        case .clear(let removal), .remove(let removal):
            write(removal.page)
            write(removal.message)
        case .turn(let page):
            write(page)
            write(operation.message)
        case .arrange(let order, _):
            write(list: order) { $0.write($1) }
            write(operation.message)
        case .paper(let paper, let page):
            write(page)
            write(paper.encoded)
            write(operation.message)
        }
    }
}

extension CheckpointReader {
    /// The operation after `head`, applied to it.
    mutating func operation(after head: inout Board) throws(CheckpointError) -> Operation {
        let index = head.index + 1
        try require(index <= CheckpointFormat.numberBound)
        let author: AuthorID = try name()
        let number = try signed()
        let time = try optional { (reader) throws(CheckpointError) in try reader.signed() }
        let (effect, message, isJoined) = try effect(after: head, by: author)
        head.apply(effect, at: index)
        let isLate = if case .draw(let stroke) = effect { stroke.isLate } else { false }
        return Operation(
            index: index, author: author, number: number, effect: effect, isLate: isLate, time: time,
            digest: head.digest, message: message, isJoined: isJoined)
    }

    /// Strokes stay packed: their message is empty.
    private mutating func effect(
        after head: borrowing Board, by author: AuthorID
    ) throws(CheckpointError) -> (Operation.Effect, message: [UInt8], isJoined: Bool) {
        let index = head.index + 1
        switch Action(rawValue: try byte()) {
        case .draw:
            let isJoined = try flag()
            return (.draw(try stroke(at: index, by: author)), [], isJoined)
        case .undo: return (.undo(reference: try number(), page: try laterPage()), try data(), false)
        case .redo: return (.redo(reference: try number(), page: try laterPage()), try data(), false)
        case .clear:
            let page = try laterPage()
            let message = try data()
            return (.clear(Removal(index: index, author: author, page: page, message: message)), message, false)
        case .remove:
            let removal = try removal(at: index, by: author, on: try pageNumber())
            return (.remove(removal), removal.message, false)
        case .turn: return (.turn(page: try pageNumber()), try data(), false)
        case .arrange:
            let order = try list { (reader) throws(CheckpointError) in try reader.pageNumber() }
            try require(PageNumber.isOrder(order))
            var pages = head.pages
            pages.arrange(order)
            return (.arrange(order, shown: pages.shown), try data(), false)
        case .paper:
            let page = try pageNumber()
            return (.paper(try paper(), page: page), try data(), false)
        case nil: throw damaged
        }
    }
}

extension CheckpointReader {
    /// The page of an operation; page 0 in formats that have none.
    fileprivate mutating func laterPage() throws(CheckpointError) -> Int { version > 3 ? try pageNumber() : 0 }
}

extension CheckpointWriter {
    /// A message as it is in memory, packed or not.
    mutating func write(_ message: PackedMessage, pointCount: Int) {
        switch message.storage {
        case .plain(let bytes):
            write(false)
            write(bytes)
            write(pointCount)
        case .packed(let entry, let numbers):
            write(true)
            write(entry)
            write(numbers)
        }
    }
}

extension CheckpointReader {
    mutating func packedMessage() throws(CheckpointError) -> (message: PackedMessage, pointCount: Int) {
        guard try flag() else {
            let bytes = try data()
            let points = try integer()
            // A point takes several bytes.
            try require(points <= UInt64(bytes.count) && bytes.count <= Stroke.maximumBytes)
            return (PackedMessage(bytes), Int(points))
        }
        let entry = try template()
        let numbers = try data()
        let form: PackedForm = version < 2 ? .first : .current
        guard let (points, size) = MessageUnpacker.measure(numbers, template: entry.template, form: form) else {
            throw damaged
        }
        guard form == .first else {
            return (PackedMessage(template: entry, ownBytes: numbers, messageByteCount: size), points)
        }
        var unpacker = MessageUnpacker(template: entry.template, numbers: numbers, form: form)
        guard let message = PackedMessage(unpacker.unpack(byteCount: size), by: entry) else { throw damaged }
        return (message, points)
    }
}
