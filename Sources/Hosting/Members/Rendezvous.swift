internal import StrokeWire

/// Rendezvous hashing (Thaler and Ravishankar, 1996): every member finds the same owner for a partition without asking,
/// and when a member comes or goes only its own partitions move.
enum Rendezvous {
    /// The owner of a partition among the members, nil where there is none.
    static func owner(of partition: Int, among members: some Sequence<String>) -> String? {
        members.max { (score($0, partition), $0) < (score($1, partition), $1) }
    }

    /// FNV-1a over the name and the number, then the finalizer of SplitMix64: FNV alone hardly mixes its last bytes.
    private static func score(_ member: String, _ partition: Int) -> UInt64 {
        var hash = FNV1a64.hash(Array("\(member)/\(partition)".utf8))
        hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
        return hash ^ (hash >> 31)
    }
}
