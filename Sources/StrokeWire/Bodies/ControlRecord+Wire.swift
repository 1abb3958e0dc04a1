extension ControlRecord {
    /// Writes the body of a message on `.ctl`, in version 1.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .gaveUp(let author, let from, let to):
            bytes.append("{\"v\":1,\"kind\":\"gave-up\",\"author\":")
            bytes.append(string: author.text)
            bytes.append(",\"from\":")
            bytes.append(integer: from)
            bytes.append(",\"to\":")
            bytes.append(integer: to)
        case .epoch(let epoch):
            bytes.append("{\"v\":1,\"kind\":\"epoch\",\"ep\":")
            bytes.append(integer: epoch)
        case .close:
            bytes.append("{\"v\":1,\"kind\":\"close\"")
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Reads a record from a room's log.
    /// - Throws: what of it is at fault; another version than 1 is `out-of-range` at `v`.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: ["v", "kind", "author", "from", "to", "ep"])
        _ = try body.requiredInteger("v", in: 1...1)
        let safe = Int64.largestSafe
        switch try body.requiredString("kind", limit: 64) {
        case "gave-up":
            let author = try body.required("author", "the name of an author") { AuthorID($0) }
            let from = try body.requiredInteger("from", in: 0...safe)
            self = .gaveUp(author: author, from: from, to: try body.requiredInteger("to", in: from...safe))
        case "epoch":
            self = .epoch(try body.requiredInteger("ep", in: 0...safe))
        case "close":
            self = .close
        default:
            throw .outOfRange("kind", "gave-up, epoch or close")
        }
    }
}
