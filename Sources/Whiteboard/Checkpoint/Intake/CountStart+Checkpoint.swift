extension CheckpointWriter {
    mutating func write(_ beginning: CountStart) {
        for sent in [beginning.sent.zero, beginning.sent.one] {
            write(optional: sent) { writer, sent in
                writer.write(optional: sent.shardCount) { $0.write($1) }
                writer.write(fixed: sent.fingerprint)
            }
        }
    }
}

extension CheckpointReader {
    mutating func countStart() throws(CheckpointError) -> CountStart {
        CountStart(zero: try sent(), one: try sent())
    }

    private mutating func sent() throws(CheckpointError) -> CountStart.Sent? {
        try optional { (reader) throws(CheckpointError) in
            let shardCount = try reader.optional { (reader) throws(CheckpointError) in Int(try reader.number()) }
            return CountStart.Sent(shardCount: shardCount, fingerprint: try reader.fixed())
        }
    }
}
