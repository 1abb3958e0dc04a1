import StrokeWire
import Synchronization

/// A slotted block: up to 64 strokes of a room in one piece of memory, in the order of their indices.
///
/// Records grow from the front, slots from the back; a slot is the offset of its record. A block only grows: what is
/// written is never changed or moved, so readers on other threads need no lock. Copies of a room share their blocks; the
/// first copy that appends gets the end of the block, the others begin new ones.
final class StrokeBlock: @unchecked Sendable {
    /// The greatest number of strokes, which ``VisibleStrokes`` has as bits of a word.
    static let maximumCount = 64

    /// No stroke of the block has a lesser index, nor one of an earlier block of the room a greater one.
    let firstIndex: UInt64
    /// The authors and templates of its strokes, by their numbers in the records.
    let origins: [StrokeOrigin]
    /// Bytes of records and slots.
    let capacity: Int
    private let memory: UnsafeMutableRawPointer
    /// The ``End/bits`` of what is written.
    private let end = Atomic<UInt64>(End().bits)

    private typealias Slot = UInt16

    /// How far a block is written.
    struct End: Equatable {
        fileprivate(set) var count = 0
        fileprivate var recordBytes = 0

        /// Bytes of records and slots.
        var byteCount: Int { recordBytes + count * MemoryLayout<Slot>.stride }
        fileprivate var bits: UInt64 { UInt64(count) << 56 | UInt64(recordBytes) }
    }

    init(firstIndex: UInt64, origins: [StrokeOrigin], capacity: Int) {
        (self.firstIndex, self.origins) = (firstIndex, origins)
        self.capacity = (capacity + 1) & ~1
        memory = .allocate(byteCount: self.capacity, alignment: MemoryLayout<Slot>.alignment)
    }

    deinit { memory.deallocate() }

    /// Bytes that a stroke takes in a block.
    static func byteCount(_ fields: StrokeFields) -> Int { fields.recordByteCount + MemoryLayout<Slot>.stride }

    /// Appends a stroke.
    /// - Parameters:
    ///   - packed: its packed message.
    ///   - end: how far the caller knows the block to be written; moved on.
    /// - Returns: its number; nil where there is no space, or where another copy of the room has gone on writing.
    func append(_ fields: StrokeFields, _ packed: [UInt8], at end: inout End) -> Int? {
        var next = end
        next.count += 1
        next.recordBytes += fields.recordByteCount
        guard next.count <= Self.maximumCount, next.byteCount <= capacity, end.recordBytes <= Int(Slot.max),
            self.end.compareExchange(expected: end.bits, desired: next.bits, ordering: .acquiringAndReleasing).exchanged
        else { return nil }
        let start = fields.write(to: memory + end.recordBytes)
        packed.withUnsafeBytes { packed in
            if let bytes = packed.baseAddress { start.copyMemory(from: bytes, byteCount: packed.count) }
        }
        slot(end.count).initialize(to: Slot(end.recordBytes))
        defer { end = next }
        return end.count
    }

    /// The fields of a stroke that was appended.
    func fields(of number: Int) -> StrokeFields { record(number).fields }

    /// A copy of the packed message of a stroke that was appended.
    func packedMessage(of number: Int) -> [UInt8] {
        let (fields, packed) = record(number)
        return Array(UnsafeRawBufferPointer(start: packed, count: fields.packedByteCount))
    }

    private func record(_ number: Int) -> (fields: StrokeFields, packed: UnsafeRawPointer) {
        var position = UnsafeRawPointer(memory + Int(slot(number).pointee))
        let fields = StrokeFields(from: &position)
        return (fields, position)
    }

    private func slot(_ number: Int) -> UnsafeMutablePointer<Slot> {
        (memory + capacity - (number + 1) * MemoryLayout<Slot>.stride).assumingMemoryBound(to: Slot.self)
    }
}

/// The fields of a stroke in a block, before its packed message: each a ``Varint``.
struct StrokeFields {
    /// The stroke's index less the block's ``StrokeBlock/firstIndex``.
    let indexOffset: UInt64
    /// The number of the origin in ``StrokeBlock/origins``.
    let origin: Int
    let extras: StrokeExtras
    let pointCount: Int
    /// The size of the message itself.
    let messageByteCount: Int
    /// The size of the packed message.
    let packedByteCount: Int

