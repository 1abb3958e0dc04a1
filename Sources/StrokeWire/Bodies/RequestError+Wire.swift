extension RequestError {
    /// Writes the reply `{"error":{…}}`.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append("{\"error\":{\"code\":")
        bytes.append(string: code.rawValue)
        bytes.append(",\"message\":")
        bytes.append(string: message)
        bytes.append("}}")
        return bytes
    }

    /// Reads a reply.
    /// - Returns: nil where the reply is something else than such an error.
    public init?(decoding bytes: [UInt8]) {
        guard let body = try? JSONObject(bytes, keeping: ["error"]), let token = body["error"],
            let error = try? JSONObject(token, of: bytes, keeping: ["code", "message"], field: "error"),
            let code = try? error.required("code", "", { Code(rawValue: $0) }),
            let message = try? error.requiredString("message", limit: 4096)
        else { return nil }
        self.init(code, message)
    }
}
