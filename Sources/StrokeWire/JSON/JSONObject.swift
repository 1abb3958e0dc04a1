/// Members of a JSON object by name: for all bodies of the protocol except stroke messages, and for what is stored as JSON.
package struct JSONObject {
    let bytes: [UInt8]
    /// The last value of each name.
    private(set) var members: [String: JSONToken] = [:]

    /// Nesting limit of a body, messages inside it included.
    static let maximumDepth = 16
    /// Default size limit of a body in bytes.
    package static let defaultLimit = 65_536

    /// Reads a body.
    /// - Parameters:
    ///   - names: the members to keep, nil for all; others only have to be well-formed.
    ///   - limit: size limit of the body in bytes.
    /// - Throws: `too-large`, `not-json`, or `wrong-type` if it is not an object.
    package init(
        _ bytes: [UInt8], keeping names: [String]?, limit: Int = JSONObject.defaultLimit
    ) throws(Rejection) {
        guard bytes.count <= limit else { throw .tooLarge(bytes: bytes.count, limit: limit) }
        try self.init(JSONToken(document: bytes), of: bytes, keeping: names, field: nil)
    }

    /// Reads an object inside a well-formed body.
    /// - Parameter field: its name in the rejection if it is not an object.
    init(_ token: JSONToken, of bytes: [UInt8], keeping names: [String]?, field: String?) throws(Rejection) {
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
                if names?.contains(name) ?? true { members[name] = value }
                more = try scanner.continueObject(text)
            }
        } catch {
            throw error.rejection
        }
    }

    /// The same object, where a member that is `null` counts as absent.
    var withoutNulls: JSONObject {
        var object = self
        object.members = members.filter { if case .null = $0.value { false } else { true } }
        return object
    }

    /// The value of a member, nil if there is none.
    subscript(_ name: String) -> JSONToken? { members[name] }

    /// The names of the members that are kept.
    package var names: some Collection<String> { members.keys }
}

extension JSONToken {
    /// The one value of a whole body.
    /// - Throws: `not-json`.
    init(document bytes: [UInt8]) throws(Rejection) {
        do {
            var scanner = JSONScanner(maximumDepth: JSONObject.maximumDepth)
            self = try scanner.takeDocument(bytes.span)
        } catch {
            throw error.rejection
        }
    }
}

