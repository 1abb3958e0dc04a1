extension ImageRequest {
    /// Writes the request.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        if let width {
            bytes.append("\"width\":")
            bytes.append(integer: width)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Reads a request. An empty payload asks for the board's own width, as `{}` does.
    /// - Throws: what of it is at fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        guard !bytes.isEmpty else {
            self.init()
            return
        }
        let body = try JSONObject(bytes, keeping: ["width"], limit: 4096)
        self.init(width: try body.integer("width", in: 1...4096).map(Int.init))
    }
}
