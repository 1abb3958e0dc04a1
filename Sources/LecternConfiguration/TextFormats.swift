internal import StrokeWire

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension ValueFormat where Value == String {
    /// A text that is kept as it is.
    /// - Parameter rule: what it must be, for the error.
    private static func text(
        _ name: String, _ range: String, rule: String? = nil, isAllowed: @escaping @Sendable (String) -> Bool
    ) -> Self {
        ValueFormat(name: name, range: range) { text throws(ParseError) in
            guard isAllowed(text) else { throw ParseError(text, "must be \(rule ?? range)") }
            return text
        } format: { text in
            text
        }
    }

    /// A path or the name of a program.
    static var program: Self {
        text("path", "a path, or a name on PATH", rule: "the path or name of a program") { !$0.isEmpty }
    }

    static var directory: Self {
        text("path", "a path", rule: "the path of a directory") { !$0.isEmpty }
    }

    /// One token of a NATS subject, as room ids are.
    static var token: Self {
        text("name", "1 … 64 characters of a-z, 0-9, _ and -") { RoomID($0) != nil }
    }

    /// A prefix of NATS subjects, other than the one for clients' replies.
    static var inboxPrefix: Self {
        text("subject", "subject tokens of a-z, A-Z, 0-9, _ and -, not _INBOX") { text in
            let tokens = text.split(separator: ".", omittingEmptySubsequences: false)
            return text.utf8.count <= 128 && tokens.first != "_INBOX"
                && tokens.allSatisfy { token in
                    !token.isEmpty && token.utf8.allSatisfy { $0 == 0x2d || $0 == 0x5f || isLetterOrDigit($0) }
                }
        }
    }

    /// The path of a URL, which may lack the slash at its end; its value has one.
    static var basePath: Self {
        let range = "/ | /board/ | /a/b/: names of a-z, A-Z, 0-9, ., _, ~ and -, 256 characters at most"
        return ValueFormat(name: "path", range: range) { text throws(ParseError) in
            let path = text.hasSuffix("/") ? text : text + "/"
            let names = path.dropFirst().dropLast().split(separator: "/", omittingEmptySubsequences: false)
            let isAllowed =
                path == "/"
                || names.allSatisfy { name in
                    !["", ".", ".."].contains(name)
                        && name.utf8.allSatisfy { isLetterOrDigit($0) || [0x2d, 0x2e, 0x5f, 0x7e].contains($0) }
                }
            guard text.hasPrefix("/"), path.utf8.count <= 256, isAllowed else {
                throw ParseError(text, "is not a path; write /, /board/ or /a/b/")
            }
            return path
        } format: { path in
            path
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x41...0x5a ~= byte || 0x61...0x7a ~= byte
    }
}

extension ValueFormat where Value == String? {
    /// A text that may be empty, for none.
    private static func optional(
        _ name: String, _ range: String, isHidden: Bool = false,
        _ parse: @escaping @Sendable (String) throws(ParseError) -> String = { $0 }
    ) -> Self {
        ValueFormat(name: name, range: range) { text throws(ParseError) in
            text.isEmpty ? nil : try parse(text)
        } format: { text in
            isHidden && text != nil ? "***" : text ?? ""
        }
    }

    /// As ``ValueFormat/token``; empty for a random one.
    static var tokenOrRandom: Self {
        let token = ValueFormat<String>.token
        return optional(token.name, token.range + ", or \"\" for a random one", token.parse)
    }

    /// Any text; empty for none.
    static var text: Self { optional("text", "any text, or \"\" for none") }

    /// As ``ValueFormat/text``, and not shown.
    static var secret: Self { optional("password", "any text, or \"\" for none", isHidden: true) }

    /// A path of a file; empty for none.
    static var file: Self { optional("path", "a path, or \"\" for none") }
}

extension ValueFormat where Value == ListenAddress? {
    /// A listen address; `off` for none.
    static var listenAddress: Self {
        ValueFormat(name: "address", range: "host:port | off") { text throws(ParseError) in
            if text == "off" { return nil }
            guard let address = ListenAddress(text) else {
                throw ParseError(text, "is not an address; write 127.0.0.1:8080, [::1]:8080 or off")
            }
            return address
        } format: { address in
            address?.description ?? "off"
        }
    }
}

extension ValueFormat where Value == [String] {
    /// Origins, each `https://host` or `http://host:port`.
    static var origins: Self {
        list("list of origins", "https://host | http://host:port, no slash at the end, or [] for none") { text in
            for scheme in ["https://", "http://"] where text.hasPrefix(scheme) {
                let host = text.dropFirst(scheme.count)
                return ListenAddress(host) != nil || ListenAddress("\(host):80") != nil
            }
            return false
        }
    }

    /// IP addresses, each alone or with the length of a prefix.
    static var addressRanges: Self {
        list("list of addresses", "10.0.0.1 | 10.0.0.0/8 | ::1, or [] for none") { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            var address = [UInt8](repeating: 0, count: 16)
            let bits: ClosedRange<Int>
            if inet_pton(AF_INET, String(parts[0]), &address) == 1 {
                bits = 0...32
            } else if inet_pton(AF_INET6, String(parts[0]), &address) == 1 {
                // An IPv4 address that is written as one of IPv6 has 96 bits before it.
                let isMapped = address.starts(with: Array(repeating: 0, count: 10) + [0xff, 0xff])
                bits = isMapped ? 96...128 : 0...128
            } else {
                return false
            }
            guard parts.count <= 2 else { return false }
            return parts.count == 1 || Int(parts[1]).map { bits ~= $0 } ?? false
        }
    }

    private static func list(
        _ name: String, _ range: String, _ isValid: @escaping @Sendable (String) -> Bool
    ) -> Self {
        ValueFormat(name: name, range: range, isList: true) { text throws(ParseError) in
            let texts = elements(of: text)
            if let invalid = texts.first(where: { !isValid($0) }) { throw ParseError(invalid, "is none of \(range)") }
            return texts
        } format: { texts in
            texts.joined(separator: ",")
        }
    }
}

extension ValueFormat {
    /// A list of words, each once, in any order.
    /// - Parameter allowsNone: whether the list may be empty.
    static func words<Word>(allowsNone: Bool = false) -> Self
    where Value == Set<Word>, Word: RawRepresentable & CaseIterable & Sendable, Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue)
        return ValueFormat(name: "list of words", range: words.joined(separator: " | "), isList: true) {
            text throws(ParseError) in
            if allowsNone, text.isEmpty { return [] }
            var value: Value = []
            for text in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let word = Word(rawValue: String(text)) else {
                    throw ParseError(String(text), "is none of \(words.joined(separator: ", "))")
                }
                value.insert(word)
            }
            return value
        } format: { value in
            words.filter { word in value.contains { $0.rawValue == word } }.joined(separator: ",")
        }
    }
}

