public import StrokeWire

/// The strokes on a board, bottom to top, in the order of their indices.
///
/// Each carries the digest of the list up to and including itself, so that adding or removing near the top costs
/// nothing for what lies below.
public struct VisibleStrokes: Sendable {
    public struct Element: Sendable {
        public let stroke: Stroke
        /// Digest of the visible strokes up to this one.
        public let digest: BoardDigest
    }

    private var elements: [Element] = []

    init() {}

    init(_ strokes: [Stroke]) {
        for stroke in strokes { insert(stroke) }
    }

    /// Digest of the whole list.
    public var digest: BoardDigest { elements.last?.digest ?? .empty }

    /// What the strokes count for where memory is bounded.
    var weight: Int { elements.reduce(0) { $0 + $1.stroke.weight } }

    /// Puts a stroke where its index belongs.
    mutating func insert(_ stroke: Stroke) {
        let position = position(of: stroke.index)
        elements.insert(Element(stroke: stroke, digest: .empty), at: position)
        renewDigests(from: position)
    }

    /// Takes the stroke with this index away; nil where there is none.
    mutating func remove(_ index: UInt64) -> Stroke? {
        let position = position(of: index)
        guard position < elements.count, elements[position].stroke.index == index else { return nil }
        let stroke = elements.remove(at: position).stroke
        renewDigests(from: position)
        return stroke
    }

    /// Puts back what a clear took away.
    mutating func restore(_ cleared: VisibleStrokes) {
        let later = elements
        elements = cleared.elements
        for element in later { insert(element.stroke) }
    }

    private func position(of index: UInt64) -> Int {
        if let last = elements.last, last.stroke.index < index { return elements.count }
        var low = 0
        var high = elements.count
        while low < high {
            let middle = (low + high) / 2
            if elements[middle].stroke.index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func renewDigests(from position: Int) {
        var digest = position == 0 ? BoardDigest.empty : elements[position - 1].digest
        for i in position..<elements.count {
            let stroke = elements[i].stroke
            digest.append(index: stroke.index)
            elements[i] = Element(stroke: stroke, digest: digest)
        }
    }
}

extension VisibleStrokes: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { elements.count }
    public subscript(position: Int) -> Element { elements[position] }
}
