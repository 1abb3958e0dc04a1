/// Digest of the visible strokes of a board: the sum modulo 2^64 of a hash of each one's index.
///
/// Boards with the same visible strokes have the same digest. The sum needs no order, because strokes always lie in the
/// order of their indices; so adding or removing a stroke costs the same anywhere. The digest detects mistakes, not
/// malice.
public struct BoardDigest: Hashable, Sendable {
    public private(set) var value: UInt64

    /// The digest of an empty board.
    public static let empty = BoardDigest(value: 0)

    public init(value: UInt64) { self.value = value }

    /// The digest of a board on which the strokes with these indices are visible, in any order.
    public init(of indices: some Sequence<UInt64>) {
        self = indices.reduce(into: .empty) { $0.insert($1) }
    }

    /// - Parameter hexadecimal: 16 lower-case digits, as in ``description``; anything else gives nil.
    public init?(hexadecimal: some StringProtocol) {
        let digits = hexadecimal.utf8
        guard digits.count == 16 else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            guard let digit = digit.lowerHexadecimalValue else { return nil }
            value = value << 4 | UInt64(digit)
        }
        self.value = value
    }

    /// A stroke becomes visible.
    /// - Parameter index: the index of its operation, which was not visible.
    public mutating func insert(_ index: UInt64) { value &+= Self.mix(index) }

    /// A stroke is no longer visible.
    /// - Parameter index: the index of its operation, which was visible.
    public mutating func remove(_ index: UInt64) { value &-= Self.mix(index) }

    /// The strokes of another digest become visible, of which none was.
    package mutating func add(_ other: BoardDigest) { value &+= other.value }

    /// The strokes of another digest are no longer visible, of which all were.
    package mutating func subtract(_ other: BoardDigest) { value &-= other.value }

    /// Appends 16 lower-case hexadecimal digits.
    public func write(into bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { digits in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * place)) & 0xf
                digits[place] = UInt8(hexadecimalDigit: digit)
            }
            bytes.append(contentsOf: UnsafeBufferPointer(digits))
        }
    }

    /// SplitMix64 (Steele, Lea, Flood): one step from the state `index`.
    private static func mix(_ index: UInt64) -> UInt64 { splitMix64Finalizer(index &+ 0x9e37_79b9_7f4a_7c15) }
}

extension JSONObject {
    /// A digest as in ``BoardDigest/description``.
    func digest(_ name: String) throws(Rejection) -> BoardDigest? {
        try value(name, "16 lower-case hexadecimal digits") { BoardDigest(hexadecimal: $0) }
    }
}

extension [UInt8] {
    /// A digest as a JSON string.
    mutating func append(digest: BoardDigest) {
        append(UInt8(ascii: "\""))
        digest.write(into: &self)
        append(UInt8(ascii: "\""))
    }
}

extension BoardDigest: CustomStringConvertible {
    /// 16 lower-case hexadecimal digits.
    public var description: String { FNV1a64.digits(value) }
}

/// FNV-1a, 32 bit (Fowler, Noll, Vo).
public enum FNV1a32 {
    public static func hash(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}

/// FNV-1a, 64 bit (Fowler, Noll, Vo): detects differences and damage, not malice.
package struct FNV1a64: Sendable {
    /// The hash of what has been added.
    package private(set) var value: UInt64

    /// Starts a hash, or continues one.
    package init(_ value: UInt64 = 0xcbf2_9ce4_8422_2325) { self.value = value }

    /// Adds a byte, or a whole word as if it were one.
    @inline(__always)
    package mutating func add(_ byte: UInt64) { value = (value ^ byte) &* 0x0000_0100_0000_01b3 }

    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = FNV1a64()
        // Without this, calls from other modules would iterate generically, many times slower.
        let isAdded: Void? = bytes.withContiguousStorageIfAvailable { for byte in $0 { hash.add(UInt64(byte)) } }
        if isAdded == nil {
            for byte in bytes { hash.add(UInt64(byte)) }
        }
        return hash.value
    }

    /// A hash of some bytes with well mixed bits: FNV-1a hardly mixes the last bytes, so the finalizer of SplitMix64
    /// follows.
    package static func mixed(_ bytes: some Sequence<UInt8>) -> UInt64 {
        splitMix64Finalizer(hash(bytes))
    }

    /// A hash as 16 lower-case hexadecimal digits.
    package static func digits(_ hash: UInt64) -> String { String(hexadecimal: hash, digits: 16) }
}

extension String {
    /// A number in lower-case hexadecimal digits, with zeros before it where it has fewer.
    package init(hexadecimal number: some UnsignedInteger, digits count: Int) {
        let digits = String(number, radix: 16)
        self = String(repeating: "0", count: count - digits.utf8.count) + digits
    }
}

extension UInt8 {
    /// The hexadecimal digit, in lower case, of a value below 16.
    package init(hexadecimalDigit value: UInt8) {
        self = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// The value of a hexadecimal digit in lower case; nil for anything else.
    fileprivate var lowerHexadecimalValue: UInt8? {
        (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self) ? nil : hexadecimalValue
    }
}

extension Collection<UInt8> {
    /// The bytes of hexadecimal digits in lower case, two for each; nil for anything else.
    package var hexadecimalBytes: [UInt8]? {
        let values = compactMap { $0.lowerHexadecimalValue }
        guard values.count == count, values.count % 2 == 0 else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}

/// The finalizer of SplitMix64: every bit of the result depends on every bit of `value`.
package func splitMix64Finalizer(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
}
