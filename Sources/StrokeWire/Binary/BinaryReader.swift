/// Reads the binary form byte by byte. Takes nothing beyond the bytes, whatever they are.
package struct BinaryReader {
    let bytes: [UInt8]
    package private(set) var position: Int

    /// Reads from a position on.
    package init(_ bytes: [UInt8], from position: Int) { (self.bytes, self.position) = (bytes, position) }

    /// Reads behind the first byte.
    /// - Throws: where that is not the version that is known.
    init(_ bytes: [UInt8]) throws(BinaryFormError) {
        guard let first = bytes.first, BinaryMessage.isBinary(bytes) else { throw .damaged(at: 0) }
        guard first == BinaryMessage.firstByte else { throw .unknownVersion(first & 0x0f) }
        self.bytes = bytes
        position = 1
    }

    /// The fault of what is before the position.
    var damaged: BinaryFormError { .damaged(at: position) }
    var isAtEnd: Bool { position == bytes.count }
    /// The bytes that are left.
    var rest: Range<Int> { position..<bytes.count }

    mutating func byte() throws(BinaryFormError) -> UInt8 {
        guard position < bytes.count else { throw damaged }
        position += 1
        return bytes[position - 1]
    }

    mutating func varint() throws(BinaryFormError) -> UInt64 {
        guard let value = Varint.read(bytes, &position) else { throw damaged }
        return value
    }

    mutating func signed() throws(BinaryFormError) -> Int64 { Int64(zigzag: try varint()) }

    /// The number of what follows; each takes at least a byte.
    mutating func count() throws(BinaryFormError) -> Int {
        let value = try varint()
        guard value <= UInt64(bytes.count - position) else { throw damaged }
        return Int(value)
    }

    /// The place of some bytes: their number stands before them.
    mutating func dataRange() throws(BinaryFormError) -> Range<Int> {
        let count = try count()
        position += count
        return position - count..<position
    }

    mutating func data() throws(BinaryFormError) -> ArraySlice<UInt8> { bytes[try dataRange()] }

    mutating func string(atMost limit: Int) throws(BinaryFormError) -> String {
        let data = try data()
        guard data.count <= limit, let text = String(validating: data, as: UTF8.self) else { throw damaged }
        return text
    }

    /// Eight bytes, highest first.
    mutating func word() throws(BinaryFormError) -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<8 { value = value << 8 | UInt64(try byte()) }
        return value
    }
}

/// Why bytes of the binary form cannot be read.
public enum BinaryFormError: Error, Sendable, Hashable {
    /// Of a later version. Nothing is wrong with the bytes.
    case unknownVersion(UInt8)
    /// The bytes before this offset are not those of the form.
    case damaged(at: Int)
    /// More than this number of bytes would come of it.
    case tooLarge(limit: Int)
    /// The message inside is not acceptable.
    case rejected(Rejection)

    /// Its name, in the manner of ``RejectionCode``.
    public var code: String {
        switch self {
        case .unknownVersion: "unknown-version"
        case .damaged: "damaged"
        case .tooLarge: RejectionCode.tooLarge.rawValue
        case .rejected(let rejection): rejection.code.rawValue
        }
    }
}

extension BinaryFormError: CustomStringConvertible {
    /// One English sentence.
    public var description: String {
        switch self {
        case .unknownVersion(let version): "The binary form has version \(version), which is not known."
        case .damaged(let offset): "The binary form is damaged before byte \(offset)."
        case .tooLarge(let limit): "The binary form stands for more than \(limit) bytes."
        case .rejected(let rejection): rejection.message
        }
    }
}
