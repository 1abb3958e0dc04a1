/// The name of a room's incarnation: `LOG-INDEX`, and `LOG.RESTORATIONS-INDEX` after its log has lost its end.
enum Incarnation {
    /// Whether the room went on in an incarnation after its log had lost its end, from another, or from one that is not known.
    static func isRestored(_ incarnation: String, from before: String?) -> Bool {
        guard let now = parts(incarnation) else { return false }
        let earlier = before.flatMap { parts($0) } ?? (now.log, 0)
        return now.log == earlier.log && now.restorations > earlier.restorations
    }

    private static func parts(_ name: String) -> (log: String, restorations: UInt64)? {
        let halves = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard halves.count == 2, Int64(Substring(halves[1])) != nil else { return nil }
        let log = halves[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let first = log.first, !first.isEmpty else { return nil }
        switch log.count {
        case 1: return (String(Substring(first)), 0)
        case 2: return UInt64(Substring(log[1])).map { (String(Substring(first)), $0) }
        default: return nil
        }
    }
}
