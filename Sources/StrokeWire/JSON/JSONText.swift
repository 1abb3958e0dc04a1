/// Reads strings out of a JSON text that a scanner has found well-formed.
enum JSONText {
    /// The string between two quotes. Half of a surrogate pair on its own becomes U+FFFD.
    static func string(_ range: Range<Int>, of text: borrowing Span<UInt8>) -> String {
        let inside = text.extracting(range)
        let isPlain = inside.withUnsafeBufferPointer { !$0.contains(UInt8(ascii: "\\")) }
        if isPlain { return inside.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
        var units: [UInt16] = []
        var plain: [UInt8] = []
        var offset = 0
        while offset < inside.count {
            guard inside[offset] == UInt8(ascii: "\\") else {
                plain.append(inside[offset])
                offset += 1
                continue
            }
            units.append(contentsOf: String(decoding: plain, as: UTF8.self).utf16)
            plain.removeAll(keepingCapacity: true)
            units.append(escaped(inside, at: &offset))
        }
        units.append(contentsOf: String(decoding: plain, as: UTF8.self).utf16)
        return String(decoding: units, as: UTF16.self)
    }

    /// Takes one escape; `offset` stands at its backslash.
    private static func escaped(_ text: borrowing Span<UInt8>, at offset: inout Int) -> UInt16 {
        let letter = text[offset + 1]
        offset += 2
        switch letter {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0c
        case UInt8(ascii: "n"): return 0x0a
        case UInt8(ascii: "r"): return 0x0d
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"):
            offset += 4
            return (offset - 4..<offset).reduce(0) { $0 << 4 | UInt16(text[$1].hexadecimalValue ?? 0) }
        default: return UInt16(letter)
        }
    }

    /// The key between two quotes where it is a single ASCII letter, however it is written; nil for any other.
    @inline(__always)
    static func letter(_ range: Range<Int>, of text: borrowing Span<UInt8>) -> UInt8? {
        if range.count == 1 { return text[range.lowerBound] }
        return range.count == 6 ? escapedLetter(range, of: text) : nil
    }

    /// A letter written as `\u0078`.
    private static func escapedLetter(_ range: Range<Int>, of text: borrowing Span<UInt8>) -> UInt8? {
        guard text[range.lowerBound] == UInt8(ascii: "\\"), text[range.lowerBound + 1] == UInt8(ascii: "u"),
            text[range.lowerBound + 2] == UInt8(ascii: "0"), text[range.lowerBound + 3] == UInt8(ascii: "0"),
            let high = text[range.lowerBound + 4].hexadecimalValue, high < 8,
            let low = text[range.lowerBound + 5].hexadecimalValue
        else { return nil }
        return high << 4 | low
    }
}
