/// A PNG decoder that shares nothing with the encoder: 8 bits a channel, palette, RGB and RGBA, no interlacing.
public struct PNGReader {
    public let width: Int
    public let height: Int
    public var size: (Int, Int) { (width, height) }
    public let colourType: UInt8
    /// Straight `0xAABBGGRR`, row by row.
    public let pixels: [UInt32]

    public enum Fault: Error { case signature, chunk, checksum, format, filter }

    public init(_ file: [UInt8]) throws {
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

/// Undoes zlib's compression (RFC 1950 and 1951), slowly and plainly.
struct Inflate {
    public enum Fault: Error { case header, block, code, distance, checksum, tooShort }

    private let bytes: [UInt8]
    private var bit = 0
    private var output: [UInt8] = []

    static func zlib(_ bytes: [UInt8]) throws -> [UInt8] {
        guard bytes.count > 6, bytes[0] & 15 == 8, (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0 else {
            throw Fault.header
        }
        var inflate = Inflate(bytes: bytes, bit: 16)
        try inflate.run()
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in inflate.output {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        let stored = bytes.suffix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        guard stored == high << 16 | low else { throw Fault.checksum }
        return inflate.output
    }

    private init(bytes: [UInt8], bit: Int) {
        self.bytes = bytes
        self.bit = bit
    }

    private mutating func run() throws {
        var isLast = false
        while !isLast {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try copyStored()
            case 1:
                let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
                try decode(Code(lengths), Code([Int](repeating: 5, count: 30)))
            case 2:
                let (literals, distances) = try readCodes()
                try decode(literals, distances)
            default: throw Fault.block
            }
        }
    }

    private mutating func take(_ count: Int) throws -> Int {
        var value = 0
        for place in 0..<count {
            guard bit / 8 < bytes.count else { throw Fault.tooShort }
            value |= Int(bytes[bit / 8] >> UInt8(bit % 8) & 1) << place
            bit += 1
        }
        return value
    }

    private mutating func copyStored() throws {
        bit = (bit + 7) / 8 * 8
        let count = try take(16)
        guard try take(16) == count ^ 0xFFFF, bit / 8 + count <= bytes.count else { throw Fault.block }
        output += bytes[bit / 8..<bit / 8 + count]
        bit += count * 8
    }

    private mutating func readCodes() throws -> (Code, Code) {
        let literals = try take(5) + 257
        let distances = try take(5) + 1
        let count = try take(4) + 4
        var lengths = [Int](repeating: 0, count: 19)
        for place in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].prefix(count) {
            lengths[place] = try take(3)
        }
        let code = Code(lengths)
        var all: [Int] = []
        while all.count < literals + distances {
            switch try symbol(code) {
            case 16: all += [Int](repeating: all.last ?? 0, count: try take(2) + 3)
            case 17: all += [Int](repeating: 0, count: try take(3) + 3)
            case 18: all += [Int](repeating: 0, count: try take(7) + 11)
            case let length: all.append(length)
            }
        }
        return (Code(Array(all.prefix(literals))), Code(Array(all.dropFirst(literals))))
    }

    private mutating func decode(_ literals: Code, _ distances: Code) throws {
        while true {
            let symbol = try symbol(literals)
            if symbol < 256 {
                output.append(UInt8(symbol))
            } else if symbol == 256 {
                return
            } else {
                guard symbol < 286 else { throw Fault.code }
                let index = symbol - 257
                let extra = index < 8 || index == 28 ? 0 : index / 4 - 1
                let base = index == 28 ? 258 : index < 8 ? index + 3 : (4 + index % 4) << extra + 3
                let length = base + (try take(extra))
                let far = try self.symbol(distances)
                guard far < 30 else { throw Fault.code }
                let farExtra = far < 4 ? 0 : far / 2 - 1
                let distance = (far < 4 ? far + 1 : (2 + far % 2) << farExtra + 1) + (try take(farExtra))
                guard distance <= output.count else { throw Fault.distance }
                for _ in 0..<length { output.append(output[output.count - distance]) }
            }
        }
    }

    private mutating func symbol(_ code: Code) throws -> Int {
        var value = 0
        var first = 0
        var index = 0
        for length in 1...15 {
            value |= try take(1)
            let count = code.counts[length]
            if value - first < count { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw Fault.code
    }

    /// A canonical Huffman code: how many words of each length, and the symbols in order of their words.
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int]

        init(_ lengths: [Int]) {
            for length in lengths where length > 0 { counts[length] += 1 }
            symbols = lengths.indices.filter { lengths[$0] > 0 }
                .sorted { (lengths[$0], $0) < (lengths[$1], $1) }
        }
    }
}
