import StrokeWire

extension CheckpointWriter {
    /// The shards as they came; everything else follows from them and from which was the first.
    mutating func write(_ assembly: ShardAssembly) {
        write(assembly.shards.firstIndex { $0.order == assembly.first.shardOrder } ?? 0)
        write(list: assembly.shards) { $0.write($1.bytes) }
        write(logTime: assembly.lastShardAt)
    }
}

extension CheckpointReader {
    mutating func shardAssembly() throws(CheckpointError) -> ShardAssembly {
        let first = try integer()
        var shards: [(header: StrokeMessage, bytes: [UInt8])] = []
        for _ in 0..<(try count()) {
            let bytes = try data()
            shards.append((try header(of: bytes), bytes))
        }
        try require(first < UInt64(shards.count))
        let header = shards[Int(first)].header
        let lastShardAt = try logTime()
        var assembly = ShardAssembly(header: header, at: lastShardAt)
        for shard in shards {
            try require(
                shard.header.isSharded && shard.header.action == .draw && shard.header.number == header.number)
            let outcome = assembly.add(shard.header, shard.bytes, points: .max, room: .max, at: lastShardAt)
            guard case .added = outcome else { throw damaged }
        }
        return assembly
    }
}
