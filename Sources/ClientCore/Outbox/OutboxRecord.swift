public import StrokeWire

/// An event of a publisher's messages: one line of an outbox file.
public enum OutboxRecord: Sendable, Equatable {
    /// A message is sent for the first time after this.
    case message(number: Int64, order: Int, isStroke: Bool, bytes: [UInt8])
    /// The journal has stored the message.
    case stored(number: Int64, order: Int)
    /// The service has answered an operation.
    case settled(number: Int64, Outcome)

    /// A checkpoint holds the operations through this one, in an incarnation of the room.
    case covered(number: Int64, incarnation: String)

    /// The service's answer.
    public enum Outcome: Sendable, Equatable {
        /// Applied with this index.
        case applied(index: UInt64)
        /// Rejected with this code.
        case rejected(RejectionCode)
        /// Given up by the service.
        case gaveUp
    }
}

extension OutboxRecord {
    init(_ message: OutgoingMessage) {
        self = .message(
            number: message.number, order: message.order, isStroke: message.isStroke, bytes: message.bytes)
    }
}

extension OutboxRecord {
    /// The line's content: `m NUMBER ORDER s|c MESSAGE`, `a NUMBER ORDER`, `s NUMBER applied INDEX`,
    /// `s NUMBER rejected CODE`, `s NUMBER gave-up`, `c NUMBER INCARNATION`.
    package var content: [UInt8] {
        switch self {
        case .message(let number, let order, let isStroke, let bytes):
            Array("m \(number) \(order) \(isStroke ? "s" : "c") ".utf8) + bytes
        case .stored(let number, let order): Array("a \(number) \(order)".utf8)
        case .settled(let number, .applied(let index)): Array("s \(number) applied \(index)".utf8)
        case .settled(let number, .rejected(let code)): Array("s \(number) rejected \(code.rawValue)".utf8)
        case .settled(let number, .gaveUp): Array("s \(number) gave-up".utf8)
        case .covered(let number, let incarnation): Array("c \(number) \(incarnation)".utf8)
        }
    }

    /// - Returns: nil for other content.
    package init?(_ content: [UInt8]) {
        // The last field, a message, may contain blanks.
        let fields = content.split(separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: false)
        let words = fields.prefix(4).map { String(decoding: $0, as: UTF8.self) }
        guard words.count >= 3, let number = Int64(words[1]) else { return nil }
        switch (words[0], words[2], words.count > 3 ? words[3] : nil) {
        case ("m", let order, let kind?) where fields.count == 5 && (kind == "s" || kind == "c"):
            guard let order = Int(order) else { return nil }
            self = .message(number: number, order: order, isStroke: kind == "s", bytes: Array(fields[4]))
        case ("a", let order, nil):
            guard let order = Int(order) else { return nil }
            self = .stored(number: number, order: order)
        case ("s", "applied", let index?) where fields.count == 4:
            guard let index = UInt64(index) else { return nil }
            self = .settled(number: number, .applied(index: index))
        case ("s", "rejected", let code?) where fields.count == 4:
            guard let code = RejectionCode(rawValue: code) else { return nil }
            self = .settled(number: number, .rejected(code))
        case ("s", "gave-up", nil):
            self = .settled(number: number, .gaveUp)
        case ("c", let incarnation, nil):
            self = .covered(number: number, incarnation: incarnation)
        default:
            return nil
        }
    }
}

/// The format of a line: eight hexadecimal digits of FNV-1a (32 bit) of the escaped content, a blank, the escaped
/// content. Line breaks and backslashes are escaped by a backslash.
package enum OutboxLine {
    private static let backslash = UInt8(ascii: "\\")
    private static let lineBreak = UInt8(ascii: "\n")
    private static let prefixLength = 9

    /// Encodes a line with its line break.
    package static func encoded(_ content: [UInt8]) -> [UInt8] {
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

    /// Decodes a line.
    ///
    /// - Parameter line: without its line break.
    /// - Returns: nil for a damaged line.
    package static func content(of line: ArraySlice<UInt8>) -> [UInt8]? {
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
        Array("\(String(hexadecimal: FNV1a32.hash(bytes), digits: prefixLength - 1)) ".utf8)
    }
}
