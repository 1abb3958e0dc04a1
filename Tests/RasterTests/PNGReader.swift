/// A PNG decoder that shares nothing with the encoder: 8 bits a channel, palette, RGB and RGBA, no interlacing.
struct PNGReader {
    let width: Int
    let height: Int
    let colourType: UInt8
    /// Straight `0xAABBGGRR`, row by row.
    let pixels: [UInt32]

    enum Fault: Error { case signature, chunk, checksum, format, filter }

    init(_ file: [UInt8]) throws {
        guard file.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else { throw Fault.signature }
        var chunks: [String: [UInt8]] = [:]
        var at = 8
        while at + 12 <= file.count {
            let length = Int(Self.word(file, at))
            guard at + 12 + length <= file.count else { throw Fault.chunk }
            let name = String(decoding: file[at + 4..<at + 8], as: UTF8.self)
            guard Self.crc(file[at + 4..<at + 8 + length]) == Self.word(file, at + 8 + length) else {
                throw Fault.checksum
            }
            chunks[name, default: []] += file[at + 8..<at + 8 + length]
            at += 12 + length
        }
        guard let header = chunks["IHDR"], header.count == 13, header[8] == 8, header[12] == 0, chunks["IEND"] == []
        else { throw Fault.format }
        width = Int(Self.word(header, 0))
        height = Int(Self.word(header, 4))
        colourType = header[9]
        guard let size = [2: 3, 3: 1, 6: 4][colourType] else { throw Fault.format }
        let raw = try Inflate.zlib(chunks["IDAT"] ?? [])
        let rows = try Self.unfiltered(raw, rowBytes: width * size, pixelBytes: size, height: height)
        let palette = chunks["PLTE"] ?? []
        let alphas = chunks["tRNS"] ?? []
        let type = colourType
        pixels = stride(from: 0, to: rows.count, by: size).map { at in
            func pixel(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) -> UInt32 {
                UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24
            }
            guard type == 3 else {
                return pixel(rows[at], rows[at + 1], rows[at + 2], type == 6 ? rows[at + 3] : 255)
            }
            let index = Int(rows[at])
            let alpha = index < alphas.count ? alphas[index] : 255
            return pixel(palette[3 * index], palette[3 * index + 1], palette[3 * index + 2], alpha)
        }
    }

    private static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
        bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(0xFFFF_FFFF as UInt32) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value & 1 != 0 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
    }

    private static func unfiltered(_ raw: [UInt8], rowBytes: Int, pixelBytes: Int, height: Int) throws -> [UInt8] {
        guard raw.count == (rowBytes + 1) * height else { throw Fault.format }
        var rows = [UInt8](repeating: 0, count: rowBytes * height)
        for y in 0..<height {
            let filter = raw[y * (rowBytes + 1)]
            for x in 0..<rowBytes {
                let at = y * rowBytes + x
                let left = x >= pixelBytes ? Int(rows[at - pixelBytes]) : 0
                let above = y > 0 ? Int(rows[at - rowBytes]) : 0
                let corner = y > 0 && x >= pixelBytes ? Int(rows[at - rowBytes - pixelBytes]) : 0
                let guess: Int
                switch filter {
                case 0: guess = 0
                case 1: guess = left
                case 2: guess = above
                case 3: guess = (left + above) / 2
                case 4:
                    let sum = left + above - corner
                    let (a, b, c) = (abs(sum - left), abs(sum - above), abs(sum - corner))
                    guess = a <= b && a <= c ? left : b <= c ? above : corner
                default: throw Fault.filter
                }
                rows[at] = raw[y * (rowBytes + 1) + 1 + x] &+ UInt8(guess)
            }
        }
        return rows
    }
}