extension ValueFormat where Value == NATSAddress {
    /// NATS servers. The error does not show the text: there may be a password in it.
    static var natsAddress: Self {
        ValueFormat(name: "address", range: "nats://host:port | tls://host:port, several with commas | embedded") {
            text throws(ParseError) in
            guard let address = NATSAddress(text) else {
                throw ParseError("is not a NATS address; write nats://host:port, tls://host:port or embedded")
            }
            return address
        } format: { address in
            address.description
        }
    }
}

extension ValueFormat where Value == Palette {
    /// Colours, each `#rrggbb`.
    static var palette: Self {
        ValueFormat(name: "list of colours", range: "1 … 256 of #rrggbb", isList: true) { text throws(ParseError) in
            let texts = elements(of: text)
            if let palette = Palette(texts) { return palette }
            guard let invalid = texts.first(where: { Palette([$0]) == nil }) else {
                throw ParseError("a palette has 1 … 256 colours, not \(texts.count)")
            }
            // An empty colour probably comes from an unquoted #, which begins a comment in YAML.
            throw ParseError(invalid, "must be a colour, written \"#rrggbb\", in quotes in the file")
        } format: { palette in
            palette.texts.joined(separator: ",")
        }
    }
}

private func elements(of list: String) -> [String] {
    list.isEmpty ? [] : list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
}
