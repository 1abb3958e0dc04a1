extension StrokeMessage {
    /// The compact message: no white space, keys in the order of the specification's table, `t`, `w` and `h` only where
    /// they are known, `d` last and only for a draw.
    ///
    /// ``points`` is not looked at: what is written stands in `interior`.
    /// - Parameter interior: the points as they stand between the brackets of `d`, taken over byte for byte.
    public func encoded(interior: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = encodedHead(reserving: interior.count)
        if action == .draw {
            bytes.append(",\"d\":[")
            bytes.append(contentsOf: interior)
            bytes.append(UInt8(ascii: "]"))
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Everything before `d`, with memory for what follows.
    private func encodedHead(reserving interior: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(interior + 128)
        bytes.append("{\"n\":")
        bytes.append(integer: number)
        bytes.append(",\"c\":")
        bytes.append(integer: colour)
        bytes.append(",\"l\":")
        bytes.append(number: width)
        bytes.append(",\"s\":")
        bytes.append(integer: shardCount)
        bytes.append(",\"o\":")
        bytes.append(integer: shardOrder)
        bytes.append(",\"e\":")
        bytes.append(integer: element.rawValue)
        bytes.append(",\"a\":")
        bytes.append(integer: action.rawValue)
        if let time {
            bytes.append(",\"t\":")
            bytes.append(integer: time)
        }
        if let boardWidth {
            bytes.append(",\"w\":")
            bytes.append(number: boardWidth)
        }
        if let boardHeight {
            bytes.append(",\"h\":")
            bytes.append(number: boardHeight)
        }
        return bytes
    }
}
