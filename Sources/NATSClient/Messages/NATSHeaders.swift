/// The headers of a message, in order. Names are compared exactly, as NATS does.
public struct NATSHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One line of a header.
    public struct Field: Sendable, Equatable {
        /// Visible ASCII without a colon.
        public var name: String
        /// Not blank, without line breaks.
        public var value: String

        /// A field; whether the protocol can carry it is checked when it is published.
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

    /// Adds a field after the others, also when the name is there already.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The first value of that name.
    public subscript(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}
