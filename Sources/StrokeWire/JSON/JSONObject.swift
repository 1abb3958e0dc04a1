/// Members of a JSON object by name: for all bodies of the protocol except stroke messages.
struct JSONObject {
    let bytes: [UInt8]
    private var members: [String: JSONToken] = [:]

    /// Nesting limit of a body, messages inside it included.
    static let maximumDepth = 16

    /// Reads a body.
    /// - Parameters:
    ///   - names: the members to keep; others only have to be well-formed.
    ///   - limit: size limit of the body in bytes.
    /// - Throws: `too-large`, `not-json`, or `wrong-type` if it is not an object.
    init(_ bytes: [UInt8], keeping names: [String], limit: Int = JSONObject.defaultLimit) throws(Rejection) {
        guard bytes.count <= limit else { throw .tooLarge(bytes: bytes.count, limit: limit) }
        let token: JSONToken
        do {
            var scanner = JSONScanner(maximumDepth: Self.maximumDepth)
            token = try scanner.takeDocument(bytes.span)
        } catch {
            throw error.rejection
        }
        try self.init(token, of: bytes, keeping: names, field: nil)
    }

    /// Reads an object inside a well-formed body.
    /// - Parameter field: its name in the rejection if it is not an object.
    init(_ token: JSONToken, of bytes: [UInt8], keeping names: [String], field: String?) throws(Rejection) {
        guard case .object(let range) = token else { throw .wrongType(field, "an object") }
        self.bytes = bytes
        let text = bytes.span
        do {
            var scanner = JSONScanner(at: range.lowerBound, maximumDepth: Self.maximumDepth)
            var more = try scanner.enterObject(text)
            while more {
                let key = try scanner.takeKey(text)
                let value = try scanner.takeValue(text)
                let name = JSONText.string(key, of: text)
                if names.contains(name) { members[name] = value }
                more = try scanner.continueObject(text)
            }
        } catch {
            throw error.rejection
        }
    }

    /// Default size limit of a body in bytes.
    static let defaultLimit = 65_536

    /// The last value of a name, nil if there is none.
    subscript(_ name: String) -> JSONToken? { members[name] }
}

extension JSONObject {
    func integer(_ name: String, in range: ClosedRange<Int64>) throws(Rejection) -> Int64? {
        try self[name].integer(name, in: range, bytes.span)
    }

    func requiredInteger(_ name: String, in range: ClosedRange<Int64>) throws(Rejection) -> Int64 {
        try integer(name, in: range).required(name)
    }

    /// An index of a room, 0 … 2⁶³−2: one more always fits.
    func index(_ name: String) throws(Rejection) -> UInt64? {
        try integer(name, in: 0...(Int64.max - 1)).map { UInt64($0) }
    }

    func requiredIndex(_ name: String) throws(Rejection) -> UInt64 {
        try index(name).required(name)
    }

    func number(_ name: String, in range: ClosedRange<Double>) throws(Rejection) -> Double? {
        try self[name].number(name, in: range, bytes.span)
    }

    func bool(_ name: String) throws(Rejection) -> Bool? {
        guard let token = self[name] else { return nil }
        guard case .bool(let value) = token else { throw .wrongType(name, "true or false") }
        return value
    }

    /// A string of at most `limit` bytes in UTF-8.
    func string(_ name: String, limit: Int) throws(Rejection) -> String? {
        guard let token = self[name] else { return nil }
        guard case .string(let range) = token else { throw .wrongType(name, "a string") }
        let value = JSONText.string(range, of: bytes.span)
        guard value.utf8.count <= limit else { throw .outOfRange(name, "at most \(limit) bytes long") }
        return value
    }

    func requiredString(_ name: String, limit: Int) throws(Rejection) -> String {
        try string(name, limit: limit).required(name)
    }

    /// A string that `make` converts; `out-of-range` where that returns nil.
    func required<Value>(
        _ name: String, _ expected: String, _ make: (String) -> Value?
    ) throws(Rejection) -> Value {
        guard let value = make(try requiredString(name, limit: 1024)) else { throw .outOfRange(name, expected) }
        return value
    }

    /// The elements of an array.
    func elements(_ name: String) throws(Rejection) -> [JSONToken]? {
        guard let token = self[name] else { return nil }
        guard case .array(let range) = token else { throw .wrongType(name, "an array") }
        let text = bytes.span
        var elements: [JSONToken] = []
        do {
            var scanner = JSONScanner(at: range.lowerBound, maximumDepth: Self.maximumDepth)
            var more = try scanner.enterArray(text)
            while more {
                elements.append(try scanner.takeValue(text))
                more = try scanner.continueArray(text)
            }
        } catch {
            throw error.rejection
        }
        return elements
    }

    /// The elements of an array of strings; none where it is absent.
    func strings(_ name: String) throws(Rejection) -> [String] {
        var strings: [String] = []
        for token in try elements(name) ?? [] {
            guard case .string(let range) = token else { throw .wrongType(name, "an array of strings") }
            strings.append(JSONText.string(range, of: bytes.span))
        }
        return strings
    }

    /// The elements of an array of integers.
    /// - Parameter limit: the greatest number of them.
    func integers(
        _ name: String, in range: ClosedRange<Int64>, atMost limit: Int
    ) throws(Rejection) -> [Int64]? {
        guard let tokens = try elements(name) else { return nil }
        guard tokens.count <= limit else { throw .outOfRange(name, "a list of at most \(limit)") }
        var integers: [Int64] = []
        for token in tokens { integers.append(try Optional(token).integer(name, in: range, bytes.span) ?? 0) }
        return integers
    }

    func requiredElements(_ name: String) throws(Rejection) -> [JSONToken] {
        try elements(name).required(name)
    }
}

extension Optional {
    /// The value of a field; `missing-field` where there is none.
    package func required(_ field: String) throws(Rejection) -> Wrapped {
        guard let self else { throw .missing(field) }
        return self
    }
}

/// What is read of foreign JSON objects.
package enum JSONField {
    /// The names of an object's members; nil where the text is no JSON object in UTF-8 by RFC 8259, or has a name twice.
    package static func names(in bytes: [UInt8]) -> Set<String>? {
        let text = bytes.span
        var scanner = JSONScanner(maximumDepth: JSONObject.maximumDepth)
        var names: Set<String> = []
        do {
            try scanner.begin(text)
            var more = try scanner.enterObject(text)
            while more {
                guard names.insert(JSONText.string(try scanner.takeKey(text), of: text)).inserted else { return nil }
                _ = try scanner.takeValue(text)
                more = try scanner.continueObject(text)
            }
            try scanner.end(text)
        } catch {
            return nil
        }
        return names
    }

    /// The text of a top-level member; nil where the bytes are no JSON object, or the member is missing or no string.
    package static func string(_ name: String, in bytes: [UInt8]) -> String? {
        guard let object = try? JSONObject(bytes, keeping: [name], limit: .max) else { return nil }
        return (try? object.string(name, limit: .max)) ?? nil
    }

    /// The number of a top-level member, for example the time in a video's metadata; nil where the text is no JSON object, or the member is missing or no number.
    package static func number(_ name: String, in bytes: [UInt8]) -> Double? {
        guard let object = try? JSONObject(bytes, keeping: [name]) else { return nil }
        return (try? object.number(name, in: -0x1p63...0x1p63)) ?? nil
    }
}
