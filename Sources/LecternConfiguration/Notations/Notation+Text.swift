internal import StrokeWire

extension Notation where Value == String {
    /// A path or the name of a program.
    static var program: Self {
        Notation(name: "path", range: "a path, or a name on PATH") { text throws(Misspelling) in
            guard !text.isEmpty else { throw Misspelling(text, "is to be the path or name of a program") }
            return text
        } format: { text in
            text
        }
    }

    /// A path of a directory.
    static var directory: Self {
        Notation(name: "path", range: "a path") { text throws(Misspelling) in
            guard !text.isEmpty else { throw Misspelling(text, "is to be the path of a directory") }
            return text
        } format: { text in
            text
        }
    }

    /// One token of a NATS subject, as room ids are.
    static var token: Self {
        let range = "1 … 64 characters of a-z, 0-9, _ and -"
        return Notation(name: "name", range: range) { text throws(Misspelling) in
            guard let token = RoomID(text) else { throw Misspelling(text, "is to be \(range)") }
            return token.text
        } format: { text in
            text
        }
    }
}

extension Notation where Value == String? {
    /// As ``Notation/token``; empty for one that is made up.
    static var tokenOrRandom: Self {
        let token = Notation<String>.token
        return Notation(name: token.name, range: token.range + ", or \"\" for a random one") {
            text throws(Misspelling) in
            text.isEmpty ? nil : try token.parse(text)
        } format: { text in
            text ?? ""
        }
    }

    /// A path of a file; empty for none.
    static var file: Self {
        Notation(name: "path", range: "a path, or \"\" for none") { text throws(Misspelling) in
            text.isEmpty ? nil : text
        } format: { text in
            text ?? ""
        }
    }
}
