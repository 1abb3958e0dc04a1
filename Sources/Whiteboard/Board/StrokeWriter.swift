import StrokeWire

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
