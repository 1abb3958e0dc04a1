/// The rule of each field, in the order of the specification's table.
extension MessageFields {
    func readNumber(_ text: borrowing Span<UInt8>) throws(Rejection) -> Int64 {
        guard let value = try number.integer("n", in: 0...Int64.largestSafe, text) else { throw .missing("n") }
        return value
    }

    func readColour(_ space: ColourSpace, _ text: borrowing Span<UInt8>) throws(Rejection) -> UInt32 {
        let value = try colour.integer("c", text) ?? 0
        guard space.contains(value), let colour = UInt32(exactly: value) else {
            throw .outOfRange("c", "a colour of the \(space == .rgb ? "form 0xRRGGBB" : "palette")")
        }
        return colour
    }

    func readWidth(_ text: borrowing Span<UInt8>) throws(Rejection) -> Double {
        let value = try width.number("l", text) ?? 1
        guard value > 0, value <= 512 else { throw .outOfRange("l", "greater than 0 and at most 512") }
        return value
    }

    func readShardCount(_ limit: Int, _ text: borrowing Span<UInt8>) throws(Rejection) -> Int {
        let value = try shardCount.integer("s", text) ?? 0
        guard value >= 0 else { throw .outOfRange("s", "0 or more") }
        guard value <= limit else {
            throw Rejection(code: .tooManyShards, field: "s", message: "A stroke may have at most \(limit) shards.")
        }
        return Int(value)
    }

    /// Orders run from 0 or from 1, so that the number of shards is among them.
    func readShardOrder(of shardCount: Int, _ text: borrowing Span<UInt8>) throws(Rejection) -> Int {
        Int(try shardOrder.integer("o", in: 0...Int64(shardCount), text) ?? 0)
    }

    func readElement(_ text: borrowing Span<UInt8>) throws(Rejection) -> Element {
        let value = try element.integer("e", text) ?? 0
        guard let element = UInt8(exactly: value).flatMap(Element.init) else {
            throw Rejection(code: .unknownElement, field: "e", message: "There is no element \(value).")
        }
        return element
    }

    func readAction(_ text: borrowing Span<UInt8>) throws(Rejection) -> Action {
        let value = try action.integer("a", text) ?? 1
        // The first clients of the protocol send 0 for draw.
        guard let action = value == 0 ? .draw : UInt8(exactly: value).flatMap(Action.init) else {
            throw Rejection(code: .unknownAction, field: "a", message: "There is no action \(value).")
        }
        return action
    }

    func readTime(_ text: borrowing Span<UInt8>) throws(Rejection) -> Int64? {
        try time.truncated("t", text)
    }

    func readBoardWidth(_ text: borrowing Span<UInt8>) throws(Rejection) -> Double? {
        try boardWidth.number("w", in: 1...16384, text)
    }

    func readBoardHeight(_ text: borrowing Span<UInt8>) throws(Rejection) -> Double? {
        try boardHeight.number("h", in: 1...16384, text)
    }

    /// The points of a draw.
    func readPoints(isSharded: Bool, limit: Int) throws(Rejection) -> PointArray {
        switch points {
        case .absent:
            throw .missing("d")
        case .other:
            throw .wrongType("d", "an array")
        case .array(let points, let fault):
            guard points.count <= limit else {
                throw Rejection(
                    code: .tooManyPoints, field: "d", message: "A stroke may have at most \(limit) points.")
            }
            if let fault { throw fault.rejection }
            // A shard may be empty, a whole stroke may not.
            guard isSharded || points.count > 0 else { throw .outOfRange("d", "one point or more") }
            return points
        }
    }
}
