extension Notation where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// One of a few words.
    static var choice: Self {
        let words = Value.allCases.map(\.rawValue)
        let range = words.joined(separator: " | ")
        return Notation(name: "word", range: range) { text throws(Misspelling) in
            guard let value = Value(rawValue: text) else {
                let guess = Spelling.nearest(to: text, among: words).map { "; did you mean \($0)?" } ?? ""
                throw Misspelling(text, "is none of \(range)\(guess)")
            }
            return value
        } format: { value in
            value.rawValue
        }
    }
}

extension Notation where Value == Bool {
    /// `true` or `false`.
    static var flag: Self {
        Notation(name: "flag", range: "true | false") { text throws(Misspelling) in
            switch text {
            case "true": return true
            case "false": return false
            default: throw Misspelling(text, "is neither true nor false")
            }
        } format: { value in
            String(value)
        }
    }
}
