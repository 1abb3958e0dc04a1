package import PathGeometry
internal import StrokeWire

/// Bytes from the page, read in order. What is missing reads as 0; part of a number is skipped.
///
/// Numbers are little-endian, as in the memory of WebAssembly, and need not be aligned.
package struct InputReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package mutating func number<Number: BitwiseCopyable>(_ type: Number.Type, or missing: Number) -> Number {
        let start = position
        position = min(start + MemoryLayout<Number>.size, bytes.count)
        guard position == start + MemoryLayout<Number>.size else { return missing }
        return bytes.loadUnaligned(fromByteOffset: start, as: type)
    }

    /// The next bytes, or those that are left.
    package mutating func take(_ count: Int) -> [UInt8] {
        let end = position + min(max(count, 0), bytes.count - position)
        defer { position = end }
        return [UInt8](bytes[position..<end])
    }

    package mutating func word() -> UInt32 { number(UInt32.self, or: 0) }

    /// A word with a sign: the same where integers have more bits.
    package mutating func signedWord() -> Int { Int(Int32(bitPattern: word())) }

    /// Bytes behind their number.
    package mutating func countedBytes() -> [UInt8] { take(Int(clamping: word())) }

    package var isAtEnd: Bool { position >= bytes.count }

    /// All places that are left, each x and y as floats of 64 bits.
    package mutating func places() -> [Point] {
        var places: [Point] = []
        while !isAtEnd { places.append(Point(number(Double.self, or: 0), number(Double.self, or: 0))) }
        return places
    }
}

/// The two buffers between a page and the core. The page writes to the one and reads the other, at addresses that change with
/// every call.
package struct Buffers {
    private(set) var input = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Words of the answer.
    package var output: [UInt32] = []

    /// A place for so many bytes; they are the page's to write until the next call.
    mutating func reserve(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if count > input.count {
            input.deallocate()
            input = .allocate(byteCount: max(count, 2 * input.count), alignment: 16)
        }
        return input
    }

    package func reader(_ count: Int) -> InputReader {
        InputReader(UnsafeRawBufferPointer(rebasing: input[..<min(max(count, 0), input.count)]))
    }

    /// Appends a record: its kind, the number of words that follow, and what `body` appends.
    mutating func record(_ kind: UInt32, _ body: (inout Buffers) -> Void) {
        output.append(kind)
        let place = output.count
        output.append(0)
        body(&self)
        output[place] = UInt32(output.count - place - 1)
    }

    /// Appends bytes: their number, and four in a word.
    package mutating func append(_ bytes: [UInt8]) {
        output.append(UInt32(bytes.count))
        output.reserveCapacity(output.count + (bytes.count + 3) / 4)
        var (word, shift): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            word |= UInt32(byte) << shift
            shift += 8
            if shift == 32 {
                output.append(word)
                (word, shift) = (0, 0)
            }
        }
        if shift > 0 { output.append(word) }
    }

    package mutating func append(_ text: String) { append(Array(text.utf8)) }

    /// Appends the lower 32 bits of a number.
    package mutating func append(word: Int) { output.append(UInt32(truncatingIfNeeded: word)) }

    /// How many numbers, and they.
    package mutating func append(_ numbers: [Int]) {
        append(word: numbers.count)
        for number in numbers { append(word: number) }
    }

    mutating func append(_ digest: BoardDigest) {
        output.append(UInt32(truncatingIfNeeded: digest.value))
        output.append(UInt32(truncatingIfNeeded: digest.value >> 32))
    }

    package mutating func append(_ number: Double) {
        let bits = number.bitPattern
        output.append(UInt32(truncatingIfNeeded: bits))
        output.append(UInt32(truncatingIfNeeded: bits >> 32))
    }
}
