/// The checksum of PNG's chunks (ISO 3309), eight bytes at a time with a table for each.
enum CRC32 {
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            tables[byte] = (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 != 0 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        for place in 256..<8 * 256 {
            let before = tables[place - 256]
            tables[place] = before >> 8 ^ tables[Int(before & 255)]
        }
        return tables
    }()

    /// The checksum of some bytes.
    static func checksum(_ bytes: some Collection<UInt8>) -> UInt32 {
        let crc =
            bytes.withContiguousStorageIfAvailable(checksum(of:)) ?? Array(bytes).withUnsafeBufferPointer(checksum)
        return crc
    }

    private static func checksum(of bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let raw = UnsafeRawBufferPointer(bytes)
        let tables = tables
        var crc: UInt32 = 0xFFFF_FFFF
        var at = 0
        while at &+ 8 <= raw.count {
            var word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)) ^ UInt64(crc)
            crc = 0
            for table in (0..<8).reversed() {
                crc ^= tables[table &* 256 &+ Int(word & 255)]
                word >>= 8
            }
            at &+= 8
        }
        for byte in raw[at...] { crc = crc >> 8 ^ tables[Int((crc ^ UInt32(byte)) & 255)] }
        return ~crc
    }
}
