public import StrokeWire

/// The strokes on a board, bottom to top, in the order of their indices.
///
/// Each carries the digest of the list up to and including itself, so that adding or removing near the top costs
/// nothing for what lies below. They lie in chunks that the versions of a list share: a copy that goes on costs the
/// last chunk and one reference for each of the others.
public struct VisibleStrokes: Sendable {
    public struct Element: Sendable {
        public let stroke: Stroke
        /// Digest of the visible strokes up to this one.
        public let digest: BoardDigest
    }

    /// All full but the last, and none empty.
    private var chunks: [[Element]] = []
    /// How many there are.
    public private(set) var count = 0

    private static let chunkBits = 6
    private static let chunkCount = 1 << chunkBits

    init() {}

    init(_ strokes: [Stroke]) {
        for stroke in strokes { insert(stroke) }
    }

    /// Digest of the whole list.
    public var digest: BoardDigest { chunks.last?.last?.digest ?? .empty }

    /// What the strokes count for where memory is bounded.
    var weight: Int { reduce(0) { $0 + $1.stroke.weight } }

    /// Puts a stroke where its index belongs.
    mutating func insert(_ stroke: Stroke) {
        let position = position(of: stroke.index)
        guard position < count else { return append(stroke) }
        let later = truncate(to: position)
        append(stroke)
        for stroke in later { append(stroke) }
    }

    /// Takes the stroke with this index away; nil where there is none.
    mutating func remove(_ index: UInt64) -> Stroke? {
        let position = position(of: index)
        guard position < count, self[position].stroke.index == index else { return nil }
        let later = truncate(to: position)
        for stroke in later.dropFirst() { append(stroke) }
        return later.first
    }

    /// Puts back what a clear took away.
    mutating func restore(_ cleared: VisibleStrokes) {
        let later = self
        self = cleared
        for element in later { insert(element.stroke) }
    }

    /// Gives back memory that was taken for strokes to come.
    mutating func compact() {
        guard let last = chunks.last, last.count < last.capacity else { return }
        chunks[chunks.count - 1] = last.withUnsafeBufferPointer(Array.init)
        chunks = chunks.withUnsafeBufferPointer(Array.init)
    }

    /// - Precondition: no stroke has a greater index.
    private mutating func append(_ stroke: Stroke) {
        let element = Element(stroke: stroke, digest: digest.appending(index: stroke.index))
        if count & (Self.chunkCount - 1) == 0 {
            chunks.append([element])
        } else {
            chunks[chunks.count - 1].append(element)
        }
        count += 1
    }

    /// - Returns: the strokes from `position` on.
    private mutating func truncate(to position: Int) -> [Stroke] {
        let removed = self[position...].map(\.stroke)
        let (full, rest) = (position >> Self.chunkBits, position & (Self.chunkCount - 1))
        chunks.removeLast(chunks.count - (rest == 0 ? full : full + 1))
        if rest > 0 { chunks[full].removeLast(chunks[full].count - rest) }
        count = position
        return removed
    }

    private func position(of index: UInt64) -> Int {
        if let last = chunks.last?.last, last.stroke.index < index { return count }
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].stroke.index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension VisibleStrokes: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    public subscript(position: Int) -> Element {
        chunks[position >> Self.chunkBits][position & (Self.chunkCount - 1)]
    }
}
