/// Checks subjects. libnats does not: a blank or a line break in a subject would end the protocol line, and the server
/// would read what follows as another command.
enum Subject {
    /// The server's control line has at most 4,096 bytes for a subject, a reply subject and two sizes.
    static let maxLength = 1024

    /// Whether a subject can be published to: 1 to 1,024 bytes, no empty tokens, no blanks or control characters, no
    /// wildcards.
    static func isLiteral(_ subject: String) -> Bool {
        isValid(subject, wildcards: false)
    }

    /// Whether a subject can be subscribed to: like `isLiteral`, but a token may be `*`, and the last one `>`.
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

    /// Whether `wide` matches every subject that `narrow` matches; both may have wildcards.
    static func pattern(_ wide: String, covers narrow: String) -> Bool {
        let wideTokens = wide.split(separator: ".", omittingEmptySubsequences: false)
        let narrowTokens = narrow.split(separator: ".", omittingEmptySubsequences: false)
        for (place, token) in wideTokens.enumerated() {
            guard place < narrowTokens.count else { return false }
            if token == ">" { return true }
            let other = narrowTokens[place]
            guard other == token || (token == "*" && other != ">") else { return false }
        }
        return wideTokens.count == narrowTokens.count
    }
}

/// Makes subjects that nobody else subscribes to.
enum Inbox {
    /// The prefix, a full stop and 22 random characters with about 113 bits.
    static func random(_ prefix: String) -> String {
        let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        return prefix + "." + String((0..<22).map { _ in alphabet[Int.random(in: 0..<alphabet.count)] })
    }
}
