import StrokeWire

/// What became of a message.
func decode(_ text: String, limits: WireLimits = WireLimits()) -> Result<StrokeMessage, MalformedMessage> {
    decode(Array(text.utf8), limits: limits)
}

func decode(_ bytes: [UInt8], limits: WireLimits = WireLimits()) -> Result<StrokeMessage, MalformedMessage> {
    Result { () throws(MalformedMessage) in try StrokeMessage(decoding: bytes, limits: limits) }
}

/// Code and field of a rejection, as a test states them.
struct Fault: Equatable, CustomStringConvertible {
    var code: RejectionCode
    var field: String?

    init(_ code: RejectionCode, _ field: String? = nil) {
        self.code = code
        self.field = field
    }

    init(_ rejection: Rejection) {
        self.init(rejection.code, rejection.field)
    }

    var description: String { "\(code.rawValue) at \(field ?? "the message")" }
}

extension Result where Failure == MalformedMessage {
    var fault: Fault? {
        if case .failure(let error) = self { Fault(error.rejection) } else { nil }
    }
}