/// Type and range checks of a member. Each returns nil where the member is absent.
extension JSONObject {
    func integer(_ name: String, in range: ClosedRange<Int64>) throws(Rejection) -> Int64? {
        try self[name].integer(name, in: range, bytes.span)
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(Rejection) -> Int? {
        try integer(name, in: range.wide).map { Int($0) }
    }

    /// An integer of any width.
    package func integer<Number: FixedWidthInteger>(_ name: String) throws(Rejection) -> Number? {
        try self[name].exactInteger(name, bytes.span)
    }

    /// The elements of an array of integers of any width.
    package func integers<Number: FixedWidthInteger>(_ name: String) throws(Rejection) -> [Number]? {
        guard let tokens = try elements(name) else { return nil }
        var integers: [Number] = []
        for token in tokens { integers.append(try Optional(token).exactInteger(name, bytes.span).required(name)) }
        return integers
    }

    package func object(_ name: String) throws(Rejection) -> JSONObject? {
        guard let token = self[name] else { return nil }
        return try JSONObject(token, of: bytes, keeping: nil, field: name)
    }

    func requiredInteger(_ name: String, in range: ClosedRange<Int64>) throws(Rejection) -> Int64 {
        try integer(name, in: range).required(name)
    }

    /// A number of things, 0 or more.
    func count(_ name: String) throws(Rejection) -> Int? {
        try integer(name, in: 0...Int64.maxSafeInteger).map { Int(clamping: $0) }
    }

    func page(_ name: String) throws(Rejection) -> Int? { try integer(name, in: PageNumber.range) }

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

    /// A finite number.
    func number(_ name: String) throws(Rejection) -> Double? { try self[name].number(name, bytes.span) }

    /// A media time in milliseconds.
    func time(_ name: String) throws(Rejection) -> MediaTime? {
        try number(name, in: -0x1p53...0x1p53).flatMap { MediaTime(milliseconds: $0) }
    }

    package func bool(_ name: String) throws(Rejection) -> Bool? {
        guard let token = self[name] else { return nil }
        guard case .bool(let value) = token else { throw .wrongType(name, "true or false") }
        return value
    }

    /// A string of at most `limit` bytes in UTF-8.
    package func string(_ name: String, limit: Int) throws(Rejection) -> String? {
        guard let value = try self[name].string(name, bytes.span) else { return nil }
        guard value.utf8.count <= limit else { throw .outOfRange(name, "at most \(limit) bytes long") }
        return value
    }

    package func requiredString(_ name: String, limit: Int) throws(Rejection) -> String {
        try string(name, limit: limit).required(name)
    }

    /// A string that `make` converts; `out-of-range` where that returns nil.
    func value<Value>(
        _ name: String, _ expected: String, _ make: (String) -> Value?
    ) throws(Rejection) -> Value? {
        guard let text = try string(name, limit: 1024) else { return nil }
        guard let value = make(text) else { throw .outOfRange(name, expected) }
        return value
    }

    /// A string that has to be there and that `make` converts; `out-of-range` where that returns nil.
    func required<Value>(
        _ name: String, _ expected: String, _ make: (String) -> Value?
    ) throws(Rejection) -> Value {
        try value(name, expected, make).required(name)
    }

    func room() throws(Rejection) -> RoomID { try required("room", "the name of a room") { RoomID($0) } }

    func author() throws(Rejection) -> AuthorID { try required("author", "the name of an author") { AuthorID($0) } }

    /// The elements of an array.
    /// - Parameter limit: the greatest number of them; beyond: `out-of-range`.
    func elements(_ name: String, atMost limit: Int = .max) throws(Rejection) -> [JSONToken]? {
        guard let token = self[name] else { return nil }
        return try token.elements(name, atMost: limit, bytes.span)
    }

    /// The elements of an array of objects.
    /// - Parameter keys: the members to keep of each.
    func objects<Value>(
        _ name: String, keeping keys: [String], _ make: (JSONObject) throws(Rejection) -> Value
    ) throws(Rejection) -> [Value]? {
        guard let tokens = try elements(name) else { return nil }
        var values: [Value] = []
        values.reserveCapacity(tokens.count)
        for token in tokens { values.append(try make(JSONObject(token, of: bytes, keeping: keys, field: name))) }
        return values
    }

    /// The elements of an array of strings.
    func strings(_ name: String) throws(Rejection) -> [String]? {
        guard let tokens = try elements(name) else { return nil }
        var strings: [String] = []
        for token in tokens {
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
        guard let tokens = try elements(name, atMost: limit) else { return nil }
        var integers: [Int64] = []
        for token in tokens { integers.append(try Optional(token).integer(name, in: range, bytes.span) ?? 0) }
        return integers
    }
}

extension ClosedRange<Int> {
    var wide: ClosedRange<Int64> { Int64(lowerBound)...Int64(upperBound) }
}

extension Optional {
    /// The value of a field; `missing-field` where there is none.
    package func required(_ field: String) throws(Rejection) -> Wrapped {
        guard let self else { throw .missing(field) }
        return self
    }

    /// What was made of the value of a field; `out-of-range` where that could not be.
    func required(orOutOfRange field: String, _ expected: String) throws(Rejection) -> Wrapped {
        guard let self else { throw .outOfRange(field, expected) }
        return self
    }
}

/// What is read of foreign JSON objects.
package enum JSONField {
    /// The names of an object's members; nil where the text is no JSON object in UTF-8 by RFC 8259, or has a name twice.
    package static func names(in bytes: [UInt8]) -> Set<String>? {
        var scanner = JSONScanner(maximumDepth: JSONObject.maximumDepth)
        var (names, count) = (Set<String>(), 0)
        let isObject = try? scanner.takeObject(bytes.span) { key, scanner, text throws(JSONFault) in
            names.insert(JSONText.string(key, of: text))
            count += 1
            _ = try scanner.takeValue(text)
        }
        return isObject == true && names.count == count ? names : nil
    }

    /// The text of a top-level member; nil where the bytes are no JSON object, or the member is missing or no string.
    package static func string(_ name: String, in bytes: [UInt8]) -> String? {
        guard let object = try? JSONObject(bytes, keeping: [name], limit: .max) else { return nil }
        return (try? object.string(name, limit: .max)) ?? nil
    }

    /// The number of a top-level member, for example the time in a video's metadata; nil where the text is no JSON
    /// object, or the member is missing or no number.
    package static func number(_ name: String, in bytes: [UInt8]) -> Double? {
        guard let object = try? JSONObject(bytes, keeping: [name]) else { return nil }
        return (try? object.number(name, in: -0x1p63...0x1p63)) ?? nil
    }
}
