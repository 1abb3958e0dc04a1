/// Digest of the visible strokes of a board: FNV-1a (64 bit) over their indices from bottom to top, each as eight
/// little-endian bytes.
///
/// Whoever has the same strokes visible has the same digest.
public struct BoardDigest: Hashable, Sendable {
    public let value: UInt64

    /// The digest of an empty board.
    public static let empty = BoardDigest(value: 0xcbf2_9ce4_8422_2325)

    public init(value: UInt64) {
        self.value = value
    }

    /// - Parameter hexadecimal: 16 lower-case digits, as in ``description``; anything else gives nil.
    public init?(hexadecimal: some StringProtocol) {
        let digits = hexadecimal.utf8
        guard digits.count == 16 else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        self.value = value
    }

    /// Puts a stroke on top.
    /// - Parameter index: the index of its operation.
    public mutating func append(index: UInt64) {
        self = appending(index: index)
    }

    /// The digest with one more stroke on top.
    /// - Parameter index: the index of its operation.
    public func appending(index: UInt64) -> BoardDigest {
        var hash = value
        var rest = index
        for _ in 0..<8 {
            hash = (hash ^ (rest & 0xff)) &* 0x0000_0100_0000_01b3
            rest >>= 8
        }
        return BoardDigest(value: hash)
    }
}

extension BoardDigest: CustomStringConvertible {
    /// 16 lower-case hexadecimal digits.
    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
