/// The members of a message, each the last of its key.
struct MessageFields {
    var number: JSONToken?
    var colour: JSONToken?
    var width: JSONToken?
    var shardCount: JSONToken?
    var shardOrder: JSONToken?
    var element: JSONToken?
    var action: JSONToken?
    var time: JSONToken?
    var boardWidth: JSONToken?
    var boardHeight: JSONToken?
    var points: PointsField = .absent

    enum PointsField {
        case absent
        /// There, but no array.
        case other
        case array(PointArray, fault: PointFault?)
    }

    mutating func set(_ key: UInt8, _ token: JSONToken) {
        switch key {
        case UInt8(ascii: "n"): number = token
        case UInt8(ascii: "c"): colour = token
        case UInt8(ascii: "l"): width = token
        case UInt8(ascii: "s"): shardCount = token
        case UInt8(ascii: "o"): shardOrder = token
        case UInt8(ascii: "e"): element = token
        case UInt8(ascii: "a"): action = token
        case UInt8(ascii: "t"): time = token
        case UInt8(ascii: "w"): boardWidth = token
        case UInt8(ascii: "h"): boardHeight = token
        default: break
        }
    }
}

extension JSONScanner {
    /// Nesting of a message; the object itself is level 1.
    static let messageDepth = 8

    /// Takes a whole message in one pass: finds its fields and looks at its points, and judges nothing yet, for a
    /// fault further on may come first in order.
    /// - Returns: whether the text is an object.
    mutating func takeMessage(
        _ text: borrowing Span<UInt8>, _ fields: inout MessageFields, points: inout some PointSink
    ) throws(JSONFault) -> Bool {
        try begin(text)
        guard next(text) == UInt8(ascii: "{") else {
            _ = try takeValue(text)
            try end(text)
            return false
        }
        var more = try enterObject(text)
        while more {
            let key = JSONText.letter(try takeKey(text), of: text) ?? 0
            if key == UInt8(ascii: "d") {
                fields.points = try takePointsField(text, into: &points)
            } else {
                fields.set(key, try takeValue(text))
            }
            more = try continueObject(text)
        }
        try end(text)
        return true
    }

    private mutating func takePointsField(
        _ text: borrowing Span<UInt8>, into sink: inout some PointSink
    ) throws(JSONFault) -> MessageFields.PointsField {
        guard next(text) == UInt8(ascii: "[") else {
            _ = try takeValue(text)
            return .other
        }
        let (points, fault) = try takePoints(text, into: &sink)
        return .array(points, fault: fault)
    }
}
