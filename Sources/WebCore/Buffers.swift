/// Bytes from the page, read in order. What is missing reads as 0.
///
/// Numbers are little-endian, as in the memory of WebAssembly, and need not be aligned.
struct InputReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func number<Number: BitwiseCopyable>(_ type: Number.Type, or missing: Number) -> Number {
        let end = position + MemoryLayout<Number>.size
        guard end <= bytes.count else { return missing }
        defer { position = end }
        return bytes.loadUnaligned(fromByteOffset: position, as: type)
    }

    /// The next bytes, or those that are left.
    mutating func take(_ count: Int) -> [UInt8] {
        let end = min(position + max(count, 0), bytes.count)
        defer { position = end }
        return [UInt8](bytes[position..<end])
    }

    var isAtEnd: Bool { position >= bytes.count }
}

/// The two buffers between a page and the core. The page writes to the one and reads the other, at addresses that change with
/// every call.
struct Buffers {
    private(set) var input = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Words of the answer.
    var output: [UInt32] = []

    /// A place for so many bytes; they are the page's to write until the next call.
    mutating func reserve(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if count > input.count {
            input.deallocate()
            input = .allocate(byteCount: max(count, 2 * input.count), alignment: 16)
        }
        return input
    }

    func reader(_ count: Int) -> InputReader {
        InputReader(UnsafeRawBufferPointer(rebasing: input[..<min(max(count, 0), input.count)]))
    }

    mutating func append(_ number: Double) {
        let bits = number.bitPattern
        output.append(UInt32(truncatingIfNeeded: bits))
        output.append(UInt32(truncatingIfNeeded: bits >> 32))
    }
}
