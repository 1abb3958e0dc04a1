/// Gathers bits, the first in the lowest bit of the first byte, as deflate has it.
struct BitWriter {
    private var words: [UInt64] = []
    private var bits: UInt64 = 0
    private var count = 0

    /// Adds the lowest `length` bits of a value whose other bits are 0; 1 … 63 of them.
    @inline(__always)
    mutating func write(_ value: UInt64, length: Int) {
        bits |= value &<< UInt64(count)
        count &+= length
        guard count >= 64 else { return }
        words.append(bits)
        count &-= 64
        bits = value &>> UInt64(length &- count)
    }

    /// The bytes so far, the last one filled up with zeros.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(words.count * 8 + 8)
        for word in words {
            withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
        }
        withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0.prefix((count + 7) / 8)) }
        return bytes
    }
}
