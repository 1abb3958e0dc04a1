import StrokeWire

/// The rejections that depend on the state of a room, not on the message alone.
extension Rejection {
    static let nothingToUndo = Rejection(
        code: .nothingToUndo, field: nil, message: "There is no operation that can be undone.")
    static let nothingToRedo = Rejection(
        code: .nothingToRedo, field: nil, message: "There is no operation that can be done again.")
    static let boardFull = Rejection(
        code: .tooManyPoints, field: "d", message: "The board holds as many points as it may.")
    static let tooLate = Rejection(
        code: .tooLate, field: nil, message: "The operation had been given up before it arrived.")
    static let rateLimited = Rejection(
        code: .rateLimited, field: nil, message: "The author sends more than a room takes from one author.")
    static let roomFull = Rejection(
        code: .roomFull, field: nil, message: "The room has as many authors as it may.")
    static let bytesPending = tooManyPending("bytes pending")
    static let emptyStroke = Rejection(
        code: .outOfRange, field: "d", message: "The shards of the stroke hold no point.")

    static func numberTooFarAhead(expected: Int64) -> Rejection {
        Rejection(code: .outOfRange, field: "n", message: "The number lies too far ahead of \(expected), the next.")
    }

    static func tooManyPending(_ what: String) -> Rejection {
        Rejection(code: .tooManyPending, field: nil, message: "The author has too many \(what).")
    }

    static func shardConflict(field: String, _ message: String) -> Rejection {
        Rejection(code: .shardConflict, field: field, message: message)
    }

    static func tooManyPoints(limit: Int) -> Rejection {
        Rejection(code: .tooManyPoints, field: "d", message: "The stroke has more than \(limit) points.")
    }
}