    init(
        indexOffset: UInt64, origin: Int, extras: StrokeExtras, pointCount: Int, messageByteCount: Int,
        packedByteCount: Int
    ) {
        (self.indexOffset, self.origin, self.extras, self.pointCount) = (indexOffset, origin, extras, pointCount)
        (self.messageByteCount, self.packedByteCount) = (messageByteCount, packedByteCount)
    }

    private var integers: (UInt64, UInt64, UInt64, UInt64, UInt64) {
        (
            indexOffset, UInt64(origin) << StrokeExtras.flagBits | UInt64(extras.flags), UInt64(pointCount),
            UInt64(messageByteCount), UInt64(packedByteCount)
        )
    }

    /// Bytes of the fields and the packed message.
    fileprivate var recordByteCount: Int {
        let (offset, origin, points, size, packed) = integers
        return Varint.byteCount(offset) + Varint.byteCount(origin) + extras.byteCount + Varint.byteCount(points)
            + Varint.byteCount(size) + Varint.byteCount(packed) + packedByteCount
    }

    /// - Returns: the end of what is written.
    fileprivate func write(to start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        var position = start
        let (offset, origin, points, size, packed) = integers
        Varint.write(offset, to: &position)
        Varint.write(origin, to: &position)
        if extras.hasPage { Varint.write(UInt64(extras.page), to: &position) }
        if extras.hasCopied { Varint.write(UInt64(extras.copied), to: &position) }
        Varint.write(points, to: &position)
        Varint.write(size, to: &position)
        Varint.write(packed, to: &position)
        return position
    }

    /// Reads what was written, and moves behind it.
    fileprivate init(from position: inout UnsafeRawPointer) {
        indexOffset = Varint.read(&position)
        let origin = Varint.read(&position)
        self.origin = Int(origin >> StrokeExtras.flagBits)
        var extras = StrokeExtras(flags: UInt8(truncatingIfNeeded: origin & StrokeExtras.flagMask)) ?? StrokeExtras()
        if extras.hasPage { extras.page = Int(Varint.read(&position)) }
        if extras.hasCopied { extras.copied = Int(Varint.read(&position)) }
        self.extras = extras
        pointCount = Int(Varint.read(&position))
        messageByteCount = Int(Varint.read(&position))
        packedByteCount = Int(Varint.read(&position))
    }
}

/// Fields that few strokes have; for all others they take a few bits.
struct StrokeExtras: Sendable, Equatable {
    /// Whether it came after it had been given up.
    var isLate = false
    /// The page of the board.
    var page = 0 { didSet { hasPage = page > 0 } }
    var kind = StrokeKind.stroke
    /// What a lasso that leaves the original copies, in ``Weight/points``.
    var copied = 0 { didSet { hasCopied = copied > 0 } }
    fileprivate(set) var hasPage = false
    fileprivate(set) var hasCopied = false

    static let flagBits: UInt64 = 5
    static let flagMask: UInt64 = 1 << flagBits - 1
    static let greatestFlags = UInt8(flagMask)

    init() {}

    init(isLate: Bool, page: Int, kind: StrokeKind = .stroke, copied: Int = 0) {
        (self.isLate, self.page, self.kind, self.copied) = (isLate, page, kind, copied)
        hasPage = page > 0
        hasCopied = copied > 0
    }

    /// What the flags say; the page and the weight have to be read. Two bits are the kind; the last one says of a lasso that a
    /// weight follows, and makes a text of a pointer, for neither copies anything.
    init?(flags: UInt8) {
        guard let kind = StrokeKind(rawValue: flags >> 1 & 3) else { return nil }
        let isText = kind == .pointer && flags & 16 == 16
        isLate = flags & 1 == 1
        self.kind = isText ? .text : kind
        hasPage = flags & 8 == 8
        hasCopied = flags & 16 == 16 && !isText
    }

