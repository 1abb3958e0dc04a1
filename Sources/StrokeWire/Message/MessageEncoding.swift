extension StrokeMessage {
    /// The compact message: no white space, keys in the order of the specification's table, optional ones only if
    /// they are set, `d` last and only for a draw.
    ///
    /// ``points`` is ignored: the points come from `interior`.
    /// - Parameter interior: the bytes between the brackets of `d`, copied as they are.
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

    /// Everything before `d`, with capacity for the rest.
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
        if let page {
            bytes.append(",\"g\":")
            bytes.append(integer: page)
        }
        if let content { bytes.append(content: content) }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(content: MessageContent) {
        switch content {
        case .order(let pages):
            append(",\"v\":")
            append(list: pages) { $0.append(integer: $1) }
        case .image(let asset, let page):
            append(",\"i\":")
            append(string: asset.description)
            append(",\"p\":")
            append(integer: page)
        case .lasso(let map, let keepsOriginal):
            if let map {
                append(",\"m\":")
                append(list: map.numbers) { $0.append(number: $1) }
            }
            if keepsOriginal { append(",\"k\":1") }
        }
    }
}

/// Encodes points, for clients that draw.
public enum PointEncoder {
    /// The bytes between the brackets of `d`, every number with the fewest digits that read back as the same value.
    public static func interior(of points: [StrokePoint]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(points.count * 24)
        for point in points {
            bytes.append(bytes.isEmpty ? "{\"x\":" : ",{\"x\":")
            bytes.append(number: point.x)
            bytes.append(",\"y\":")
            bytes.append(number: point.y)
            append(",\"f\":", point.force, to: &bytes)
            append(",\"i\":", point.altitude, to: &bytes)
            append(",\"z\":", point.azimuth, to: &bytes)
            append(",\"m\":", point.milliseconds, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        return bytes
    }

    private static func append(_ key: StaticString, _ value: Double?, to bytes: inout [UInt8]) {
        guard let value else { return }
        bytes.append(key)
        bytes.append(number: value)
    }
}
