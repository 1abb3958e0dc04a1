/// The digest of a board as the protocol has it: FNV-1a, 64 bit, over the strokes' indices, bottom to top, as eight
/// little-endian bytes each.
package func plainDigest(_ indices: [UInt64]) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for index in indices {
        for byte in 0..<8 { hash = (hash ^ ((index >> (8 * UInt64(byte))) & 0xff)) &* 0x100_0000_01b3 }
    }
    return hash
}
