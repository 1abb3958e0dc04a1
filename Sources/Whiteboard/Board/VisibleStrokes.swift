public import StrokeWire

/// The visible strokes of a board, bottom to top, in the order of their indices.
///
/// Kept in chunks that versions of the list share: inserting or removing a stroke copies its chunk and, in a shared
/// version, one reference for each other chunk.
public struct VisibleStrokes: Sendable {
    /// None is empty, and none has more than ``chunkCapacity`` strokes.
    private var chunks: [[Stroke]] = []
    /// Number of strokes.
    public private(set) var count = 0
    /// Digest of the whole list.
    public private(set) var digest = BoardDigest.empty

    private static let chunkCapacity = 64

    init() {}

    init(_ strokes: [Stroke]) {
        for stroke in strokes { insert(stroke) }
    }

    /// The strokes' ``BoardWeight``.
    var weight: Int { reduce(0) { $0 + $1.weight } }

    /// Inserts a stroke by its index.
    /// - Precondition: no stroke has this index.
    mutating func insert(_ stroke: Stroke) {
        count += 1
        digest.insert(stroke.index)
        var place = place(of: stroke.index)
        // Between two chunks a stroke goes to the end of the lower one; on top of all, to the end of the last one.
        if place.offset == 0, place.chunk > 0 {
            place = (place.chunk - 1, chunks[place.chunk - 1].count)
        }
        if place.chunk < chunks.count, chunks[place.chunk].count == Self.chunkCapacity {
            place = split(at: place)
        }
        if place.chunk == chunks.count {
            chunks.append([stroke])
        } else {
            chunks[place.chunk].insert(stroke, at: place.offset)
        }
    }

    /// Removes the stroke with this index.
    /// - Returns: nil where there is none.
    mutating func remove(_ index: UInt64) -> Stroke? {
        let (chunk, offset) = place(of: index)
        guard chunk < chunks.count, chunks[chunk][offset].index == index else { return nil }
        count -= 1
        digest.remove(index)
        let stroke = chunks[chunk].remove(at: offset)
        if chunks[chunk].isEmpty {
            chunks.remove(at: chunk)
        } else if chunk + 1 < chunks.count, chunks[chunk].count + chunks[chunk + 1].count <= Self.chunkCapacity / 2 {
            chunks[chunk] += chunks.remove(at: chunk + 1)
        }
        return stroke
    }

    /// Inserts the strokes that a clear removed.
    mutating func restore(_ cleared: VisibleStrokes) {
        let later = self
        self = cleared
        for stroke in later { insert(stroke) }
    }

    /// Frees memory reserved for more strokes.
    mutating func compact() {
        for (position, chunk) in chunks.enumerated() where chunk.count + 8 <= chunk.capacity {
            chunks[position] = chunk.withUnsafeBufferPointer(Array.init)
        }
        if chunks.count < chunks.capacity { chunks = chunks.withUnsafeBufferPointer(Array.init) }
    }

    /// Splits a full chunk for a stroke to be inserted. A chunk that grows only at its end stays full.
    /// - Returns: the place where the stroke goes.
    private mutating func split(at place: (chunk: Int, offset: Int)) -> (chunk: Int, offset: Int) {
        guard place.offset < Self.chunkCapacity else {
            guard place.chunk + 1 < chunks.count else { return (chunks.count, 0) }
            chunks.insert([], at: place.chunk + 1)
            return (place.chunk + 1, 0)
        }
        let half = Self.chunkCapacity / 2
        let upper = Array(chunks[place.chunk][half...])
        chunks[place.chunk].removeSubrange(half...)
        chunks.insert(upper, at: place.chunk + 1)
        return place.offset <= half ? place : (place.chunk + 1, place.offset - half)
    }

    /// Place of the first stroke with this index or a greater one; behind the last chunk where there is none.
    private func place(of index: UInt64) -> (chunk: Int, offset: Int) {
        // Most strokes come on top.
        if let top = chunks.last?.last, top.index < index { return (chunks.count, 0) }
        let chunk = chunks.partitioningIndex { $0[$0.count - 1].index >= index }
        guard chunk < chunks.count else { return (chunk, 0) }
        return (chunk, chunks[chunk].partitioningIndex { $0.index >= index })
    }
}

extension VisibleStrokes: BidirectionalCollection {
    public typealias Index = FlattenSequence<[[Stroke]]>.Index

    public var startIndex: Index { chunks.joined().startIndex }
    public var endIndex: Index { chunks.joined().endIndex }
    public func index(after index: Index) -> Index { chunks.joined().index(after: index) }
    public func index(before index: Index) -> Index { chunks.joined().index(before: index) }
    public subscript(index: Index) -> Stroke { chunks.joined()[index] }
    public func makeIterator() -> FlattenSequence<[[Stroke]]>.Iterator { chunks.joined().makeIterator() }
}

extension Array {
    /// The first position whose element meets `predicate`, as all later ones do; `count` where none does.
    fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
