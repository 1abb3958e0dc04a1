/// The Huffman codes of a block of tokens, which write the block.
struct RunCode {
    private static let endOfBlock = 256
    private static let symbols = 286

    private let pixelBytes: Int
    private let code: HuffmanCode
    private let distances: HuffmanCode
    /// The number of distances that the block has codes for.
    private let distanceCount: Int
    /// The bits of the block without its header.
    private let bitCount: Int

    /// The codes for a first block, of which nothing is known: guesses for ``withCosts(_:)``.
    init(pixelBytes: Int) {
        self.init(
            frequencies: [Int](repeating: 1, count: Self.symbols),
            distances: [Int](repeating: 1, count: MatchDistance.symbols), extraBits: 0, pixelBytes: pixelBytes)
    }

    /// Has the tokens of a block written to memory, and counts them. Returns their number, and the best codes for them.
    static func tokenize(
        into memory: UnsafeMutablePointer<RunToken>, pixelBytes: Int, _ body: (inout TokenSink) -> Void
    ) -> (count: Int, code: RunCode) {
        var frequencies = [Int](repeating: 0, count: Self.symbols)
        var distances = [Int](repeating: 0, count: MatchDistance.symbols)
        frequencies[endOfBlock] = 1
        var extraBits = 0
        var count = 0
        frequencies.withUnsafeMutableBufferPointer { frequencies in
            distances.withUnsafeMutableBufferPointer { distances in
                MatchLength.all.withUnsafeBufferPointer { lengths in
                    guard let symbols = frequencies.baseAddress, let distances = distances.baseAddress,
                        let lengths = lengths.baseAddress
                    else { return }
                    var sink = TokenSink(
                        place: memory, frequencies: symbols, distances: distances, lengths: lengths,
                        pixelBytes: pixelBytes)
                    body(&sink)
                    distances[MatchDistance(pixelBytes).symbol] &+= sink.repetitions
                    extraBits = sink.extraBits
                    count = sink.place - memory
                }
            }
        }
        let code = RunCode(
            frequencies: frequencies, distances: distances, extraBits: extraBits, pixelBytes: pixelBytes)
        return (count, code)
    }

    private init(frequencies: [Int], distances: [Int], extraBits: Int, pixelBytes: Int) {
        var distances = distances
        // At least two distances have codes, because some decoders reject an incomplete code.
        distances[MatchDistance(pixelBytes).symbol] += 1
        distances[1] += 1
        self.pixelBytes = pixelBytes
        code = HuffmanCode(frequencies: frequencies)
        self.distances = HuffmanCode(frequencies: distances)
        distanceCount = 1 + (distances.lastIndex { $0 > 0 } ?? 0)
        bitCount =
            zip(frequencies, code.lengths).reduce(extraBits) { $0 + $1.0 * Int($1.1) }
            + zip(distances, self.distances.lengths).reduce(0) { $0 + $1.0 * Int($1.1) }
    }

    /// Writes the block and its end.
    func write(_ block: UnsafeBufferPointer<RunToken>, isLast: Bool, to output: inout BitWriter) {
        output.reserve(bits: bitCount + Self.headerBits)
        writeHeader(isLast: isLast, to: &output)
        let symbols = zip(code.codes, code.lengths).map { Bits(value: UInt64($0), length: Int($1)) }
        let distances = zip(distances.codes, distances.lengths).map { Bits(value: UInt64($0), length: Int($1)) }
        let nearest = distances[MatchDistance(pixelBytes).symbol]
        let lengths = MatchLength.all.map { length in
            symbols[Int(length.symbol)].followed(by: UInt64(length.extra), length: Int(length.extraBits))
        }
        let repetitions = lengths.map { $0.followed(by: nearest.value, length: nearest.length) }
        let pixelBytes = pixelBytes
        symbols.withUnsafeBufferPointer { symbols in
            distances.withUnsafeBufferPointer { distances in
                lengths.withUnsafeBufferPointer { lengths in
                    repetitions.withUnsafeBufferPointer { repetitions in
                        output.withCursor { cursor in
                            Self.write(
                                block, pixelBytes, symbols, distances, lengths, repetitions, &cursor)
                            cursor.write(symbols[Self.endOfBlock])
                        }
                    }
                }
            }
        }
    }

