/// Puts the points of a stroke together again.
public enum ShardJoiner {
    /// Splices the raw bytes of point arrays, so that nothing inside a point is lost or rounded anew. Shards without
    /// points add nothing.
    /// - Parameter interiors: what stands between the brackets of each shard's `d`, in the order of the shards.
    /// - Returns: what stands between the brackets of the whole stroke's `d`.
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
