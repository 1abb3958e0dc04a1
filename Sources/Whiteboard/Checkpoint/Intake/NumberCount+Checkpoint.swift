import StrokeWire

extension CheckpointWriter {
    mutating func write(_ count: NumberCount) {
        write(UInt64(bitPattern: count.start))
        write(logTime: count.startedAt)
        write(count.startHead)
        write(UInt64(bitPattern: count.expected))
        write(list: count.pending) { $0.write($1) }
        write(list: count.late.sorted { $0.key < $1.key }) { $0.write($1.value) }
        write(count.settled)
        write(count.applied)
        write(count.beginning)
    }

    /// Each is either complete or under assembly.
    private mutating func write(_ pending: NumberCount.Pending) {
        write(optional: pending.assembly) { $0.write($1) }
        guard let ready = pending.ready else { return }
        write(ready.bytes)
        write(ready.isJoined)
        write(logTime: pending.completeAt)
    }
}

extension CheckpointReader {
    mutating func numberCount(of author: AuthorID) throws(CheckpointError) -> NumberCount {
        var count = NumberCount(start: try countNumber(), at: try logTime(), head: try number())
        count.expected = try countNumber()
        for _ in 0..<(try self.count()) {
            let pending = try pending(of: author)
            try require(pending.number > count.pending.last?.number ?? count.expected - 1)
            count.pending.append(pending)
        }
        for _ in 0..<(try self.count()) {
            let assembly = try shardAssembly()
            count.late[assembly.first.number] = assembly
        }
        count.settled = try settledNumbers()
        count.applied = try appliedNumbers()
        count.beginning = try countStart()
        return count
    }

    /// A number of an author's count.
    mutating func countNumber() throws(CheckpointError) -> Int64 {
        Int64(try number())
    }

    private mutating func pending(of author: AuthorID) throws(CheckpointError) -> NumberCount.Pending {
        if let assembly = try optional({ (reader) throws(CheckpointError) in try reader.shardAssembly() }) {
            return NumberCount.Pending(number: assembly.first.number, assembly: assembly)
        }
        let bytes = try data()
        let ready = ReadyOperation(
            author: author, header: try header(of: bytes), bytes: bytes, isLate: false, isJoined: try flag())
        return NumberCount.Pending(number: ready.number, ready: ready, completeAt: try logTime())
    }

    /// The fields of a message that was accepted once, under whatever limits.
    func header(of bytes: [UInt8]) throws(CheckpointError) -> StrokeMessage {
        let limits = WireLimits(messageBytes: .max, shards: 16_384, points: .max, colours: .rgb)
        guard let header = try? StrokeMessage(decoding: bytes, limits: limits) else { throw damaged }
        return header
    }
}
