/// What a gateway answers to a post of strokes: the outcome of each message, in their order.
public struct StrokeResults: Sendable, Equatable {
    /// What has become of a message.
    public enum Outcome: Sendable, Equatable {
        /// It is in the room's log.
        case applied(index: UInt64)
        /// The room refuses it. The code is one of ``RejectionCode``, or of a service that is newer than this client.
        case rejected(code: String, message: String)
        /// Nothing was heard of it in time: it is to be sent again.
        case held
    }

    /// The outcome of one message.
    public struct Result: Sendable, Equatable {
        /// Number of the operation; nil where the service could not read it.
        public let number: Int64?
        public let outcome: Outcome

        public init(number: Int64?, _ outcome: Outcome) {
            (self.number, self.outcome) = (number, outcome)
        }
    }

    public let results: [Result]

    /// Greatest size of an answer in bytes.
    public static let maximumBytes = 1 << 20
}

extension StrokeResults {
    /// Reads `{"results":[{"n":7,"index":41},{"n":8,"error":{…}},{"n":9,"status":"held"}]}`.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: ["results"], limit: Self.maximumBytes)
        results = try body.objects("results", keeping: ["n", "index", "error"]) { result throws(Rejection) in
            let number = try result.integer("n", in: 0...Int64.maxSafeInteger)
            if let index = try result.index("index") { return Result(number: number, .applied(index: index)) }
            guard let error = result["error"] else { return Result(number: number, .held) }
            let (code, message) = try Self.error(error, of: bytes)
            return Result(number: number, .rejected(code: code, message: message))
        }.required("results")
    }

    /// The code and the message of an answer that is an error, `{"error":{"code":"…","message":"…"}}`; nil where it is none.
    public static func error(of answer: [UInt8]) -> (code: String, message: String)? {
        guard let body = try? JSONObject(answer, keeping: ["error"]), let error = body["error"] else { return nil }
        return try? Self.error(error, of: answer)
    }

    private static func error(_ token: JSONToken, of bytes: [UInt8]) throws(Rejection) -> (
        code: String, message: String
    ) {
        let error = try JSONObject(token, of: bytes, keeping: ["code", "message"], field: "error")
        return (try error.requiredString("code", limit: 64), try error.string("message", limit: 4096) ?? "")
    }
}
