/// Compresses rows of pixels, given as runs of equal pixels, in zlib's format (RFC 1950, 1951), and adds them to a file.
///
/// A board is paper and solid ink with thin soft edges between: what repeats is the previous pixel. Where a pixel has
/// several bytes, ``RunMatcher`` looks for earlier edges too. Each block has Huffman codes and a chunk of its own.
struct RunDeflater {
    /// Runs of one block but for the rest of its last row: 192 KiB.
    private static let blockRuns = 1 << 14

    private let pixelBytes: Int
    private var file: PNGFile
    /// What matches of the block may reach, then the block, then room.
    private var runs = [ByteRun](repeating: .rowBegin(at: 0), count: 2 * blockRuns)
    /// The place of the block in ``runs``.
    private var block = 0..<0
    /// The number of runs that stood before ``runs``.
    private var dropped = 0
    /// The number of bytes of the rows so far.
    private var position: UInt32 = 0
    private var matcher: RunMatcher?
    private var tokens: [RunToken] = []
    private var code: RunCode
    private var output = BitWriter()
    private var checksum = Adler32()

    /// Begins the rows of a file whose header and palette are complete.
    ///
    /// - Parameter pixelBytes: bytes of a pixel: 1, 3 or 4.
    init(_ file: PNGFile, pixelBytes: Int) {
        self.file = file
        self.pixelBytes = pixelBytes
        // Matches of pixels of one byte would hardly be shorter than the pixels.
        matcher = pixelBytes > 1 ? RunMatcher() : nil
        code = RunCode(pixelBytes: pixelBytes)
        output.reserve(bits: 16)
        output.withCursor { $0.write(Bits(value: 0x0178, length: 16)) }
    }

    /// Adds a row: the byte of its filter, none, and its pixels, at most 2¹⁴.
    ///
    /// - Parameter packed: the bytes of a pixel, the lowest one first.
    @inline(__always)
    mutating func add(_ row: UnsafeBufferPointer<PixelRun>, packed: (UInt32) -> UInt32) {
        var end = block.upperBound
        var position = position
        let pixelBytes = UInt32(truncatingIfNeeded: pixelBytes)
        let needed = end + row.count + 1
        if needed > runs.count {
            runs.append(contentsOf: repeatElement(.rowBegin(at: 0), count: needed + Self.blockRuns - runs.count))
        }
        runs.withUnsafeMutableBufferPointer { runs in
            runs[end] = .rowBegin(at: position)
            end &+= 1
            position &+= 1
            // Neighbours that differ on the canvas may be equal in the file; then there are two runs.
            for run in row {
                runs[end] = ByteRun(value: packed(run.pixel), count: run.count, start: position)
                end &+= 1
                position &+= run.count &* pixelBytes
            }
        }
        self.position = position
        block = block.lowerBound..<end
        if block.count >= Self.blockRuns { writeBlock(isLast: false) }
    }

    /// Ends the last row and the file. Returns its bytes.
    consuming func finish() -> [UInt8] {
        writeBlock(isLast: true)
        return file.bytes
    }

    private mutating func writeBlock(isLast: Bool) {
        let block = block
        runs.withUnsafeBufferPointer { runs in
            checksum.add(UnsafeBufferPointer(rebasing: runs[block]), pixelBytes: pixelBytes)
        }
        let matchCode = code
        let mostTokens = (matcher == nil ? 1 : 2) * block.count
        if tokens.count < mostTokens { tokens = [RunToken](repeating: .rowBegin, count: mostTokens) }
        tokens.withUnsafeMutableBufferPointer { tokens in
            guard let memory = tokens.baseAddress else { return }
            let (count, code) = RunCode.tokenize(into: memory, pixelBytes: pixelBytes) { sink in
                runs.withUnsafeBufferPointer { runs in
                    guard matcher != nil, let base = runs.baseAddress else {
                        for run in runs[block] { if run.count > 0 { sink.add(run) } else { sink.addRowBegin() } }
                        return
                    }
                    matchCode.withCosts { costs in
                        matcher?.match(base, block: block, dropped: dropped, costs, into: &sink)
                    }
                }
            }
            self.code = code
            code.write(UnsafeBufferPointer(start: memory, count: count), isLast: isLast, to: &output)
        }
        if isLast {
            output.end(with: checksum.value.bigEndianBytes)
            output.takeBytes { file.append(rows: $0) }
            file.end()
        } else {
            output.takeBytes { file.append(rows: $0) }
            forget()
        }
    }

    /// Keeps of the block what matches of the next one may reach.
    private mutating func forget() {
        let window = UInt32(RunMatcher.window)
        let end = block.upperBound
        let kept =
            matcher == nil
            ? end : runs[..<end].firstIndex { $0.start &+ $0.count &* UInt32(pixelBytes) &+ window > position } ?? end
        runs.withUnsafeMutableBufferPointer { runs in
            guard let base = runs.baseAddress else { return }
            base.update(from: base + kept, count: end - kept)
        }
        dropped += kept
        block = end - kept..<end - kept
    }
}

/// Equal pixels side by side, as the file has them.
struct ByteRun {
    /// The bytes of the pixel, lowest first.
    let value: UInt32
    /// Their number, at most 2¹⁴; 0 for the byte with which a row begins.
    let count: UInt32
    /// The number of bytes of the image before the run.
    let start: UInt32

    static func rowBegin(at start: UInt32) -> ByteRun { ByteRun(value: 0, count: 0, start: start) }
}

/// The checksum of zlib's format (RFC 1950), a run of pixels at a time.
struct Adler32 {
    private static let modulus: UInt64 = 65_521

    private var low: UInt64 = 1
    private var high: UInt64 = 0

    var value: UInt32 { UInt32(high % Self.modulus) << 16 | UInt32(low % Self.modulus) }

    mutating func add(_ runs: UnsafeBufferPointer<ByteRun>, pixelBytes: Int) {
        for run in runs {
            guard run.count > 0 else {
                // Once a row suffices: a row has at most 2¹⁶ bytes.
                low %= Self.modulus
                high = (high &+ low) % Self.modulus
                continue
            }
            add(run, pixelBytes: UInt64(pixelBytes))
        }
    }

    /// Adds a run of any length in constant time: each byte counts once in the low sum, and in the high sum as often as
    /// there are bytes from it on.
    @inline(__always)
    private mutating func add(_ run: ByteRun, pixelBytes: UInt64) {
        var sum: UInt64 = 0
        var staggered: UInt64 = 0
        for place in 0..<pixelBytes {
            let byte = UInt64(run.value >> UInt32(8 &* place) & 255)
            sum &+= byte
            staggered &+= byte &* place
        }
        let count = UInt64(run.count)
        high &+= count &* pixelBytes &* low &+ sum &* pixelBytes &* (count &* (count &+ 1) / 2) &- staggered &* count
        low &+= count &* sum
    }
}
