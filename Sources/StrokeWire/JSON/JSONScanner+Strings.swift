extension JSONScanner {
    /// Takes a string, quotes included, without decoding it.
    /// - Returns: offsets of what is between the quotes.
    mutating func takeString(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Range<Int> {
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
    /// What the byte counts as a hexadecimal digit in ASCII, letters of either case; nil where it is none.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}
