/// A JSON value, not decoded.
enum JSONToken {
    case null
    case bool(Bool)
    case number(JSONNumber)
    /// Offsets between the quotes.
    case string(Range<Int>)
    /// Offsets from the opening to after the closing bracket.
    case array(Range<Int>)
    /// Offsets from the opening to after the closing brace.
    case object(Range<Int>)
}

extension Int64 {
    /// The largest integer that every JSON implementation keeps exactly, 2⁵³−1.
    static var maxSafeInteger: Int64 { (1 << 53) - 1 }
}

/// Type and range checks of a field. `field` is its name on the wire.
extension JSONToken? {
    /// An integer, nil if the field is absent. An integer beyond `Int64` is clamped to it, because every range ends
    /// inside; one beyond `Double` is `out-of-range`.
    func integer(_ field: String, _ text: borrowing Span<UInt8>) throws(Rejection) -> Int64? {
        guard let self else { return nil }
        guard case .number(let number) = self else { throw .wrongType(field, "an integer") }
        switch number.integer(text) {
        case .value(let value, hasFraction: false): return value
        case .beyond(let isNegative, hasFraction: false): return isNegative ? .min : .max
        case .value(_, hasFraction: true), .beyond(_, hasFraction: true): throw .wrongType(field, "an integer")
        case .infinite: throw .outOfRange(field, "an integer that a double can hold")
        }
    }

    /// An integer of any width, nil if the field is absent; `out-of-range` where it has a fraction or does not fit.
    func exactInteger<Number: FixedWidthInteger>(
        _ field: String, _ text: borrowing Span<UInt8>
    ) throws(Rejection) -> Number? {
        guard let self else { return nil }
        guard case .number(let number) = self else { throw .wrongType(field, "an integer") }
        guard let value: Number = number.exactly(text) else { throw .outOfRange(field, "an integer that fits") }
        return value
    }

    /// An integer within a range that ends inside `Int64`.
    func integer(
        _ field: String, in range: ClosedRange<Int64>, _ text: borrowing Span<UInt8>
    ) throws(Rejection) -> Int64? {
        guard let value = try integer(field, text) else { return nil }
        guard range.contains(value) else {
            throw .outOfRange(field, "between \(range.lowerBound) and \(range.upperBound)")
        }
        return value
    }

    /// A number truncated toward zero.
    func truncated(_ field: String, _ text: borrowing Span<UInt8>) throws(Rejection) -> Int64? {
        guard let self else { return nil }
        guard case .number(let number) = self else { throw .wrongType(field, "a number") }
        guard case .value(let value, _) = number.integer(text) else {
            throw .outOfRange(field, "a number that 64 bits can hold")
        }
        return value
    }

    /// A string.
    func string(_ field: String, _ text: borrowing Span<UInt8>) throws(Rejection) -> String? {
        guard let self else { return nil }
        guard case .string(let range) = self else { throw .wrongType(field, "a string") }
        return JSONText.string(range, of: text)
    }

    /// A finite number.
    func number(_ field: String, _ text: borrowing Span<UInt8>) throws(Rejection) -> Double? {
        guard let self else { return nil }
        guard case .number(let number) = self else { throw .wrongType(field, "a number") }
        let value = number.doubleValue(text)
        guard value.isFinite else { throw .outOfRange(field, "a number that a double can hold") }
        return value
    }

    /// A finite number within a range.
    func number(
        _ field: String, in range: ClosedRange<Double>, _ text: borrowing Span<UInt8>
    ) throws(Rejection) -> Double? {
        guard let value = try number(field, text) else { return nil }
        guard range.contains(value) else {
            throw .outOfRange(field, "between \(range.lowerBound) and \(range.upperBound)")
        }
        return value
    }
}

extension JSONToken {
    /// The elements of an array in a well-formed text.
    /// - Parameter limit: the greatest number of them; beyond: `out-of-range`.
    func elements(
        _ field: String, atMost limit: Int, _ text: borrowing Span<UInt8>
    ) throws(Rejection) -> [JSONToken] {
        guard case .array(let range) = self else { throw .wrongType(field, "an array") }
        var elements: [JSONToken] = []
        do {
            var scanner = JSONScanner(at: range.lowerBound, maximumDepth: JSONObject.maximumDepth)
            var more = try scanner.enterArray(text)
            while more, elements.count <= limit {
                elements.append(try scanner.takeValue(text))
                more = try scanner.continueArray(text)
            }
        } catch {
            throw error.rejection
        }
        guard elements.count <= limit else { throw .outOfRange(field, "a list of at most \(limit)") }
        return elements
    }
}

/// Decodes strings of a well-formed JSON text.
enum JSONText {
    /// The string between two quotes. A lone surrogate becomes U+FFFD.
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

    /// Decodes one escape; moves `offset` from its backslash to the byte after it.
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

    /// A key of one ASCII letter, plain or escaped; nil for any other key.
    @inline(__always)
    static func letter(_ range: Range<Int>, of text: borrowing Span<UInt8>) -> UInt8? {
        if range.count == 1 { return text[range.lowerBound] }
        // As `\u0078`.
        guard range.count == 6, text[range.lowerBound] == UInt8(ascii: "\\") else { return nil }
        let name = string(range, of: text).utf8
        return name.count == 1 ? name.first : nil
    }
}
