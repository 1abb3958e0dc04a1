/// Reads a JSON text from its beginning to its end, once: for bodies of many objects, where ``JSONObject`` would read each
/// object again for every object that it is in.
package struct JSONStream {
    let bytes: [UInt8]
    private var scanner = JSONScanner(maximumDepth: JSONObject.maximumDepth)

    /// Reads a whole body.
    /// - Parameter value: takes the body's one value.
    package static func read<Value>(
        _ bytes: [UInt8], _ value: (inout JSONStream) throws(Rejection) -> Value
    ) throws(Rejection) -> Value {
        var stream = JSONStream(bytes: bytes)
        try stream.scan { scanner, text throws(JSONFault) in try scanner.begin(text) }
        let result = try value(&stream)
        try stream.scan { scanner, text throws(JSONFault) in try scanner.end(text) }
        return result
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func scan<Value>(
        _ body: (inout JSONScanner, borrowing Span<UInt8>) throws(JSONFault) -> Value
    ) throws(Rejection) -> Value {
        var scanner = scanner
        defer { self.scanner = scanner }
        do {
            return try body(&scanner, bytes.span)
        } catch {
            throw error.rejection
        }
    }

    /// Takes an object.
    /// - Parameter member: takes the value of a member.
    package mutating func takeObject(
        _ member: (_ key: String, inout JSONStream) throws(Rejection) -> Void
    ) throws(Rejection) {
        guard scanner.next(bytes.span) == UInt8(ascii: "{") else { throw .wrongType(nil, "an object") }
        var more = try scan { scanner, text throws(JSONFault) in try scanner.enterObject(text) }
        while more {
            let key = try scan { scanner, text throws(JSONFault) in
                JSONText.string(try scanner.takeKey(text), of: text)
            }
            try member(key, &self)
            more = try scan { scanner, text throws(JSONFault) in try scanner.continueObject(text) }
        }
    }

    /// Takes an array.
    /// - Parameter element: takes an element.
    package mutating func takeArray(_ element: (inout JSONStream) throws(Rejection) -> Void) throws(Rejection) {
        guard scanner.next(bytes.span) == UInt8(ascii: "[") else { throw .wrongType(nil, "an array") }
        var more = try scan { scanner, text throws(JSONFault) in try scanner.enterArray(text) }
        while more {
            try element(&self)
            more = try scan { scanner, text throws(JSONFault) in try scanner.continueArray(text) }
        }
    }

    private mutating func takeValue() throws(Rejection) -> JSONToken {
        try scan { scanner, text throws(JSONFault) in try scanner.takeValue(text) }
    }

    /// Takes a value that nobody reads.
    package mutating func skip() throws(Rejection) { _ = try takeValue() }

    /// Whether an object is next.
    var isObject: Bool { scanner.next(bytes.span) == UInt8(ascii: "{") }

    /// Takes a value.
    /// - Returns: its bytes if it is an object.
    mutating func object() throws(Rejection) -> [UInt8]? {
        guard case .object(let range) = try takeValue() else { return nil }
        return Array(bytes[range])
    }

    /// Takes `null` if it is next.
    mutating func takeNull() throws(Rejection) -> Bool {
        guard scanner.next(bytes.span) == UInt8(ascii: "n") else { return false }
        try skip()
        return true
    }

    package mutating func string(_ field: String) throws(Rejection) -> String {
        guard case .string(let range) = try takeValue() else { throw .wrongType(field, "a string") }
        return JSONText.string(range, of: bytes.span)
    }

    mutating func optionalString(_ field: String) throws(Rejection) -> String? {
        try takeNull() ? nil : string(field)
    }

    mutating func strings(_ field: String) throws(Rejection) -> [String] {
        var list: [String] = []
        try takeArray { stream throws(Rejection) in list.append(try stream.string(field)) }
        return list
    }

    package mutating func bool(_ field: String) throws(Rejection) -> Bool {
        try optionalBool(field).required(field)
    }

    mutating func optionalBool(_ field: String) throws(Rejection) -> Bool? {
        switch try takeValue() {
        case .null: return nil
        case .bool(let value): return value
        default: throw .wrongType(field, "true or false")
        }
    }

    mutating func optionalNumber(_ field: String) throws(Rejection) -> Double? {
        try takeNull() ? nil : Optional(try takeValue()).number(field, bytes.span)
    }

    /// An integer of any width.
    package mutating func integer<Number: FixedWidthInteger>(_ field: String) throws(Rejection) -> Number {
        guard case .number(let number) = try takeValue() else { throw .wrongType(field, "an integer") }
        guard let value: Number = number.exactly(bytes.span) else { throw .outOfRange(field, "an integer that fits") }
        return value
    }

    /// An index of a room, 0 … 2⁶³−2.
    mutating func index(_ field: String) throws(Rejection) -> UInt64 {
        try UInt64(integer(field, in: 0...(Int64.max - 1)))
    }

    mutating func count(_ field: String) throws(Rejection) -> Int {
        try Int(integer(field, in: 0...Int64.max))
    }

    mutating func optionalCount(_ field: String) throws(Rejection) -> Int? {
        try takeNull() ? nil : count(field)
    }

    private mutating func integer(_ field: String, in range: ClosedRange<Int64>) throws(Rejection) -> Int64 {
        try Optional(try takeValue()).integer(field, in: range, bytes.span).required(field)
    }
}
