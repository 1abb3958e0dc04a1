/// A name that is one token of a subject: 1 … 64 characters of `a`–`z`, `0`–`9`, `_` and `-`.
public protocol SubjectToken: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name.
    var text: String { get }
    /// - Returns: nil for a text that is no such name.
    init?(_ text: some StringProtocol)
}

extension SubjectToken {
    public var description: String { text }

    public static func < (a: Self, b: Self) -> Bool { a.text < b.text }

    static func isToken(_ text: some StringProtocol) -> Bool {
        var count = 0
        for byte in text.utf8 {
            count += 1
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                if count > 64 { return false }
            default:
                return false
            }
        }
        return count > 0
    }
}
