/// Writes integers in half bytes into memory lent by the caller: three bits of the value and one that says whether more
/// follow, lowest bits first. Small numbers, as differences of handwriting are, take half a byte or one.
struct NibbleWriter {
    /// Bytes that one integer takes at most.
    static let mostBytes = 11

    private let memory: UnsafeMutablePointer<UInt8>
    private var count = 0

    /// - Parameter memory: as long as all that is to be written takes at most.
    init(_ memory: UnsafeMutablePointer<UInt8>) {
        self.memory = memory
    }

    /// What was written.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: memory, count: (count &+ 1) >> 1)) }

    mutating func write(_ value: UInt64) {
        var rest = value
        repeat {
            let bits = UInt8(truncatingIfNeeded: rest & 7)
            rest >>= 3
            let nibble = bits | (rest == 0 ? 0 : 8)
            let byte = memory + (count >> 1)
            if count & 1 == 0 { byte.initialize(to: nibble) } else { byte.pointee |= nibble << 4 }
            count &+= 1
        } while rest != 0
    }

    /// Signed numbers alternate: 0, −1, 1, −2, …
    mutating func write(signed value: Int64) {
        write(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }
}
