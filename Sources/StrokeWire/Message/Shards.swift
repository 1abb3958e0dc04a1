/// Cuts a stroke into messages. The bytes of its points stay as they are.
public enum ShardCutter {
    /// Limit of shards for one stroke; beyond it shards become larger.
    public static let maximumShards = 1024

    /// Cuts by size.
    /// - Parameters:
    ///   - message: the stroke; its own shard count and order do not matter.
    ///   - interior: the bytes between the brackets of `d`.
    ///   - maxBytes: size limit of a message. A point that does not fit gets a larger message of its own. All messages
    ///     are larger if ``maximumShards`` would not suffice.
    /// - Returns: one unsharded message if that fits or the action has no points; else two shards or more, numbered
    ///   from 0.
    public static func cut(_ message: StrokeMessage, interior: ArraySlice<UInt8>, maxBytes: Int) -> [[UInt8]] {
        let whole = message.unsharded.encoded(interior: interior)
        guard whole.count > maxBytes, message.action == .draw else { return [whole] }
        // The longest head of all: that of the last of ``maximumShards`` shards.
        let head = message.shard(maximumShards, of: maximumShards).encoded(interior: []).count
        let elements = elementRanges(of: interior)
        var capacity = max(maxBytes, head + 1) - head
        var shards = pack(elements, of: interior, within: capacity)
        while shards.count > maximumShards {
            capacity *= 2
            shards = pack(elements, of: interior, within: capacity)
        }
        return encode(message, shards)
    }

    /// Cuts by points.
    /// - Parameters:
    ///   - message: the stroke; its own shard count and order do not matter.
    ///   - interior: the bytes between the brackets of `d`.
    ///   - pointsPerShard: limit of a shard's points, at least 1; raised if ``maximumShards`` would not suffice.
    /// - Returns: as for cutting by size.
    public static func cut(
        _ message: StrokeMessage, interior: ArraySlice<UInt8>, pointsPerShard: Int
    ) -> [[UInt8]] {
        let elements = message.action == .draw ? elementRanges(of: interior) : []
        let least = (elements.count + maximumShards - 1) / maximumShards
        let size = max(1, least, pointsPerShard)
        guard elements.count > size else { return [message.unsharded.encoded(interior: interior)] }
        let starts = stride(from: 0, to: elements.count, by: size)
        let shards = starts.map { start in
            interior[elements[start].lowerBound..<elements[min(start + size, elements.count) - 1].upperBound]
        }
        return encode(message, shards)
    }

    /// Puts as many points as fit into each shard.
    private static func pack(
        _ elements: [Range<Int>], of interior: ArraySlice<UInt8>, within capacity: Int
    ) -> [ArraySlice<UInt8>] {
        var shards: [ArraySlice<UInt8>] = []
        var rest = elements[...]
        while let first = rest.popFirst() {
            var shard = first
            while let next = rest.first, next.upperBound - shard.lowerBound <= capacity {
                shard = shard.lowerBound..<next.upperBound
                rest.removeFirst()
            }
            shards.append(interior[shard])
        }
        return shards
    }

    private static func encode(_ message: StrokeMessage, _ shards: [ArraySlice<UInt8>]) -> [[UInt8]] {
        guard shards.count > 1 else { return [message.unsharded.encoded(interior: shards.first ?? [])] }
        return shards.enumerated().map { order, interior in
            message.shard(order, of: shards.count).encoded(interior: interior)
        }
    }

    /// Ranges of an array's elements in `interior`, without the white space around them.
    /// - Parameter interior: the bytes between the brackets of well-formed JSON. In any other text, commas outside of
    ///   brackets and strings separate the elements.
    private static func elementRanges(of interior: ArraySlice<UInt8>) -> [Range<Int>] {
        interior.withUnsafeBufferPointer { elementRanges(of: $0, from: interior.startIndex) }
    }

    private static func elementRanges(of interior: UnsafeBufferPointer<UInt8>, from first: Int) -> [Range<Int>] {
        var elements: [Range<Int>] = []
        var depth = 0
        var isInString = false
        var isEscaped = false
        var start: Int?
        var end = first
        for position in interior.indices {
            let (offset, byte) = (first + position, interior[position])
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else {
                switch byte {
                case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                    continue
                case UInt8(ascii: ",") where depth == 0:
                    if let begin = start { elements.append(begin..<end) }
                    start = nil
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                case UInt8(ascii: "\""): isInString = true
                default: break
                }
            }
            start = start ?? offset
            end = offset + 1
        }
        if let begin = start { elements.append(begin..<end) }
        return elements
    }
}

extension StrokeMessage {
    fileprivate var unsharded: StrokeMessage { shard(0, of: 0) }

    fileprivate func shard(_ order: Int, of count: Int) -> StrokeMessage {
        var shard = self
        shard.shardCount = count
        shard.shardOrder = order
        return shard
    }
}

/// Joins the points of a stroke's shards.
public enum ShardJoiner {
    /// Joins the raw bytes of point arrays, so that nothing in a point is lost or rounded. Shards without points add
    /// nothing.
    /// - Parameter interiors: the bytes between the brackets of each shard's `d`, in the order of the shards.
    /// - Returns: the bytes between the brackets of the whole stroke's `d`.
    public static func join(_ interiors: [ArraySlice<UInt8>]) -> [UInt8] {
        var joined: [UInt8] = []
        joined.reserveCapacity(interiors.reduce(0) { $0 + $1.count + 1 })
        for interior in interiors where !interior.isEmpty {
            if !joined.isEmpty { joined.append(UInt8(ascii: ",")) }
            joined.append(contentsOf: interior)
        }
        return joined
    }
}
