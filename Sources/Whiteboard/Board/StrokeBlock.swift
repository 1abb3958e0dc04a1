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
    let capacity: Int
    private let memory: UnsafeMutableRawPointer
    /// The ``End/bits`` of what is written.
    private let end = Atomic<UInt64>(End().bits)

    private typealias Slot = UInt16

    /// How far a block is written.
    struct End: Equatable {
        fileprivate(set) var count = 0
        fileprivate var recordBytes = 0

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
        if extras.page > 0 { Varint.write(UInt64(extras.page), to: &position) }
        if extras.copied > 0 { Varint.write(UInt64(extras.copied), to: &position) }
        Varint.write(points, to: &position)
        Varint.write(size, to: &position)
        Varint.write(packed, to: &position)
        return position
    }
}

extension StrokeFields {
    /// Reads what was written, and moves behind it.
    fileprivate init(from position: inout UnsafeRawPointer) {
        indexOffset = Varint.read(&position)
        let origin = Varint.read(&position)
        self.origin = Int(origin >> StrokeExtras.flagBits)
        let flags = UInt8(truncatingIfNeeded: origin & StrokeExtras.flagMask)
        var extras = StrokeExtras(flags: flags)
        if StrokeExtras.hasPage(flags) { extras.page = Int(Varint.read(&position)) }
        if StrokeExtras.hasCopied(flags) { extras.copied = Int(Varint.read(&position)) }
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
    var page = 0
    var kind = StrokeKind.stroke
    /// What a lasso that leaves the original copies, in ``Weight/points``.
    var copied = 0

    static let flagBits: UInt64 = 5
    static let flagMask: UInt64 = 1 << flagBits - 1
    static let greatestFlags = UInt8(flagMask)
}

/// The flags: whether it is late, two bits of the kind, whether a page follows. The last one says of a lasso that a weight
/// follows, and makes a text of a pointer, for neither copies anything.
extension StrokeExtras {
    /// What the flags say; the page and the weight have to be read.
    init(flags: UInt8) {
        let kind = StrokeKind(rawValue: flags >> 1 & 3) ?? .stroke
        self.init(isLate: flags & 1 == 1, kind: kind == .pointer && flags & 16 == 16 ? .text : kind)
    }

    static func hasPage(_ flags: UInt8) -> Bool { flags & 8 == 8 }
    static func hasCopied(_ flags: UInt8) -> Bool { flags & 16 == 16 && StrokeExtras(flags: flags).kind != .text }

    var flags: UInt8 {
        let isText = kind == .text
        let kindBits = isText ? StrokeKind.pointer.rawValue : kind.rawValue
        return (isLate ? 1 : 0) | kindBits << 1 | (page > 0 ? 8 : 0) | (copied > 0 || isText ? 16 : 0)
    }

    /// Bytes beside the flags.
    fileprivate var byteCount: Int {
        (page > 0 ? Varint.byteCount(UInt64(page)) : 0) + (copied > 0 ? Varint.byteCount(UInt64(copied)) : 0)
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
