/// One JSON object on one line, written key by key; for output that carries messages byte for byte.
struct JSONLine {
    private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]

    /// The finished object.
    var closed: [UInt8] { bytes + [UInt8(ascii: "}")] }

    /// Adds a string.
    mutating func add(_ key: String, _ text: String) {
        addKey(key)
        append(text)
    }

    /// Adds a number.
    mutating func add(_ key: String, _ number: some BinaryInteger) {
        addKey(key)
        bytes += String(number).utf8
    }

    /// Adds `true` or `false`.
    mutating func add(_ key: String, _ flag: Bool) {
        addKey(key)
        bytes += (flag ? "true" : "false").utf8
    }

    /// Adds a number for each name, in the order of the names.
    mutating func add(_ key: String, _ counts: [String: Int]) {
        var inner = JSONLine()
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) { inner.add(name, count) }
        add(key, json: inner.closed)
    }

    /// Adds what is JSON already; line breaks between its tokens become blanks.
    mutating func add(_ key: String, json: [UInt8]) {
        addKey(key)
        for byte in json { bytes.append(byte < 0x20 ? UInt8(ascii: " ") : byte) }
    }

    private mutating func addKey(_ key: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        append(key)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
