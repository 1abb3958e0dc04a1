extension JSONScanner {
    /// Takes a whole text: one value, with nothing but white space around it.
    mutating func takeDocument(_ text: borrowing Span<UInt8>) throws(JSONFault) -> JSONToken {
        try begin(text)
        let token = try takeValue(text)
        try end(text)
        return token
    }

    /// Takes what stands before the value of a document.
    mutating func begin(_ text: borrowing Span<UInt8>) throws(JSONFault) {
        if next(text) == 0xef, peek(text, 1) == 0xbb, peek(text, 2) == 0xbf {
            throw JSONFault(reason: .byteOrderMark, offset: position)
        }
        skipWhiteSpace(text)
    }

    /// Takes what stands after the value of a document.
    mutating func end(_ text: borrowing Span<UInt8>) throws(JSONFault) {
        skipWhiteSpace(text)
        if position < text.count { throw JSONFault(reason: .trailingBytes, offset: position) }
    }

    /// Takes the value that begins at the next byte.
    mutating func takeValue(_ text: borrowing Span<UInt8>) throws(JSONFault) -> JSONToken {
        let start = position
        switch next(text) {
        case UInt8(ascii: "\""):
            return .string(try takeString(text))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .number(try takeNumber(text))
        case UInt8(ascii: "{"):
            var more = try enterObject(text)
            while more {
                _ = try takeKey(text)
                _ = try takeValue(text)
                more = try continueObject(text)
            }
            return .object(start..<position)
        case UInt8(ascii: "["):
            var more = try enterArray(text)
            while more {
                _ = try takeValue(text)
                more = try continueArray(text)
            }
            return .array(start..<position)
        case UInt8(ascii: "t"):
            try takeWord("true", text)
            return .bool(true)
        case UInt8(ascii: "f"):
            try takeWord("false", text)
            return .bool(false)
        case UInt8(ascii: "n"):
            try takeWord("null", text)
            return .null
        default:
            throw unexpected(text)
        }
    }

    private mutating func takeWord(_ word: StaticString, _ text: borrowing Span<UInt8>) throws(JSONFault) {
        for offset in 0..<word.utf8CodeUnitCount { try expect(word.utf8Start[offset], text) }
    }
}
