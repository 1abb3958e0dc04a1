public import StrokeWire

/// The visible strokes of a board, bottom to top, in the order of their indices.
///
/// Has a word for each block of strokes, with a bit for each of them that is visible.
public struct VisibleStrokes: Sendable {
    fileprivate struct Chunk {
        let block: StrokeBlock
        /// The visible ones by their numbers in the block; not 0.
        var numbers: UInt64
    }

    /// In the order of the blocks.
    private var chunks: [Chunk] = []
    /// Number of strokes.
    public private(set) var count = 0
    /// Digest of the whole list.
    public private(set) var digest = BoardDigest.empty

    init() {}

    init(_ strokes: [Stroke]) {
        for stroke in strokes { insert(stroke) }
    }

    /// Inserts a stroke by its index; does nothing where it is there, as a damaged checkpoint may have it.
    mutating func insert(_ stroke: Stroke) {
        // Most strokes come on top.
        let position =
            if let top = chunks.last, top.block.firstIndex < stroke.block.firstIndex { chunks.count } else {
                position(of: stroke.block)
            }
        let bit: UInt64 = 1 << stroke.number
        if position < chunks.count, chunks[position].block === stroke.block {
            guard chunks[position].numbers & bit == 0 else { return }
            chunks[position].numbers |= bit
        } else {
            chunks.insert(Chunk(block: stroke.block, numbers: bit), at: position)
        }
        count += 1
        digest.insert(stroke.index)
    }

    /// The stroke with an index; nil where it is not among these.
    package func stroke(at index: UInt64) -> Stroke? {
        let position = chunks.partitioningIndex { $0.block.firstIndex > index } - 1
        guard position >= 0 else { return nil }
        let chunk = chunks[position]
        var numbers = chunk.numbers
        while numbers != 0 {
            let stroke = Stroke(chunk.block, numbers.trailingZeroBitCount)
            if stroke.index == index { return stroke }
            numbers &= numbers - 1
        }
        return nil
    }

    /// Removes a stroke; does nothing where it is not there, as a damaged checkpoint may have it.
    mutating func remove(_ stroke: Stroke) {
        let position = position(of: stroke.block)
        let bit: UInt64 = 1 << stroke.number
        guard position < chunks.count, chunks[position].block === stroke.block, chunks[position].numbers & bit != 0
        else { return }
        chunks[position].numbers &= ~bit
        if chunks[position].numbers == 0 { chunks.remove(at: position) }
        count -= 1
        digest.remove(stroke.index)
    }

    /// Removes the strokes that have one of these indices.
    /// - Returns: those that were there.
    mutating func remove(_ indices: [UInt64]) -> VisibleStrokes {
        var removed = VisibleStrokes()
        for index in indices {
            guard let stroke = stroke(at: index) else { continue }
            remove(stroke)
            removed.insert(stroke)
        }
        return removed
    }

    /// Inserts other strokes. Takes a step for each block.
    mutating func formUnion(_ other: VisibleStrokes) {
        var merged: [Chunk] = []
        merged.reserveCapacity(chunks.count + other.chunks.count)
        var rest = chunks[...]
        for chunk in other.chunks {
            while let first = rest.first, first.block.firstIndex < chunk.block.firstIndex {
                merged.append(rest.removeFirst())
            }
            guard let same = rest.first, same.block === chunk.block else {
                merged.append(chunk)
                continue
            }
            rest.removeFirst()
            merged.append(Chunk(block: chunk.block, numbers: same.numbers | chunk.numbers))
            // Those that were there already count once.
            var both = same.numbers & chunk.numbers
            while both != 0 {
                count -= 1
                digest.remove(Stroke(chunk.block, both.trailingZeroBitCount).index)
                both &= both - 1
            }
        }
        chunks = merged + rest
        count += other.count
        digest.add(other.digest)
    }

    /// Replaces strokes by the same ones in other blocks.
    mutating func move(_ moves: StrokeMoves) { self = VisibleStrokes(map { moves[$0] }) }

    /// Frees memory reserved for more strokes.
    mutating func compact() {
        if chunks.count < chunks.capacity { chunks = chunks.withUnsafeBufferPointer(Array.init) }
    }

    /// Position of the first chunk of this block or a later one.
    private func position(of block: StrokeBlock) -> Int {
        chunks.partitioningIndex { $0.block.firstIndex >= block.firstIndex }
    }
}

extension VisibleStrokes: BidirectionalCollection {
    /// The position of a stroke in the collection.
    public struct Index: Comparable, Sendable {
        fileprivate var chunk: Int
        fileprivate var number: Int

        public static func < (left: Index, right: Index) -> Bool {
            (left.chunk, left.number) < (right.chunk, right.number)
        }
    }

    public var startIndex: Index { Index(chunk: 0, number: chunks.first?.numbers.trailingZeroBitCount ?? 0) }
    public var endIndex: Index { Index(chunk: chunks.count, number: 0) }

    public func index(after index: Index) -> Index {
        let above = chunks[index.chunk].numbers & ~(.max >> (63 - UInt64(index.number)))
        if above != 0 { return Index(chunk: index.chunk, number: above.trailingZeroBitCount) }
        let next = index.chunk + 1
        return next < chunks.count ? Index(chunk: next, number: chunks[next].numbers.trailingZeroBitCount) : endIndex
    }

    public func index(before index: Index) -> Index {
        if index.chunk < chunks.count {
            let below = chunks[index.chunk].numbers & ((1 << UInt64(index.number)) - 1)
            if below != 0 { return Index(chunk: index.chunk, number: 63 - below.leadingZeroBitCount) }
        }
        let previous = index.chunk - 1
        return Index(chunk: previous, number: 63 - chunks[previous].numbers.leadingZeroBitCount)
    }

    public subscript(index: Index) -> Stroke { Stroke(chunks[index.chunk].block, index.number) }
}
