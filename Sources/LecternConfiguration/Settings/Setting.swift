/// One key of the configuration: where its value is in a `Root`, how it is written, and what it means.
struct Setting<Root>: Sendable {
    /// Dotted, as in `limits.message_bytes`.
    let key: String
    /// What the value is, in a word or two.
    let notation: String
    /// Which values are allowed.
    let range: String
    /// Whether the file has a list for it.
    let isList: Bool
    /// One or two sentences with the unit, and what happens at the bound.
    let meaning: String
    /// The value of a root, as it is written.
    let text: @Sendable (Root) -> String
    let assign: @Sendable (_ text: String, _ root: inout Root) throws(Misspelling) -> Void

    init<Value>(
        _ key: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ notation: Notation<Value>,
        _ meaning: String
    ) {
        self.key = key
        self.notation = notation.name
        range = notation.range
        isList = notation.isList
        self.meaning = meaning
        text = { notation.format($0[keyPath: path]) }
        assign = { text, root throws(Misspelling) in root[keyPath: path] = try notation.parse(text) }
    }

    /// A setting of a part, as a setting of the whole.
    init<Part>(_ prefix: String, _ path: any WritableKeyPath<Root, Part> & Sendable, _ part: Setting<Part>) {
        key = prefix + part.key
        notation = part.notation
        range = part.range
        isList = part.isList
        meaning = part.meaning
        text = { part.text($0[keyPath: path]) }
        assign = { text, root throws(Misspelling) in try part.assign(text, &root[keyPath: path]) }
    }
}