    private static func write(
        _ block: UnsafeBufferPointer<RunToken>, _ pixelBytes: Int, _ symbols: UnsafeBufferPointer<Bits>,
        _ distances: UnsafeBufferPointer<Bits>, _ lengths: UnsafeBufferPointer<Bits>,
        _ repetitions: UnsafeBufferPointer<Bits>, _ cursor: inout BitWriter.Cursor
    ) {
        for token in block {
            if token.isMatch, token.distance != pixelBytes {
                let distance = MatchDistance(token.distance)
                let code = distances[distance.symbol]
                cursor.write(
                    lengths[token.length &- MatchLength.least].followed(by: code.value, length: code.length)
                        .followed(by: UInt64(truncatingIfNeeded: distance.extra), length: distance.extraBits))
            } else if token.count == 0 {
                cursor.write(symbols[0])
            } else {
                var pixel = Bits(value: 0, length: 0)
                if !token.isMatch {
                    for place in 0..<pixelBytes {
                        let symbol = symbols[token.byte(place)]
                        pixel = pixel.followed(by: symbol.value, length: symbol.length)
                    }
                    cursor.write(pixel)
                }
                guard token.count != 1 else { continue }
                let left = MatchLength.cut(token.repeatedBytes(pixelBytes)) { length in
                    cursor.write(repetitions[length &- MatchLength.least])
                }
                for _ in 0..<left { cursor.write(pixel) }
            }
        }
    }

    private static let headerBits = 3 + 14 + 19 * 3 + 4 * (symbols + MatchDistance.symbols)

    /// Writes the lengths of all codes in four bits each: 150 bytes a block, without a code for them.
    private func writeHeader(isLast: Bool, to output: inout BitWriter) {
        output.withCursor { output in
            output.write(Bits(value: isLast ? 1 : 0, length: 1))
            output.write(Bits(value: 2, length: 2))
            output.write(Bits(value: UInt64(Self.symbols - 257), length: 5))
            output.write(Bits(value: UInt64(distanceCount - 1), length: 5))
            output.write(Bits(value: 15, length: 4))
            // In the order of the format: the three kinds of repetition, which are unused, then all lengths.
            output.write(Bits(value: 0, length: 9))
            for _ in 0..<16 { output.write(Bits(value: 4, length: 3)) }
            for length in code.lengths + distances.lengths.prefix(distanceCount) {
                // Canonical codes of four bits are the numbers themselves, first bit lowest.
                let reversed = (0..<4).reduce(0 as UInt8) { $0 << 1 | length >> $1 & 1 }
                output.write(Bits(value: UInt64(reversed), length: 4))
            }
        }
    }
}

// What tokens would cost in this code, to choose those of the next block.
extension RunCode {
    /// Bits of what a block may have.
    struct Costs {
        fileprivate let literals: UnsafeBufferPointer<Int32>
        fileprivate let lengths: UnsafeBufferPointer<Int32>
        fileprivate let distances: UnsafeBufferPointer<Int32>
        let pixelBytes: Int

        @inline(__always)
        func pixel(_ value: UInt32) -> Int {
            var bits = literals[Int(value & 255)] &+ literals[Int(value >> 8 & 255)]
            bits &+= literals[Int(value >> 16 & 255)]
            return Int(pixelBytes == 4 ? bits &+ literals[Int(value >> 24)] : bits)
        }

        /// The repetition of the first of so many pixels.
        @inline(__always)
        func repetition(_ count: Int) -> Int {
            guard count > 1 else { return 0 }
            return Int(lengths[min((count &- 1) &* pixelBytes, MatchLength.most)]) &+ 1
        }

        /// The byte with which a row begins.
        @inline(__always)
        var rowBegin: Int { Int(literals[0]) }

        @inline(__always)
        func match(length: Int, distance: Int) -> Int {
            Int(lengths[length] &+ distances[MatchDistance(distance).symbol])
        }
    }

    /// Bits of a symbol that the code has not.
    private static let unusedLength: Int32 = 12

    /// Lends what pixels of three or four bytes and matches cost.
    func withCosts<Result>(_ body: (Costs) -> Result) -> Result {
        func cost(_ length: UInt8) -> Int32 { length > 0 ? Int32(length) : Self.unusedLength }
        let literals = code.lengths.prefix(Self.endOfBlock).map(cost)
        let lengths =
            [Int32](repeating: 0, count: MatchLength.least)
            + MatchLength.all.map { cost(code.lengths[Int($0.symbol)]) + Int32($0.extraBits) }
        let distances = distances.lengths.enumerated().map { symbol, length in
            cost(length) + Int32(MatchDistance.extraBits(symbol: symbol))
        }
        return literals.withUnsafeBufferPointer { literals in
            lengths.withUnsafeBufferPointer { lengths in
                distances.withUnsafeBufferPointer { distances in
                    body(Costs(literals: literals, lengths: lengths, distances: distances, pixelBytes: pixelBytes))
                }
            }
        }
    }
}

/// What a block has: a run as the literal bytes of its first pixel and repetitions at the distance of one pixel; or a match
/// alone.
///
/// A repetition has at least 3 bytes, so that a pixel of one byte may be repeated as a literal once or twice.
struct RunToken {
    private static let matchBit: UInt32 = 1 << 31

