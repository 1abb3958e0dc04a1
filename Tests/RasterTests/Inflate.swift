/// Undoes zlib's compression (RFC 1950 and 1951), slowly and plainly.
struct Inflate {
    enum Fault: Error { case header, block, code, distance, checksum, tooShort }

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
