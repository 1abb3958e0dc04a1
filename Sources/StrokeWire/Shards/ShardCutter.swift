/// Cuts a stroke into messages, its points byte for byte as they are.
public enum ShardCutter {
    /// The most shards that a stroke is cut into; larger shards are made rather than more.
    public static let maximumShards = 1024

    /// Cuts by size.
    /// - Parameters:
    ///   - message: the stroke; its own shard count and order do not matter.
    ///   - interior: its points as they stand between the brackets of `d`.
    ///   - maxBytes: what a message may have. A point that does not fit goes alone in a larger message, and where
    ///     ``maximumShards`` would not do, all are larger.
    /// - Returns: one message that is not sharded where that fits, or for an action without points; else two shards
    ///   or more, numbered from 0.
    public static func cut(_ message: StrokeMessage, interior: ArraySlice<UInt8>, maxBytes: Int) -> [[UInt8]] {
        let whole = message.unsharded.encoded(interior: interior)
        guard whole.count > maxBytes, message.action == .draw else { return [whole] }
        // No head is longer than that of the last shard of the most.
        let head = message.shard(maximumShards, of: maximumShards).encoded(interior: []).count
        let parts = PointBoundaries.parts(of: interior)
        var room = max(maxBytes, head + 1) - head
        var shards = gather(parts, of: interior, within: room)
        while shards.count > maximumShards {
            room *= 2
            shards = gather(parts, of: interior, within: room)
        }
        return encode(message, shards)
    }

    /// Cuts by points.
    /// - Parameters:
    ///   - message: the stroke; its own shard count and order do not matter.
    ///   - interior: its points as they stand between the brackets of `d`.
    ///   - pointsPerShard: what a shard may have, at least 1; more where ``maximumShards`` would not do.
    /// - Returns: as for cutting by size.
    public static func cut(
        _ message: StrokeMessage, interior: ArraySlice<UInt8>, pointsPerShard: Int
    ) -> [[UInt8]] {
        let parts = message.action == .draw ? PointBoundaries.parts(of: interior) : []
        let least = (parts.count + maximumShards - 1) / maximumShards
        let size = max(1, least, pointsPerShard)
        guard parts.count > size else { return [message.unsharded.encoded(interior: interior)] }
        let starts = stride(from: 0, to: parts.count, by: size)
        let shards = starts.map { start in
            interior[parts[start].lowerBound..<parts[min(start + size, parts.count) - 1].upperBound]
        }
        return encode(message, shards)
    }

    /// As many points as fit into each shard.
    private static func gather(
        _ parts: [Range<Int>], of interior: ArraySlice<UInt8>, within room: Int
    ) -> [ArraySlice<UInt8>] {
        var shards: [ArraySlice<UInt8>] = []
        var rest = parts[...]
        while let first = rest.popFirst() {
            var shard = first
            while let next = rest.first, next.upperBound - shard.lowerBound <= room {
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
