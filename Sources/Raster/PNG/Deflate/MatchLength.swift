/// How deflate says the length of a match: a symbol and some more bits (RFC 1951, section 3.2.5).
struct MatchLength {
    static let least = 3
    static let most = 258

    let symbol: UInt16
    let extraBits: UInt8
    let extra: UInt8

    /// By length, from ``least`` on.
    static let all: [MatchLength] = (least...most).map { length in
        if length == most { return MatchLength(symbol: 285, extraBits: 0, extra: 0) }
        let offset = length - least
        if offset < 8 { return MatchLength(symbol: UInt16(257 + offset), extraBits: 0, extra: 0) }
        // Four symbols for every number of more bits.
        let bits = Int.bitWidth - offset.leadingZeroBitCount - 3
        let symbol = 257 + 4 * bits + offset >> bits
        return MatchLength(
            symbol: UInt16(symbol), extraBits: UInt8(bits), extra: UInt8(offset & (1 << bits - 1)))
    }

    /// Cuts `count` bytes into matches; the 1 or 2 bytes that no match can have are left to literals.
    /// - Returns: how many are left.
    @inline(__always)
    static func cut(_ count: Int, _ body: (_ length: Int) -> Void) -> Int {
        var left = count
        while left > most {
            let length = left - most < least ? left - least : most
            body(length)
            left &-= length
        }
        guard left >= least else { return left }
        body(left)
        return 0
    }
}
