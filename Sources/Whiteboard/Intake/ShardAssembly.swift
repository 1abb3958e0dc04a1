import StrokeWire

/// A stroke whose shards are still arriving. Takes memory for the shards that have arrived, not for those announced.
struct ShardAssembly: Sendable {
    enum Outcome {
        case added
        case complete
        case repeated
        case conflict(Rejection)
        case refused(Rejection)
    }

    struct Shard: Sendable {
        let order: Int
        let bytes: [UInt8]
        let interior: Range<Int>
        var points: ArraySlice<UInt8> { bytes[interior] }
    }

    /// The greatest number of orders that one notice names.
    static let noticedOrders = 64

    /// Header of the first shard that arrived, with which the others must agree.
    let first: StrokeMessage
    /// Header of the shard with the lowest order so far.
    private var lowest: StrokeMessage
    /// By order.
    private(set) var shards: [Shard] = []
    private var pointCount = 0
    private var latestTime: Int64?
    private(set) var byteCount = 0
    private(set) var lastShardAt: Instant

    private var isZeroBased: Bool { shards.first?.order == 0 }
    private var isOneBased: Bool { shards.last?.order == first.shardCount }

    /// An assembly without shards; `header` is that of the first to be added.
    init(header: StrokeMessage, at now: Instant) {
        first = header
        lowest = header
        lastShardAt = now
    }

    /// - Parameters:
    ///   - points: the greatest number of points of the stroke.
    ///   - room: the greatest number of bytes of the shard.
    mutating func add(
        _ header: StrokeMessage, _ bytes: [UInt8], points: Int, room: Int, at now: Instant
    ) -> Outcome {
        if let conflict = conflict(with: header) { return .conflict(conflict) }
        let order = header.shardOrder
        let position = position(of: order)
        if position < shards.count, shards[position].order == order {
            let same = shards[position].points.elementsEqual(bytes[header.points.interior])
            return same
                ? .repeated
                : .conflict(.shardConflict(field: "d", "Order \(order) was sent before with other points."))
        }
        if order == 0 && isOneBased || order == first.shardCount && isZeroBased {
            return .conflict(.shardConflict(field: "o", "The orders of a stroke begin at 0 or at 1, not both."))
        }
        let points = header.element == .lasso ? min(points, WireLimits.lassoPoints) : points
        guard header.points.count <= points - pointCount else { return .refused(.tooManyPoints(limit: points)) }
        guard bytes.count <= room else { return .refused(.bytesPending) }
        if position == 0 { lowest = header }
        shards.insert(Shard(order: order, bytes: bytes, interior: header.points.interior), at: position)
        pointCount += header.points.count
        byteCount += bytes.count
        latestTime = [latestTime, header.time].compactMap { $0 }.max()
        lastShardAt = now
        return isComplete ? .complete : .added
    }

    private var isComplete: Bool { shards.count == first.shardCount }

    private func conflict(with header: StrokeMessage) -> Rejection? {
        if header.shardCount != first.shardCount {
            return .shardConflict(field: "s", "Another shard of this stroke gave another number of shards.")
        }
        if header.element != first.element {
            return .shardConflict(field: "e", "Another shard of this stroke gave another element.")
        }
        if header.action != first.action {
            return .shardConflict(field: "a", "Another shard of this stroke gave another action.")
        }
        if header.page != first.page {
            return .shardConflict(field: "g", "Another shard of this stroke gave another page.")
        }
        return nil
    }

    /// Position of the first shard of this order or a greater one.
    private func position(of order: Int) -> Int { shards.partitioningIndex { $0.order >= order } }

    /// The orders that have not arrived, at most `limit`, the lowest. Counted from 0 until the order arrives that only a
    /// count from 1 has.
    func missingOrders(limit: Int) -> [Int] {
        var missing: [Int] = []
        var next = isOneBased ? 1 : 0
        for shard in shards {
            missing.append(contentsOf: (next..<max(next, shard.order)).prefix(limit - missing.count))
            next = shard.order + 1
            if missing.count == limit { return missing }
        }
        let end = isOneBased ? first.shardCount + 1 : first.shardCount
        missing.append(contentsOf: (next..<max(next, end)).prefix(limit - missing.count))
        return missing
    }

    /// Feedback that names the missing orders. The rest follow when those have come.
    var notice: Feedback { .missingShards(number: first.number, orders: missingOrders(limit: Self.noticedOrders)) }

    /// The whole stroke as one unsharded message, its points spliced byte for byte.
    /// - Throws: `out-of-range` where no shard has a point.
    func joined() throws(Rejection) -> (header: StrokeMessage, bytes: [UInt8]) {
        guard pointCount > 0 else { throw .emptyStroke }
        var header = lowest
        header.shardCount = 0
        header.shardOrder = 0
        header.time = latestTime
        let points = ShardJoiner.join(shards.map { $0.points })
        let bytes = header.encoded(interior: points[...])
        // The point array is the last key: its interior ends before "]}".
        let end = bytes.count - 2
        header.points = PointArray(count: pointCount, interior: (end - points.count)..<end)
        return (header, bytes)
    }
}
