/// Reads a JSON text byte by byte, strictly by RFC 8259, in UTF-8.
///
/// Every function takes the text as a parameter, because a span cannot be stored. Pass the same text each time.
struct JSONScanner {
    /// Offset of the next byte; it never goes back.
    var position: Int
    /// Open containers around `position`.
    private var depth: Int
    /// Limit of open containers; bounds the recursion too.
    private let maximumDepth: Int

    init(at position: Int = 0, depth: Int = 0, maximumDepth: Int) {
        self.position = max(0, position)
        (self.depth, self.maximumDepth) = (depth, maximumDepth)
    }

    /// The next byte; 0, which JSON allows nowhere, at the end.
    @inline(__always)
    func next(_ text: borrowing Span<UInt8>) -> UInt8 { peek(text, 0) }

    /// The byte `distance` after the next one, 0 beyond the end.
    @inline(__always)
    func peek(_ text: borrowing Span<UInt8>, _ distance: Int) -> UInt8 {
        let offset = position &+ distance
        return offset < text.count ? text[unchecked: offset] : 0
    }

    @inline(__always)
    mutating func skipWhiteSpace(_ text: borrowing Span<UInt8>) {
        // Fast path: no white space.
        while next(text) <= UInt8(ascii: " ") {
            switch next(text) {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position &+= 1
            default: return
            }
        }
    }

    /// Takes `byte` if it is the next one.
    @inline(__always)
    mutating func take(_ byte: UInt8, _ text: borrowing Span<UInt8>) -> Bool {
        guard next(text) == byte else { return false }
        position &+= 1
        return true
    }

    /// Takes `byte`; throws if it is not the next one.
    @inline(__always)
    private mutating func expect(_ byte: UInt8, _ text: borrowing Span<UInt8>) throws(JSONFault) {
        guard take(byte, text) else { throw unexpected(text) }
    }

    /// The fault of an unexpected byte, or of an early end.
    private func unexpected(_ text: borrowing Span<UInt8>) -> JSONFault {
        JSONFault(reason: position < text.count ? .unexpectedByte : .unexpectedEnd, offset: position)
    }
}

extension JSONScanner {
    /// Takes a whole text: one value, with nothing but white space around it.
    mutating func takeDocument(_ text: borrowing Span<UInt8>) throws(JSONFault) -> JSONToken {
        try begin(text)
        let token = try takeValue(text)
        try end(text)
        return token
    }

    /// Takes a whole text that is an object, member by member.
    /// - Parameter member: takes the value of the member with the key at these offsets.
    /// - Returns: false where the text is another value, which was taken.
    @inline(__always)
    mutating func takeObject(
        _ text: borrowing Span<UInt8>,
        _ member: (_ key: Range<Int>, inout JSONScanner, borrowing Span<UInt8>) throws(JSONFault) -> Void
    ) throws(JSONFault) -> Bool {
        try begin(text)
        let isObject = next(text) == UInt8(ascii: "{")
        if isObject {
            var more = try enterObject(text)
            while more {
                try member(try takeKey(text), &self, text)
                more = try continueObject(text)
            }
        } else {
            _ = try takeValue(text)
        }
        try end(text)
        return isObject
    }

    /// Takes white space before a document's value; refuses a byte-order mark.
    private mutating func begin(_ text: borrowing Span<UInt8>) throws(JSONFault) {
        if next(text) == 0xef, peek(text, 1) == 0xbb, peek(text, 2) == 0xbf {
            throw JSONFault(reason: .byteOrderMark, offset: position)
        }
        skipWhiteSpace(text)
    }

