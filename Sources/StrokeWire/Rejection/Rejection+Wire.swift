extension Rejection {
    /// Reads the object of a rejection.
    init(_ token: JSONToken, of bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(token, of: bytes, keeping: ["code", "field", "message"], field: "error")
        let code = try body.required("code", "a code of the protocol") { RejectionCode(rawValue: $0) }
        self.init(
            code: code, field: try body.string("field", limit: 1024),
            message: try body.requiredString("message", limit: 4096))
    }
}

extension [UInt8] {
    mutating func append(rejection: Rejection) {
        append("{\"code\":")
        append(string: rejection.code.rawValue)
        if let field = rejection.field {
            append(",\"field\":")
            append(string: field)
        }
        append(",\"message\":")
        append(string: rejection.message)
        append(UInt8(ascii: "}"))
    }
}
