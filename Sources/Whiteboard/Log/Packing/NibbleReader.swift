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