    /// The bytes of the pixel, lowest first; the distance of a match in bytes.
    fileprivate let value: UInt32
    /// Pixels of a run, 0 for the byte with which a row begins; for a match its length in bytes and the highest bit.
    fileprivate let count: UInt32

    static let rowBegin = RunToken(value: 0, count: 0)

    /// Equal pixels, at most 2¹⁴.
    @inline(__always)
    init(value: UInt32, count: UInt32) {
        self.value = value
        self.count = count
    }

    /// Bytes that stood `distance` before; at most ``MatchLength/most`` unless that is the distance of one pixel.
    @inline(__always)
    static func match(distance: Int, length: Int) -> RunToken {
        RunToken(
            value: UInt32(truncatingIfNeeded: distance), count: UInt32(truncatingIfNeeded: length) | matchBit)
    }

    @inline(__always)
    fileprivate var isMatch: Bool { count & Self.matchBit != 0 }
    @inline(__always)
    fileprivate var distance: Int { Int(value) }
    @inline(__always)
    fileprivate var length: Int { Int(count & ~Self.matchBit) }

    /// The bytes that repeat the pixel before them.
    @inline(__always)
    fileprivate func repeatedBytes(_ pixelBytes: Int) -> Int {
        isMatch ? length : (Int(count) &- 1) &* pixelBytes
    }

    @inline(__always)
    fileprivate func byte(_ place: Int) -> Int { Int(value >> UInt32(8 &* place) & 255) }
}

/// Writes tokens to memory and counts their symbols.
struct TokenSink {
    fileprivate var place: UnsafeMutablePointer<RunToken>
    fileprivate let frequencies: UnsafeMutablePointer<Int>
    fileprivate let distances: UnsafeMutablePointer<Int>
    fileprivate let lengths: UnsafePointer<MatchLength>
    fileprivate let pixelBytes: Int
    /// The bits that follow the symbols.
    fileprivate var extraBits = 0
    /// The matches at the distance of one pixel that are parts of runs.
    fileprivate var repetitions = 0

    @inline(__always)
    mutating func addRowBegin() {
        frequencies[0] &+= 1
        append(.rowBegin)
    }

    @inline(__always)
    mutating func add(_ run: ByteRun) {
        append(RunToken(value: run.value, count: run.count))
        let left = run.count > 1 ? countRepetition((Int(run.count) &- 1) &* pixelBytes) : 0
        for place in 0..<pixelBytes { frequencies[Int(run.value >> UInt32(8 &* place) & 255)] &+= 1 &+ left }
    }

    /// Adds bytes that repeat the pixel before them, at least ``MatchLength/least``.
    @inline(__always)
    mutating func addRepetition(_ bytes: Int) {
        append(.match(distance: pixelBytes, length: bytes))
        _ = countRepetition(bytes)
    }

    /// Adds bytes that stood `distance` before, at most ``MatchLength/most``.
    @inline(__always)
    mutating func addMatch(length: Int, distance: Int) {
        append(.match(distance: distance, length: length))
        guard distance != pixelBytes else {
            _ = countRepetition(length)
            return
        }
        let length = lengths[length &- MatchLength.least]
        let distance = MatchDistance(distance)
        frequencies[Int(length.symbol)] &+= 1
        distances[distance.symbol] &+= 1
        extraBits &+= Int(length.extraBits) &+ distance.extraBits
    }

    @inline(__always)
    private mutating func append(_ token: RunToken) {
        place.pointee = token
        place += 1
    }

    /// Returns the bytes that are left to literals.
    @inline(__always)
    private mutating func countRepetition(_ bytes: Int) -> Int {
        MatchLength.cut(bytes) { length in
            let length = lengths[length &- MatchLength.least]
            frequencies[Int(length.symbol)] &+= 1
            extraBits &+= Int(length.extraBits)
            repetitions &+= 1
        }
    }
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

/// The code of the distance of a match: a symbol and extra bits (RFC 1951, section 3.2.5).
struct MatchDistance {
    static let symbols = 30

    let symbol: Int
    let extraBits: Int
    let extra: Int

    /// Of a distance in bytes, 1 … ``RunMatcher/window``.
    @inline(__always)
    init(_ distance: Int) {
        let offset = distance &- 1
        // Two symbols for each number of extra bits.
        extraBits = max(Int.bitWidth &- 2 &- offset.leadingZeroBitCount, 0)
        symbol = 2 &* extraBits &+ offset &>> extraBits
        extra = offset & (1 &<< extraBits &- 1)
    }

    static func extraBits(symbol: Int) -> Int { max(symbol / 2 - 1, 0) }
}
