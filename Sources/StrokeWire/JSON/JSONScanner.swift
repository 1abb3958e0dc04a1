/// Walks over a JSON text from byte to byte, strictly by RFC 8259, in UTF-8.
///
/// The text is handed to every function anew, for a span cannot be kept. It has to be the same one each time.
struct JSONScanner {
    /// Offset of the next byte; it never goes back.
    var position: Int
    /// Containers that are open around `position`.
    var depth: Int
    /// Containers that may be open at once. It bounds the recursion too.
    let maximumDepth: Int

    init(at position: Int = 0, depth: Int = 0, maximumDepth: Int) {
        self.position = max(0, position)
        self.depth = depth
        self.maximumDepth = maximumDepth
    }

    /// The next byte, 0 at the end: that byte is nowhere allowed in JSON.
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
        // One comparison settles the usual case of no white space.
        while next(text) <= UInt8(ascii: " ") {
            switch next(text) {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position &+= 1
            default: return
            }
        }
    }

    /// Takes `byte`, if it is the next one.
    @inline(__always)
    mutating func take(_ byte: UInt8, _ text: borrowing Span<UInt8>) -> Bool {
        guard next(text) == byte else { return false }
        position &+= 1
        return true
    }

    /// Takes `byte`, which has to be the next one.
    @inline(__always)
    mutating func expect(_ byte: UInt8, _ text: borrowing Span<UInt8>) throws(JSONFault) {
        guard take(byte, text) else { throw unexpected(text) }
    }

    /// What is wrong when the next byte is not one that may stand here.
    func unexpected(_ text: borrowing Span<UInt8>) -> JSONFault {
        JSONFault(reason: position < text.count ? .unexpectedByte : .unexpectedEnd, offset: position)
    }
}
