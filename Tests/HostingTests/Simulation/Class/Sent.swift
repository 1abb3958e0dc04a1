import StrokeWire

/// One message as its author meant it.
struct Sent {
    enum Kind: String { case draw, undo, redo, clear, garbage }

    let author: AuthorID
    let session: String?
    let number: Int64
    let kind: Kind
    /// Place among its stroke's parts, from 0, and how many parts there are.
    var part = 0
    var parts = 1
    /// Abscissae of its points.
    var ink: [Int] = []
    /// Media time in milliseconds, and the encoder's session whose time line that is on.
    var time: Int64?
    var timeLine: Int64?
    let bytes: [UInt8]

    var summary: String {
        let shard = parts > 1 ? " \(part + 1)/\(parts)" : ""
        return "\(author)/\(session ?? "-") \(kind) \(number)\(shard) t=\(time.map(String.init) ?? "-")"
    }
}

/// The text of a message.
struct MessageText {
    let number: Int64
    var time: Int64?

    private var head: String { #"{"n":\#(number)"# + (time.map { #","t":\#($0)"# } ?? "") }

    func command(_ kind: Sent.Kind) -> [UInt8] {
        let action = kind == .undo ? 2 : kind == .redo ? 3 : 4
        return Array("\(head),\"a\":\(action)}".utf8)
    }

    /// - Parameter order: on the wire, from 0 or from 1.
    func stroke(_ ink: [Int], order: Int = 0, of parts: Int = 1) -> [UInt8] {
        let points = ink.map { #"{"x":\#($0),"y":\#($0 % 7)}"# }.joined(separator: ",")
        let shard = parts > 1 ? #","s":\#(parts),"o":\#(order)"# : ""
        return Array(#"\#(head)\#(shard),"d":[\#(points)]}"#.utf8)
    }
}
