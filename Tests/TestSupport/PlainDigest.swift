/// The digest of a board as the protocol has it: the sum modulo 2^64, over the visible strokes, of SplitMix64 of their
/// indices.
package func plainDigest(_ indices: [UInt64]) -> UInt64 {
    var sum: UInt64 = 0
    for index in indices {
        var z = index &+ 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        sum = sum &+ (z ^ (z >> 31))
    }
    return sum
}

/// ``plainDigest(_:)`` as 16 hexadecimal digits, as it is sent.
package func plainDigestText(_ indices: [UInt64]) -> String {
    let digits = String(plainDigest(indices), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