    /// Takes white space after a document's value; refuses anything else.
    private mutating func end(_ text: borrowing Span<UInt8>) throws(JSONFault) {
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

/// Containers are read member by member: enter, take a member, continue. Both functions return whether another member
/// follows, and stop at its first byte.
extension JSONScanner {
    @inline(__always)
    mutating func enterObject(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool {
        try enter(UInt8(ascii: "{"), UInt8(ascii: "}"), text)
    }

    @inline(__always)
    mutating func continueObject(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool {
        try continueContainer(until: UInt8(ascii: "}"), text)
    }

    @inline(__always)
    mutating func enterArray(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool {
        try enter(UInt8(ascii: "["), UInt8(ascii: "]"), text)
    }

    @inline(__always)
    mutating func continueArray(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool {
        try continueContainer(until: UInt8(ascii: "]"), text)
    }

    /// Takes a key and the colon after it; the value is next.
    /// - Returns: offsets between the key's quotes.
    @inline(__always)
    mutating func takeKey(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Range<Int> {
        let key = try takeString(text)
        try takeColon(text)
        return key
    }

    @inline(__always)
    mutating func takeColon(_ text: borrowing Span<UInt8>) throws(JSONFault) {
        skipWhiteSpace(text)
        try expect(UInt8(ascii: ":"), text)
        skipWhiteSpace(text)
    }

    @inline(__always)
    private mutating func enter(
        _ open: UInt8, _ close: UInt8, _ text: borrowing Span<UInt8>
    ) throws(JSONFault) -> Bool {
        guard next(text) == open else { throw unexpected(text) }
        guard depth < maximumDepth else { throw JSONFault(reason: .tooDeep, offset: position) }
        depth &+= 1
        position &+= 1
        skipWhiteSpace(text)
        guard take(close, text) else { return true }
        depth &-= 1
        return false
    }

    @inline(__always)
    private mutating func continueContainer(until close: UInt8, _ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool
    {
        skipWhiteSpace(text)
        if take(UInt8(ascii: ","), text) {
            skipWhiteSpace(text)
            return true
        }
        try expect(close, text)
        depth &-= 1
        return false
    }
}

extension JSONScanner {
    /// Takes a string, quotes included, without decoding it.
    /// - Returns: offsets between the quotes.
    private mutating func takeString(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Range<Int> {
        try expect(UInt8(ascii: "\""), text)
        let start = position
        while true {
            let byte = next(text)
            if byte == UInt8(ascii: "\"") {
                position &+= 1
                return start..<(position &- 1)
            } else if byte < 0x20 {
                throw unexpected(text)
            } else if byte == UInt8(ascii: "\\") {
                try takeEscape(text)
            } else if byte < 0x80 {
                position &+= 1
            } else {
                try takeMultibyte(text)
            }
        }
    }

    private mutating func takeEscape(_ text: borrowing Span<UInt8>) throws(JSONFault) {
        position &+= 1
        switch next(text) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position &+= 1
        case UInt8(ascii: "u"):
            position &+= 1
            for _ in 0..<4 {
                guard next(text).hexadecimalValue != nil else { throw unexpected(text) }
                position &+= 1
            }
        default:
            throw unexpected(text)
        }
    }

    /// Takes a character of two to four bytes, by the table of well-formed sequences (Unicode 3-7): no overlong
    /// forms, no surrogates, nothing beyond U+10FFFF.
    private mutating func takeMultibyte(_ text: borrowing Span<UInt8>) throws(JSONFault) {
        let second: ClosedRange<UInt8>
        let length: Int
        switch next(text) {
        case 0xc2...0xdf: (second, length) = (0x80...0xbf, 2)
        case 0xe0: (second, length) = (0xa0...0xbf, 3)
        case 0xed: (second, length) = (0x80...0x9f, 3)
        case 0xe1...0xef: (second, length) = (0x80...0xbf, 3)
        case 0xf0: (second, length) = (0x90...0xbf, 4)
        case 0xf1...0xf3: (second, length) = (0x80...0xbf, 4)
        case 0xf4: (second, length) = (0x80...0x8f, 4)
        default: throw JSONFault(reason: .invalidUTF8, offset: position)
        }
        guard second.contains(peek(text, 1)),
            length < 3 || peek(text, 2) & 0xc0 == 0x80,
            length < 4 || peek(text, 3) & 0xc0 == 0x80
        else { throw JSONFault(reason: .invalidUTF8, offset: position) }
        position &+= length
    }
}

extension UInt8 {
    /// Value of an ASCII hexadecimal digit of either case; nil for any other byte.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}

extension JSONScanner {
    /// Takes a number and collects its decimal digits, so that its value needs no second pass.
    @inline(__always)
    mutating func takeNumber(_ text: borrowing Span<UInt8>) throws(JSONFault) -> JSONNumber {
        let start = position
        let isNegative = take(UInt8(ascii: "-"), text)
        var mantissa: UInt64 = 0
        let integerStart = position
        if !take(UInt8(ascii: "0"), text) { try takeDigits(&mantissa, text) }
        let integerDigits = position &- integerStart
        var fractionDigits = 0
        if take(UInt8(ascii: "."), text) {
            let fractionStart = position
            try takeDigits(&mantissa, text)
            fractionDigits = position &- fractionStart
        }
        var exponent = 0
        if next(text) | 0x20 == UInt8(ascii: "e") { exponent = try takeExponent(text) }
        return JSONNumber(
            isNegative: isNegative, mantissa: mantissa, integerDigits: integerDigits, fractionDigits: fractionDigits,
            exponent: exponent, range: start..<position)
    }

    /// Takes one digit or more; `mantissa` wraps around on overflow.
    @inline(__always)
    private mutating func takeDigits(_ mantissa: inout UInt64, _ text: borrowing Span<UInt8>) throws(JSONFault) {
        var digit = next(text) &- UInt8(ascii: "0")
        guard digit < 10 else { throw unexpected(text) }
        repeat {
            mantissa = mantissa &* 10 &+ UInt64(digit)
            position &+= 1
            digit = next(text) &- UInt8(ascii: "0")
        } while digit < 10
    }

    private mutating func takeExponent(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Int {
        position &+= 1
        let isNegative = next(text) == UInt8(ascii: "-")
        if isNegative || next(text) == UInt8(ascii: "+") { position &+= 1 }
        var exponent = 0
        var digit = next(text) &- UInt8(ascii: "0")
        guard digit < 10 else { throw unexpected(text) }
        repeat {
            exponent = min(exponent &* 10 &+ Int(digit), JSONNumber.exponentBound)
            position &+= 1
            digit = next(text) &- UInt8(ascii: "0")
        } while digit < 10
        return isNegative ? -exponent : exponent
    }
}

/// Where and why a text is not JSON.
struct JSONFault: Error, Equatable {
    enum Reason {
        case unexpectedByte
        case unexpectedEnd
        case invalidUTF8
        case tooDeep
        case byteOrderMark
        case trailingBytes
    }

    let reason: Reason
    /// Offset of the faulty byte.
    let offset: Int
}

extension JSONFault {
    /// The rejection that the sender gets.
    var rejection: Rejection {
        let what =
            switch reason {
            case .unexpectedByte: "there is an unexpected byte at offset \(offset)"
            case .unexpectedEnd: "it ends too early"
            case .invalidUTF8: "there is invalid UTF-8 at offset \(offset)"
            case .tooDeep: "it is nested too deep at offset \(offset)"
            case .byteOrderMark: "it begins with a byte-order mark"
            case .trailingBytes: "something follows its end at offset \(offset)"
            }
        return Rejection(code: .notJSON, message: "The message is not acceptable JSON: \(what).")
    }
}
