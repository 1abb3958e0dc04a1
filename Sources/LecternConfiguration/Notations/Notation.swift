/// How the values of a setting are written: from text and back.
struct Notation<Value>: Sendable {
    /// What the value is, in a word or two: `size`, `duration`.
    let name: String
    /// Which values are allowed: `1KiB … 8MiB`.
    let range: String
    /// Whether it is a list in the file. Its text has commas between the elements.
    var isList = false
    let parse: @Sendable (_ text: String) throws(Misspelling) -> Value
    /// The text of a value, for display; for an allowed value that holds no secret, `parse` gives it back.
    let format: @Sendable (Value) -> String
}

/// What is wrong with the text of a value: a sentence without its subject, such as `"7x" is no whole number`.
struct Misspelling: Error, Equatable {
    let complaint: String

    init(_ complaint: String) {
        self.complaint = complaint
    }

    /// - Parameter text: shown in quotes and not at full length, since it can be anything.
    init(_ text: String, _ complaint: String) {
        let shown = text.count > 60 ? text.prefix(60) + "…" : text[...]
        self.complaint = "\(String(reflecting: String(shown))) \(complaint)"
    }
}
