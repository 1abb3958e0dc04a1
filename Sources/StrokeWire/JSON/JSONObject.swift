/// The members of a small object, by name: for every body of the protocol that is no stroke message.
struct JSONObject {
    let bytes: [UInt8]
    private var members: [String: JSONToken] = [:]

    /// Nesting of such a body, the messages within it included.
    static let maximumDepth = 16

    /// Reads a body.
    /// - Parameters:
    ///   - names: the members to keep; others only have to be well-formed.
    ///   - limit: bytes that the body may have.
    /// - Throws: `too-large`, `not-json`, or `wrong-type` for what is no object.
    init(_ bytes: [UInt8], keeping names: [String], limit: Int = JSONObject.usualLimit) throws(Rejection) {
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

    /// Reads an object within a body that was found well-formed.
    /// - Parameter field: what the object is called when it is none.
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
                if let name = names.first(where: { JSONText.string(key, of: text) == $0 }) { members[name] = value }
                more = try scanner.continueObject(text)
            }
        } catch {
            throw error.rejection
        }
    }

    /// Bytes that a body may have where nothing else is said.
    static let usualLimit = 65_536

    /// The last value under a name, nil where there is none.
    subscript(_ name: String) -> JSONToken? { members[name] }
}
