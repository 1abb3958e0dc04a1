extension JoinRequest {
    /// Writes the request, `{}` for a student who has nothing yet.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        if let incarnation {
            bytes.append("\"room\":")
            bytes.append(string: incarnation)
        }
        if let have {
            bytes.append(incarnation == nil ? "\"have\":" : ",\"have\":")
            bytes.append(integer: have)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Reads a request. An empty payload asks for the whole board, as `{}` does.
    /// - Throws: what of it is at fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        guard !bytes.isEmpty else {
            self.init()
            return
        }
        let body = try JSONObject(bytes, keeping: ["room", "have"], limit: 4096)
        self.init(incarnation: try body.string("room", limit: 256), have: try body.index("have"))
    }
}
