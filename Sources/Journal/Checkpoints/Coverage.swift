/// What the checkpoints of a partition have in common: how far its log is in them.
struct Coverage: Codable, Equatable {
    var version = 1
    /// The log that it is about, as `PartitionLog.incarnationPrefix` names it.
    var log: String
    /// All records of the partition up to here are in checkpoints that were acknowledged.
    var covered: UInt64

    init(log: String, covered: UInt64) {
        self.log = log
        self.covered = covered
    }

    func encoded() -> [UInt8] { HashedJSON.encode(self) }

    /// nil for what is damaged.
    init?(decoding bytes: [UInt8]) {
        guard let coverage = HashedJSON.decode(Coverage.self, from: bytes), coverage.version == 1 else { return nil }
        self = coverage
    }
}
