extension JSONObject {
    func integer(_ name: String, in range: ClosedRange<Int64>) throws(Rejection) -> Int64? {
        try self[name].integer(name, in: range, bytes.span)
    }

    func requiredInteger(_ name: String, in range: ClosedRange<Int64>) throws(Rejection) -> Int64 {
        guard let value = try integer(name, in: range) else { throw .missing(name) }
        return value
    }

    /// An index of a room, 0 … 2⁶³−2: one more always fits.
    func index(_ name: String) throws(Rejection) -> UInt64? {
        try integer(name, in: 0...(Int64.max - 1)).map(UInt64.init)
    }

    func requiredIndex(_ name: String) throws(Rejection) -> UInt64 {
        guard let value = try index(name) else { throw .missing(name) }
        return value
    }

    func number(_ name: String, in range: ClosedRange<Double>) throws(Rejection) -> Double? {
        try self[name].number(name, in: range, bytes.span)
    }

    func bool(_ name: String) throws(Rejection) -> Bool? {
        guard let token = self[name] else { return nil }
        guard case .bool(let value) = token else { throw .wrongType(name, "true or false") }
        return value
    }

    /// A string of so many bytes in UTF-8 at most.
    func string(_ name: String, limit: Int) throws(Rejection) -> String? {
        guard let token = self[name] else { return nil }
        guard case .string(let range) = token else { throw .wrongType(name, "a string") }
        let value = JSONText.string(range, of: bytes.span)
        guard value.utf8.count <= limit else { throw .outOfRange(name, "at most \(limit) bytes long") }
        return value
    }

    func requiredString(_ name: String, limit: Int) throws(Rejection) -> String {
        guard let value = try string(name, limit: limit) else { throw .missing(name) }
        return value
    }

    /// A string that has to be one of a few, or of a form of its own.
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

    func requiredElements(_ name: String) throws(Rejection) -> [JSONToken] {
        guard let elements = try elements(name) else { throw .missing(name) }
        return elements
    }
}
