package import StrokeWire

/// A message as its author meant it, all of an operation or a shard: models need not decode it.
package struct SentMessage: Sendable {
    package enum Kind: String, Sendable { case draw, undo, redo, clear, turn, arrange, paper, remove, garbage }

    /// What a draw adds to its page.
    package enum Entry: Equatable, Sendable {
        case stroke
        case image
        case lasso(copies: Bool)
        case text
        /// Nothing.
        case pointer

        package var isLasso: Bool { if case .lasso = self { true } else { false } }
    }

    package let author: AuthorID
    package let session: String?
    package let number: Int64
    package var kind: Kind
    package var page: Int?
    package var order: [Int] = []
    /// What a removal names.
    package var indices: [UInt64] = []
    package var entry = Entry.stroke
    /// Its place among the shards of its stroke, from 0, and their number.
    package var part = 0
    package var parts = 1
    /// What the first shard is sent as, 0 or 1.
    package var base = 0
    /// The x coordinates of its points.
    package var ink: [Int] = []
    /// Milliseconds from a point to the next; 0 for points without times.
    package var step = 0
    /// Media time in milliseconds, and the encoder session that it belongs to.
    package var time: Int64?
    package var timeLine: Int64?

    package init(_ kind: Kind, _ number: Int64, by author: AuthorID, session: String? = nil) {
        (self.kind, self.number, self.author, self.session) = (kind, number, author, session)
    }

    /// Milliseconds from its time to its last point.
    package var reach: Int64 { Int64((ink.last ?? 0) * step) }

    package var summary: String {
        let shard = parts > 1 ? " \(part + 1)/\(parts)" : ""
        return "\(author)/\(session ?? "-") \(kind) \(number)\(shard) t=\(time.map(String.init) ?? "-")"
    }
}

extension SentMessage {
    /// As it is sent.
    package var bytes: [UInt8] {
        let number = #"{"n":\#(number)"#
        if kind == .garbage { return Array(number.utf8) }
        let head = number + (time.map { #","t":\#($0)"# } ?? "") + (page.map { #","g":\#($0)"# } ?? "")
        return Array("\(head)\(content)}".utf8)
    }

    private var content: String {
        switch kind {
        case .draw: stroke
        case .undo: #","a":2"#
        case .redo: #","a":3"#
        case .clear: #","a":4"#
        case .turn: #","a":5"#
        case .arrange: #","a":6,"v":\#(order)"#
        case .paper: #","a":7,"p":\#(number % 5)"#
        case .remove: #","a":8,"v":\#(indices)"#
        case .garbage: ""
        }
    }

    private var stroke: String {
        let points = ink.map { index in
            #"{"x":\#(index),"y":\#(index % 7)"# + (step > 0 ? #","m":\#(index * step)}"# : "}")
        }
        let shard = parts > 1 ? #","s":\#(parts),"o":\#(part + base)"# : ""
        return #"\#(element)\#(shard),"d":[\#(points.joined(separator: ","))]"#
    }

    private var element: String {
        switch entry {
        case .stroke: ""
        case .pointer: #","e":7"#
        case .text: #","e":8,"l":32,"x":"\#(number)\n数 & \u05d0""#
        case .image: #","e":5,"i":"\#(String(repeating: "0a", count: 32))","p":\#(number % 3)"#
        case .lasso(let copies): #","e":6,"m":[1,0,0,1,\#(number),4]"# + (copies ? #","k":1"# : "")
        }
    }
}
