/// Digest of the visible strokes of a board: FNV-1a (64 bit) over their indices from bottom to top, each as eight
/// little-endian bytes.
///
/// Whoever has the same strokes visible has the same digest.
public struct BoardDigest: Hashable, Sendable {
    public let value: UInt64

    /// The digest of an empty board.
    public static let empty = BoardDigest(value: FNV1a64().value)

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
        var hash = FNV1a64(value)
        var rest = index
        for _ in 0..<8 {
            hash.add(rest & 0xff)
            rest >>= 8
        }
        return BoardDigest(value: hash.value)
    }
}

extension BoardDigest: CustomStringConvertible {
    /// 16 lower-case hexadecimal digits.
    public var description: String { FNV1a64.digits(value) }
}