    var flags: UInt8 {
        let isText = kind == .text
        let kindBits = isText ? StrokeKind.pointer.rawValue : kind.rawValue
        return (isLate ? 1 : 0) | kindBits << 1 | (hasPage ? 8 : 0) | (hasCopied || isText ? 16 : 0)
    }

    /// Bytes beside the flags.
    fileprivate var byteCount: Int {
        (hasPage ? Varint.byteCount(UInt64(page)) : 0) + (hasCopied ? Varint.byteCount(UInt64(copied)) : 0)
    }
}

/// What a stroke is: an entry of a page, or a pointer.
public enum StrokeKind: UInt8, Sendable {
    /// A stroke, a shape, or an eraser.
    case stroke
    case image
    case lasso
    /// No entry of a board: an operation of the log alone.
    case pointer
    /// Has no bits of its own; see ``StrokeExtras/flags``.
    case text

    init(_ element: Element) {
        switch element {
        case .image: self = .image
        case .lasso: self = .lasso
        case .pointer: self = .pointer
        case .text: self = .text
        default: self = .stroke
        }
    }
}

/// Writes the strokes of a room to blocks, in the order of their indices.
struct StrokeWriter: Sendable {
    private var origins = StrokeOrigins()
    private var block: StrokeBlock?
    private var end = StrokeBlock.End()
    /// Of the next block. Grows while blocks are filled, and shrinks while they are not, so that little is left unused
    /// whatever ends them: large strokes, new origins, copies of the room.
    private var capacity = Self.leastCapacity
    /// Bytes of strokes that are yet to be written, as far as known.
    private var expected = 0
    /// Bytes of the blocks, of which some may be gone.
    private(set) var blockBytes = 0

    /// Bytes. A larger stroke has a block of its own.
    private static let leastCapacity = 256
    private static let greatestCapacity = 2048

    init() {}

    /// A writer of as many bytes of strokes, about: the last block has no space left for more.
    init(expecting bytes: Int) { expected = bytes }

    /// Writes a stroke.
    /// - Parameters:
    ///   - index: greater than that of the stroke before.
    ///   - message: at most ``Stroke/maximumBytes``.
    mutating func write(
        index: UInt64, author: AuthorID, _ extras: StrokeExtras = StrokeExtras(), pointCount: Int,
        message: PackedMessage
    ) -> Stroke {
        let origin = origins.number(of: author, message.template)
        func fields(in firstIndex: UInt64) -> StrokeFields {
            StrokeFields(
                indexOffset: index - firstIndex, origin: origin, extras: extras,
                pointCount: pointCount, messageByteCount: message.messageByteCount,
                packedByteCount: message.ownBytes.count)
        }
        defer { expected = max(0, expected - StrokeBlock.byteCount(fields(in: index))) }
        if let block, origins.agree(with: block.origins, on: origin),
            let number = block.append(fields(in: block.firstIndex), message.ownBytes, at: &end)
        {
            return Stroke(block, number)
        }
        let first = fields(in: index)
        let block = begin(at: index, StrokeBlock.byteCount(first))
        guard let number = block.append(first, message.ownBytes, at: &end) else {
            preconditionFailure("a new block has space for its first stroke")
        }
        return Stroke(block, number)
    }

    /// Writes a stroke again, to another block.
    fileprivate mutating func write(_ stroke: Stroke) -> Stroke {
        write(
            index: stroke.index, author: stroke.author, stroke.extras, pointCount: stroke.pointCount,
            message: stroke.message)
    }

    /// Writes the strokes anew where their blocks have much that is gone, or space that is not used.
    /// - Parameters:
    ///   - strokes: all that are still needed, in any order, some more than once.
    ///   - waste: bytes of the blocks that may be gone or unused, at least; an eighth of the others may be in any case.
    /// - Returns: the same strokes in their new blocks; nil where they stay where they are.
    mutating func compact(_ strokes: [Stroke], wasting waste: Int) -> StrokeMoves? {
        let strokes = StrokeMoves.distinct(strokes)
        var bytes = 0
        blockBytes = 0
        var last: StrokeBlock?
        for stroke in strokes {
            bytes += stroke.byteCount
            if stroke.block !== last { blockBytes += stroke.block.capacity }
            last = stroke.block
        }
        guard blockBytes > bytes + max(waste, bytes / 8) else { return nil }
        self = StrokeWriter(expecting: bytes + strokes.count / 8)
        return StrokeMoves(from: strokes, to: strokes.map { write($0) })
    }

