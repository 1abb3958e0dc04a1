/// The counts an author has named by the `Ink-Session` header.
///
/// Bounded: at most `bound` names are remembered; a message of an older one would start a new count.
struct Sessions: Sendable {
    enum Standing {
        case unnamed
        case current
        case earlier
        case new(String)
    }

    static let bound = 64

    private(set) var known: [String] = []
    private(set) var current: String?

    init() {}

    /// - Parameters:
    ///   - known: oldest first.
    ///   - isNamed: whether the last of them names the current count.
    init(known: [String], isNamed: Bool) {
        self.known = known.suffix(Self.bound)
        current = isNamed ? known.last : nil
    }

    func standing(of header: String?) -> Standing {
        guard let header, Self.isUsable(header) else { return .unnamed }
        if header == current { return .current }
        return known.contains(header) ? .earlier : .new(header)
    }

    mutating func begin(_ name: String?) {
        current = name
        guard let name else { return }
        if known.count == Self.bound { known.removeFirst() }
        known.append(name)
    }

    /// 1–64 visible ASCII characters.
    private static func isUsable(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
