internal import StrokeWire

/// Names a body by its content, so that a client that has it already need not get it again (RFC 9110, 8.8.3).
struct EntityTag: Equatable {
    /// As it stands in the header, with its quotation marks.
    let text: String

    /// The tag of a body: its length and its FNV-1a hash of 64 bits.
    init(of body: [UInt8]) {
        text = "\"\(String(body.count, radix: 16))-\(String(FNV1a64.hash(body), radix: 16))\""
    }

    /// Whether an If-None-Match header names this tag, or all with `*`. Weak tags count like strong ones there.
    func matches(_ header: String) -> Bool {
        header.split(separator: ",").contains { candidate in
            var candidate = candidate.drop { $0 == " " || $0 == "\t" }
            while let last = candidate.last, last == " " || last == "\t" { candidate.removeLast() }
            return candidate == "*" || candidate == text || candidate == "W/" + text
        }
    }
}
