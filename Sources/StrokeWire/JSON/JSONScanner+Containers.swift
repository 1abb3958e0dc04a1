/// Containers are walked over member by member: enter, take each member, continue after it. Both say whether another
/// member follows, and stand at its first byte then.
extension JSONScanner {
    @inline(__always)
    mutating func enterObject(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool {
        try enter(UInt8(ascii: "{"), UInt8(ascii: "}"), text)
    }

    @inline(__always)
    mutating func continueObject(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool {
        try go(onUntil: UInt8(ascii: "}"), text)
    }

    @inline(__always)
    mutating func enterArray(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool {
        try enter(UInt8(ascii: "["), UInt8(ascii: "]"), text)
    }

    @inline(__always)
    mutating func continueArray(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool {
        try go(onUntil: UInt8(ascii: "]"), text)
    }

    /// Takes a key and the colon after it; the value is next.
    /// - Returns: offsets of what is between the key's quotes.
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
    private mutating func go(onUntil close: UInt8, _ text: borrowing Span<UInt8>) throws(JSONFault) -> Bool {
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
