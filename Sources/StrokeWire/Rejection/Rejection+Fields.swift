/// The rejections that a field can have, each with its sentence.
extension Rejection {
    static func missing(_ field: String) -> Rejection {
        Rejection(code: .missingField, field: field, message: "The field \(field) is missing.")
    }

    static func wrongType(_ field: String?, _ expected: String) -> Rejection {
        let subject = field.map { "The field \($0)" } ?? "The message"
        return Rejection(code: .wrongType, field: field, message: "\(subject) has to be \(expected).")
    }

    static func outOfRange(_ field: String, _ expected: String) -> Rejection {
        Rejection(code: .outOfRange, field: field, message: "The field \(field) has to be \(expected).")
    }

    static func tooLarge(bytes: Int, limit: Int) -> Rejection {
        Rejection(code: .tooLarge, message: "The message has \(bytes) bytes, of at most \(limit).")
    }
}
