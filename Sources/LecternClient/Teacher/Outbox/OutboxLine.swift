internal import StrokeWire

/// One line of an outbox file: eight hexadecimal digits of FNV-1a (32 bit) over the rest, a blank, the rest.
///
/// Line breaks and backslashes in the rest are escaped by a backslash.
enum OutboxLine {
    private static let backslash = UInt8(ascii: "\\")
    private static let lineBreak = UInt8(ascii: "\n")
    private static let prefixLength = 9

    /// The line with its line break.
    static func encoded(_ content: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(content.count + 1)
        for byte in content {
            switch byte {
            case lineBreak: escaped += [backslash, UInt8(ascii: "n")]
            case backslash: escaped += [backslash, backslash]
            default: escaped.append(byte)
            }
        }
        return checksum(of: escaped) + escaped + [lineBreak]
    }

    /// - Parameter line: without its line break.
    /// - Returns: nil for a line that was not written so.
    static func content(of line: ArraySlice<UInt8>) -> [UInt8]? {
        guard line.count >= prefixLength else { return nil }
        let escaped = line.dropFirst(prefixLength)
        guard line.prefix(prefixLength).elementsEqual(checksum(of: escaped)) else { return nil }
        var content: [UInt8] = []
        content.reserveCapacity(escaped.count)
        var isEscaped = false
        for byte in escaped {
            if isEscaped {
                content.append(byte == UInt8(ascii: "n") ? lineBreak : byte)
                isEscaped = false
            } else if byte == backslash {
                isEscaped = true
            } else {
                content.append(byte)
            }
        }
        return content
    }

    private static func checksum(of bytes: some Sequence<UInt8>) -> [UInt8] {
        let digits = String(FNV1a32.hash(bytes), radix: 16)
        return Array((String(repeating: "0", count: prefixLength - 1 - digits.count) + digits + " ").utf8)
    }
}
