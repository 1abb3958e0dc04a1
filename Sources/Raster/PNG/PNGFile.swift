/// The bytes of a PNG file (ISO 15948), chunk by chunk.
struct PNGFile {
    /// How pixels lie in the rows of the file, 8 bits a channel.
    enum PixelFormat: UInt8 {
        case rgb = 2
        case palette = 3
        case rgba = 6

        var pixelBytes: Int {
            switch self {
            case .palette: 1
            case .rgb: 3
            case .rgba: 4
            }
        }
    }

    private(set) var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Begins an image.
    init(width: Int, height: Int, format: PixelFormat) {
        append(
            "IHDR", UInt32(width).bigEndianBytes + UInt32(height).bigEndianBytes + [8, format.rawValue, 0, 0, 0])
    }

    /// Adds the colours that the pixels are numbers of, as straight `0xAABBGGRR`; 256 at most.
    mutating func append(palette: [UInt32]) {
        append("PLTE", palette.flatMap { (0..<3).map { [colour = $0] in UInt8(colour >> (8 * $0) & 255) } })
        let alphas = palette.map { UInt8($0 >> 24) }
        if alphas.contains(where: { $0 != 255 }) { append("tRNS", alphas) }
    }

    /// Adds a part of the compressed rows.
    mutating func append(rows: UnsafeBufferPointer<UInt8>) { append("IDAT", rows) }

    mutating func end() { append("IEND", []) }

    private mutating func append(_ name: StaticString, _ content: some Collection<UInt8>) {
        bytes += UInt32(content.count).bigEndianBytes
        let start = bytes.count
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes += content
        bytes += CRC32.checksum(bytes[start...]).bigEndianBytes
    }
}

extension UInt32 {
    /// Highest byte first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

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
