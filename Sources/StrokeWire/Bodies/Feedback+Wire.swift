extension Feedback {
    private static let keys = ["kind", "n", "o", "index", "from", "to", "error"]

    /// Writes the body of a message on `.feedback.<author>`.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .applied(let number, let index):
            bytes.append("{\"kind\":\"applied\",\"n\":")
            bytes.append(integer: number)
            bytes.append(",\"index\":")
            bytes.append(integer: index)
        case .missingShards(let number, let orders):
            bytes.append("{\"kind\":\"missing\",\"n\":")
            bytes.append(integer: number)
            bytes.append(",\"o\":")
            bytes.append(list: orders) { $0.append(integer: $1) }
        case .missingRange(let from, let to):
            bytes.append("{\"kind\":\"missing\"")
            Self.append(from, to, to: &bytes)
        case .gaveUp(let from, let to):
            bytes.append("{\"kind\":\"gave-up\"")
            Self.append(from, to, to: &bytes)
        case .rejected(let number, let order, let rejection):
            bytes.append("{\"kind\":\"rejected\"")
            if let number {
                bytes.append(",\"n\":")
                bytes.append(integer: number)
            }
            if let order {
                bytes.append(",\"o\":")
                bytes.append(integer: order)
            }
            bytes.append(",\"error\":")
            bytes.append(rejection: rejection)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private static func append(_ from: Int64, _ to: Int64, to bytes: inout [UInt8]) {
        bytes.append(",\"from\":")
        bytes.append(integer: from)
        bytes.append(",\"to\":")
        bytes.append(integer: to)
    }

    /// Reads a body as an author's client gets it.
    /// - Throws: what of it is at fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: Self.keys)
        let safe = Int64.largestSafe
        switch try body.requiredString("kind", limit: 64) {
        case "applied":
            self = .applied(number: try body.requiredInteger("n", in: 0...safe), index: try body.requiredIndex("index"))
        case "missing" where body["o"] != nil:
            self = .missingShards(
                number: try body.requiredInteger("n", in: 0...safe), orders: try Self.orders(body))
        case "missing":
            let (from, to) = try Self.range(body)
            self = .missingRange(from: from, to: to)
        case "gave-up":
            let (from, to) = try Self.range(body)
            self = .gaveUp(from: from, to: to)
        case "rejected":
            guard let error = body["error"] else { throw .missing("error") }
            self = .rejected(
                number: try body.integer("n", in: 0...safe),
                order: try body.integer("o", in: 0...safe).map(Int.init),
                try Rejection(error, of: bytes))
        default:
            throw .outOfRange("kind", "applied, missing, gave-up or rejected")
        }
    }

    private static func orders(_ body: JSONObject) throws(Rejection) -> [Int] {
        var orders: [Int] = []
        for token in try body.requiredElements("o") {
            let order = try Optional(token).integer("o", in: 0...Int64(Int32.max), body.bytes.span)
            if let order { orders.append(Int(order)) }
        }
        return orders
    }

    private static func range(_ body: JSONObject) throws(Rejection) -> (from: Int64, to: Int64) {
        let from = try body.requiredInteger("from", in: 0...Int64.largestSafe)
        return (from, try body.requiredInteger("to", in: from...Int64.largestSafe))
    }
}
