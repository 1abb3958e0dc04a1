/// Writes integers in half bytes: three bits of the value and one that says whether more follow, lowest bits first.
/// Small numbers, as differences of handwriting are, take half a byte or one.
struct NibbleWriter {
    private(set) var bytes: [UInt8] = []
    private var isHalf = false

    mutating func write(_ value: UInt64) {
        var rest = value
        repeat {
            let bits = UInt8(truncatingIfNeeded: rest & 7)
            rest >>= 3
            append(bits | (rest == 0 ? 0 : 8))
        } while rest != 0
    }

    /// Signed numbers alternate: 0, −1, 1, −2, …
    mutating func write(signed value: Int64) {
        write(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    private mutating func append(_ nibble: UInt8) {
        if isHalf {
            bytes[bytes.count - 1] |= nibble << 4
        } else {
            bytes.append(nibble)
        }
        isHalf.toggle()
    }
}

/// Reads what ``NibbleWriter`` wrote, in the same order.
struct NibbleReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func read() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = bytes[position >> 1]
            let nibble = position & 1 == 0 ? byte & 15 : byte >> 4
            position += 1
            value |= UInt64(nibble & 7) << shift
            if nibble & 8 == 0 { return value }
            shift += 3
        }
    }

    mutating func readSigned() -> Int64 {
        let value = read()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }
}
