/// The Huffman codes of a block of runs, which writes the block in them.
///
/// A run is the literal bytes of its first pixel, then matches at the distance of one pixel. A match has at least 3 bytes,
/// so that a pixel of one byte may be repeated as a literal once or twice.
struct RunCode {
    private static let endOfBlock = 256
    private static let symbols = 286

    private let pixelBytes: Int
    private let code: HuffmanCode

    /// The best codes for a block.
    init(_ block: [ByteRun], pixelBytes: Int) {
        self.pixelBytes = pixelBytes
        code = HuffmanCode(frequencies: Self.frequencies(block, pixelBytes: pixelBytes))
    }

    private static func frequencies(_ block: [ByteRun], pixelBytes: Int) -> [Int] {
        var frequencies = [Int](repeating: 0, count: symbols)
        let matches = MatchLength.all
        frequencies.withUnsafeMutableBufferPointer { frequencies in
            frequencies[endOfBlock] = 1
            for run in block {
                guard run.count > 0 else {
                    frequencies[0] &+= 1
                    continue
                }
                let left = MatchLength.cut((Int(run.count) &- 1) &* pixelBytes) { length in
                    frequencies[Int(matches[length &- MatchLength.least].symbol)] &+= 1
                }
                for place in 0..<pixelBytes { frequencies[run.byte(place)] &+= 1 &+ left }
            }
        }
        return frequencies
    }

    /// Writes the block and its end.
    func write(_ block: [ByteRun], to output: inout BitWriter) {
        let symbols = zip(code.codes, code.lengths).map { Bits(value: UInt64($0), length: Int($1)) }
        let matches = MatchLength.all.map { match in
            symbols[Int(match.symbol)].followed(by: UInt64(match.extra), length: Int(match.extraBits))
                .followed(by: distanceCode, length: 1)
        }
        for run in block {
            guard run.count > 0 else {
                output.write(symbols[0].value, length: symbols[0].length)
                continue
            }
            var pixel = Bits(value: 0, length: 0)
            for place in 0..<pixelBytes {
                let symbol = symbols[run.byte(place)]
                pixel = pixel.followed(by: symbol.value, length: symbol.length)
            }
            output.write(pixel.value, length: pixel.length)
            let left = MatchLength.cut((Int(run.count) &- 1) &* pixelBytes) { length in
                let match = matches[length &- MatchLength.least]
                output.write(match.value, length: match.length)
            }
            for _ in 0..<left { output.write(pixel.value, length: pixel.length) }
        }
        output.write(symbols[Self.endOfBlock].value, length: symbols[Self.endOfBlock].length)
    }

    /// Two distances have codes, of one bit each, because some decoders reject an incomplete code. The upper one is that of
    /// the previous pixel, except for pixels of one byte, which use the lower one.
    private var upperDistance: Int { max(pixelBytes - 1, 1) }
    private var distanceCode: UInt64 { pixelBytes == 1 ? 0 : 1 }

    /// Writes the lengths of all codes in four bits each: 150 bytes a block, without a code for them.
    func writeHeader(isLast: Bool, to output: inout BitWriter) {
        output.write(isLast ? 1 : 0, length: 1)
        output.write(2, length: 2)
        output.write(UInt64(Self.symbols - 257), length: 5)
        output.write(UInt64(upperDistance), length: 5)
        output.write(15, length: 4)
        // In the order of the format: the three kinds of repetition, which are unused, then all lengths.
        output.write(0, length: 9)
        for _ in 0..<16 { output.write(4, length: 3) }
        let distances = (0...upperDistance).map { $0 < upperDistance - 1 ? 0 as UInt8 : 1 }
        for length in code.lengths + distances {
            // Canonical codes of four bits are the numbers themselves, first bit lowest.
            let reversed = (0..<4).reduce(0 as UInt8) { $0 << 1 | length >> $1 & 1 }
            output.write(UInt64(reversed), length: 4)
        }
    }
}

/// Some bits, the first one lowest.
private struct Bits {
    let value: UInt64
    let length: Int

    @inline(__always)
    func followed(by value: UInt64, length: Int) -> Bits {
        Bits(value: self.value | value &<< UInt64(self.length), length: self.length &+ length)
    }
}

extension ByteRun {
    /// A byte of the pixel.
    @inline(__always)
    fileprivate func byte(_ place: Int) -> Int { Int(value >> UInt32(8 &* place) & 255) }
}

/// The code of the length of a match: a symbol and extra bits (RFC 1951, section 3.2.5).
struct MatchLength {
    static let least = 3
    static let most = 258

    let symbol: UInt16
    let extraBits: UInt8
    let extra: UInt8

    /// By length, from ``least`` on.
    static let all: [MatchLength] = (least...most).map { length in
        if length == most { return MatchLength(symbol: 285, extraBits: 0, extra: 0) }
        let offset = length - least
        if offset < 8 { return MatchLength(symbol: UInt16(257 + offset), extraBits: 0, extra: 0) }
        // Four symbols for each number of extra bits.
        let bits = Int.bitWidth - offset.leadingZeroBitCount - 3
        let symbol = 257 + 4 * bits + offset >> bits
        return MatchLength(
            symbol: UInt16(symbol), extraBits: UInt8(bits), extra: UInt8(offset & (1 << bits - 1)))
    }

    /// Cuts `count` bytes into matches. Returns the number of bytes that are left to literals: 0, 1 or 2.
    @inline(__always)
    static func cut(_ count: Int, _ body: (_ length: Int) -> Void) -> Int {
        var left = count
        while left > most {
            let length = left - most < least ? left - least : most
            body(length)
            left &-= length
        }
        guard left >= least else { return left }
        body(left)
        return 0
    }
}
