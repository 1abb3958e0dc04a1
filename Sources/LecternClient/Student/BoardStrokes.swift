public import StrokeWire

/// The strokes on a student's board, bottom to top, which is the order of their indices.
public struct BoardStrokes: Sendable, RandomAccessCollection {
    private var strokes: [ReleasedOperation] = []
    /// Digest of the strokes up to and with each one, so that a change near the top costs little.
    private var digests: [BoardDigest] = []
    /// Bytes of all messages.
    private(set) var bytes = 0

    /// No strokes.
    public init() {}

    /// The strokes of a join reply, in any order.
    init(_ operations: [JoinedOperation]) throws(MalformedRelease) {
        for operation in operations { insert(try ReleasedOperation(operation)) }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { strokes.count }

    /// The stroke at a place from the bottom, 0 … `count − 1`.
    public subscript(position: Int) -> ReleasedOperation { strokes[position] }

    /// Digest of all of them.
    public var digest: BoardDigest { digests.last ?? .empty }

    /// Puts a stroke where its index belongs; one that is there already stays.
    mutating func insert(_ stroke: ReleasedOperation) {
        let position = position(of: stroke.index)
        guard position == strokes.count || strokes[position].index != stroke.index else { return }
        strokes.insert(stroke, at: position)
        bytes += stroke.bytes.count
        renewDigests(from: position)
    }

    /// Takes a stroke away; nil where there is none with this index.
    mutating func remove(_ index: UInt64) -> ReleasedOperation? {
        let position = position(of: index)
        guard position < strokes.count, strokes[position].index == index else { return nil }
        let stroke = strokes.remove(at: position)
        bytes -= stroke.bytes.count
        renewDigests(from: position)
        return stroke
    }

    private func position(of index: UInt64) -> Int {
        if let last = strokes.last, last.index < index { return strokes.count }
        var (low, high) = (0, strokes.count)
        while low < high {
            let middle = (low + high) / 2
            if strokes[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func renewDigests(from position: Int) {
        digests.removeSubrange(position...)
        for stroke in strokes[position...] {
            digests.append((digests.last ?? .empty).appending(index: stroke.index))
        }
    }
}