    private mutating func begin(at index: UInt64, _ least: Int) -> StrokeBlock {
        if let block {
            if end.byteCount * 4 > block.capacity * 3 {
                capacity = min(capacity * 2, Self.greatestCapacity)
            } else if end.byteCount * 2 < block.capacity {
                capacity = max(capacity / 2, Self.leastCapacity)
            }
        }
        let wanted = expected > 0 ? min(expected, Self.greatestCapacity) : capacity
        let new = StrokeBlock(firstIndex: index, origins: origins.all, capacity: max(least, wanted))
        blockBytes += new.capacity
        block = new
        end = StrokeBlock.End()
        return new
    }
}

/// Strokes and the same ones in other blocks.
struct StrokeMoves {
    /// In the order of their indices.
    private let from: [Stroke]
    private let to: [Stroke]

    fileprivate init(from: [Stroke], to: [Stroke]) { (self.from, self.to) = (from, to) }

    subscript(stroke: Stroke) -> Stroke {
        let index = stroke.index
        return to[from.partitioningIndex { $0.index >= index }]
    }

    /// Each stroke once, in the order of their indices.
    static func distinct(_ strokes: [Stroke]) -> [Stroke] {
        var distinct: [Stroke] = []
        for stroke in strokes.sorted(by: { $0.index < $1.index }) where stroke.index != distinct.last?.index {
            distinct.append(stroke)
        }
        return distinct
    }
}

/// The author and template that many strokes of a room have in common.
final class StrokeOrigin: Sendable {
    let author: AuthorID
    /// nil for messages that are not packed.
    let template: TemplateTable.Entry?

    init(author: AuthorID, template: TemplateTable.Entry?) {
        (self.author, self.template) = (author, template)
    }
}

/// The origins of a room's strokes, one object for each. Starts afresh where it is full; blocks keep the origins that they
/// have.
private struct StrokeOrigins: Sendable {
    /// By their numbers.
    private(set) var all: [StrokeOrigin] = []
    /// The number of the last one used, most likely the next stroke's.
    private var recent = 0

    /// Bytes of the origins and their templates, about.
    private var byteCount = 0

    /// The greatest number of them: a block keeps as many references.
    private static let countBound = 64
    private static let byteBound = 16 << 10
    /// Bytes of an origin, about.
    private static let overhead = 64

    mutating func number(of author: AuthorID, _ template: TemplateTable.Entry?) -> Int {
        if all.indices.contains(recent), has(recent, author, template) { return recent }
        if let known = all.indices.first(where: { has($0, author, template) }) {
            recent = known
        } else {
            let size = Self.overhead + (template?.template.byteCount ?? 0)
            if all.count == Self.countBound || byteCount + size > Self.byteBound { (all, byteCount) = ([], 0) }
            byteCount += size
            all.append(StrokeOrigin(author: author, template: template))
            recent = all.count - 1
        }
        return recent
    }

    private func has(_ number: Int, _ author: AuthorID, _ template: TemplateTable.Entry?) -> Bool {
        all[number].template === template && all[number].author == author
    }

    /// Whether a number means the same in the origins of a block.
    func agree(with block: [StrokeOrigin], on number: Int) -> Bool {
        number < block.count && block[number] === all[number]
    }
}

extension Varint {
    /// The number of bytes of an integer.
    fileprivate static func byteCount(_ value: UInt64) -> Int { max(1, (70 - value.leadingZeroBitCount) / 7) }

    /// Writes an integer and moves behind it.
    fileprivate static func write(_ value: UInt64, to position: inout UnsafeMutableRawPointer) {
        var rest = value
        while rest >= 0x80 {
            position.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
            position += 1
            rest >>= 7
        }
        position.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        position += 1
    }

    /// Reads an integer that was written, and moves behind it.
    fileprivate static func read(_ position: inout UnsafeRawPointer) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = position.load(as: UInt8.self)
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }
}
