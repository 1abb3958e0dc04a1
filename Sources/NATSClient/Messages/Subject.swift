/// What NATS takes as a subject. libnats sends what it is given: a blank or a line break in a subject would end the
/// protocol line there, and what follows would be read as another command.
enum Subject {
    /// The server's control line ends at 4,096 bytes and carries a subject, a reply subject and two sizes.
    static let maxLength = 1024

    /// Whether this can be published to: 1 to 1,024 bytes, tokens that are not empty, no blanks or control
    /// characters, no wildcards.
    static func isLiteral(_ subject: String) -> Bool {
        isValid(subject, wildcards: false)
    }

    /// Whether this can be subscribed to: as above, but a token may be `*`, and the last one `>`.
    static func isPattern(_ subject: String) -> Bool {
        isValid(subject, wildcards: true)
    }

    private static func isValid(_ subject: String, wildcards: Bool) -> Bool {
        guard 1...maxLength ~= subject.utf8.count else { return false }
        var tokenLength = 0
        var tokenStart: UInt8 = 0
        for byte in subject.utf8 {
            if byte == UInt8(ascii: ".") {
                guard isToken(length: tokenLength, start: tokenStart, last: false, wildcards) else { return false }
                tokenLength = 0
            } else {
                guard byte > 0x20, byte != 0x7f else { return false }
                if tokenLength == 0 { tokenStart = byte }
                tokenLength += 1
            }
        }
        return isToken(length: tokenLength, start: tokenStart, last: true, wildcards)
    }

    private static func isToken(length: Int, start: UInt8, last: Bool, _ wildcards: Bool) -> Bool {
        guard length == 1 else { return length > 1 }
        switch start {
        case UInt8(ascii: "*"): return wildcards
        case UInt8(ascii: ">"): return wildcards && last
        default: return true
        }
    }
}
