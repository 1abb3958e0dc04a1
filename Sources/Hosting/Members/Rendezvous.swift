internal import StrokeWire

/// Rendezvous hashing (Thaler and Ravishankar, 1996): every member finds the same owner for a partition without asking,
/// and when a member comes or goes only its own partitions move.
enum Rendezvous {
    /// The owner of a partition among the members, nil where there is none.
    static func owner(of partition: Int, among members: some Sequence<String>) -> String? {
        members.max { (score($0, partition), $0) < (score($1, partition), $1) }
    }

    private static func score(_ member: String, _ partition: Int) -> UInt64 {
        FNV1a64.mixed(Array("\(member)/\(partition)".utf8))
    }
}
