internal import CNATS

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The headers of a message, in order. Names are case-sensitive, as in NATS.
public struct NATSHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// A name and a value.
    public struct Field: Sendable, Equatable {
        /// Visible ASCII without a colon.
        public var name: String
        /// Not blank, without line breaks.
        public var value: String

        /// A field, which is validated when it is published.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields, in the order they were added.
    public private(set) var fields: [Field] = []

    /// No headers.
    public init() {}

    /// Headers from `["Name": "value"]`.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// Whether there is no field.
    public var isEmpty: Bool { fields.isEmpty }

    /// Adds a field at the end, even if there is one of that name.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The first value of a name.
    public subscript(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// The fields whose names do not begin so.
    public func without(_ prefix: String) -> NATSHeaders {
        var rest = self
        rest.fields.removeAll { $0.name.hasPrefix(prefix) }
        return rest
    }

    /// The fields that the protocol can carry.
    var sendable: NATSHeaders {
        var rest = self
        rest.fields.removeAll { !$0.isValid }
        return rest
    }
}

extension NATSHeaders {
    /// Copies the headers of a libnats message. Names come in no order: libnats keeps them in a hash table.
    init(copying message: borrowing NATSMessage) {
        var keys: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        var count: Int32 = 0
        guard natsMsgHeader_Keys(message.raw, &keys, &count) == NATS_OK, let keys else { return }
        // The caller owns the list, the message the strings.
        defer { free(keys) }
        for key in UnsafeBufferPointer(start: keys, count: Int(count)) {
            guard let key else { continue }
            appendValues(of: key, in: message)
        }
    }

    private mutating func appendValues(of key: UnsafePointer<CChar>, in message: borrowing NATSMessage) {
        var values: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        var count: Int32 = 0
        guard natsMsgHeader_Values(message.raw, key, &values, &count) == NATS_OK, let values else { return }
        defer { free(values) }
        let name = String(cString: key)
        for value in UnsafeBufferPointer(start: values, count: Int(count)) {
            append(name, value.map { String(cString: $0) } ?? "")
        }
    }

    /// Adds these headers to a libnats message.
    func write(to message: OpaquePointer) throws(NATSError) {
        for field in fields {
            guard field.isValid else { throw .invalidHeader(field.name) }
            let status = natsMsgHeader_Add(message, field.name, field.value)
            guard status == NATS_OK else { throw NATSError(status) }
        }
    }
}

extension NATSHeaders.Field {
    /// Whether the protocol can carry the field: a name of visible ASCII without a colon, a value that is not blank
    /// (libnats misreads blank ones) and has no control characters.
    var isValid: Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
            && value.utf8.contains { $0 != UInt8(ascii: " ") }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }
}
