/// Where and why a text is not JSON.
struct JSONFault: Error, Equatable {
    enum Reason {
        case unexpectedByte
        case unexpectedEnd
        case invalidUTF8
        case tooDeep
        case byteOrderMark
        case trailingBytes
    }

    let reason: Reason
    /// Offset of the byte that is at fault.
    let offset: Int
}

extension JSONFault {
    /// What the sender is told.
    var rejection: Rejection {
        let what =
            switch reason {
            case .unexpectedByte: "there is an unexpected byte at offset \(offset)"
            case .unexpectedEnd: "it ends too early"
            case .invalidUTF8: "there is invalid UTF-8 at offset \(offset)"
            case .tooDeep: "it is nested too deep at offset \(offset)"
            case .byteOrderMark: "it begins with a byte-order mark"
            case .trailingBytes: "something follows its end at offset \(offset)"
            }
        return Rejection(code: .notJSON, message: "The message is not acceptable JSON: \(what).")
    }
}
