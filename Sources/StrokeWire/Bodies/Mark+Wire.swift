extension Mark {
    /// Writes the body of a message on `.mark.<cohort>`.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append("{\"room\":")
        bytes.append(string: room)
        bytes.append(",\"index\":")
        bytes.append(integer: index)
        bytes.append(",\"digest\":\"")
        bytes.append(contentsOf: digest.description.utf8)
        bytes.append("\",\"v\":")
        if let video { bytes.append(time: video) } else { bytes.append("null") }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Reads a body as a student's client gets it.
    /// - Throws: what of it is at fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: ["room", "index", "digest", "v"])
        room = try body.requiredString("room", limit: 256)
        index = try body.requiredIndex("index")
        digest = try body.required("digest", "16 lower-case hexadecimal digits") { BoardDigest(hexadecimal: $0) }
        if case .null? = body["v"] {
            video = nil
        } else {
            let milliseconds = try body.number("v", in: -0x1p53...0x1p53)
            video = milliseconds.flatMap { MediaTime(milliseconds: $0) }
        }
    }
}
