extension StrokeMessage {
    /// The compact message: no white space, keys in the order of the specification's table, optional ones only if
    /// they are set, `d` last and only for a draw.
    ///
    /// ``points`` is ignored: the points come from `interior`.
    /// - Parameter interior: the bytes between the brackets of `d`, copied as they are.
    public func encoded(interior: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = encodedHead(reserving: interior.count)
        if action == .draw { bytes.append("d", interior: interior) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Everything before `d`, with capacity for the rest.
    private func encodedHead(reserving interior: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(interior + 128)
        bytes.append("{")
        bytes.append("n", integer: number)
        bytes.append("c", integer: colour)
        bytes.append("l", number: lengthOfLine)
        bytes.append("s", integer: shardCount)
        bytes.append("o", integer: shardOrder)
        bytes.append("e", integer: element.rawValue)
        bytes.append("a", integer: action.rawValue)
        bytes.append("t", integer: time)
        bytes.append("w", number: boardWidth)
        bytes.append("h", number: boardHeight)
        bytes.append("g", integer: page)
        if let content { bytes.append(content: content) }
        return bytes
    }
}

extension StrokeMessage {
    /// What `l` says.
    private var lengthOfLine: Double {
        if case .ruled(_, let distance)? = paper?.kind { distance } else { width }
    }
}

extension StrokeMessage {
    /// The message with another number; all else stays as it is, byte for byte.
    /// - Parameters:
    ///   - message: a message as JSON.
    ///   - isLeft: whether it has the member `left` then: an author's device sends what it had left when another took over. Nil
    ///     for as it is.
    /// - Returns: nil where the text is no JSON object.
    package static func renumbered(_ message: [UInt8], _ number: Int64, isLeft: Bool? = nil) -> [UInt8]? {
        guard let values = values(of: "n", in: message) else { return nil }
        var text: [UInt8] = []
        text.append(integer: number)
        var result: [UInt8] = []
        result.reserveCapacity(message.count + 32)
        var position = 0
        for case .number(let number) in values {
            result.append(contentsOf: message[position..<number.range.lowerBound])
            result.append(contentsOf: text)
            position = number.range.upperBound
        }
        result.append(contentsOf: message[position...])
        switch isLeft {
        case true? where !Self.isLeft(result): return result.addingMember { $0.append(Self.leftMember) }
        case false?: return result.withoutFirst(Self.leftMember)
        default: return result
        }
    }

    private static let leftMember: StaticString = "\"left\":true"

    /// The message of a removal with other indices; all else stays as it is, byte for byte.
    /// - Returns: nil where the text is no JSON object with a list `v`.
    package static func removing(_ indices: [UInt64], by message: [UInt8]) -> [UInt8]? {
        // The last one counts.
        guard case .array(let range)? = values(of: "v", in: message)?.last else { return nil }
        var result = Array(message[..<range.lowerBound])
        result.append(list: indices) { $0.append(integer: $1) }
        result.append(contentsOf: message[range.upperBound...])
        return result
    }

    /// The values of a member in their order, for it may stand there more than once; nil where the text is no JSON object.
    private static func values(of letter: Unicode.Scalar, in message: [UInt8]) -> [JSONToken]? {
        var values: [JSONToken] = []
        var scanner = JSONScanner(maximumDepth: JSONScanner.messageDepth)
        let isObject = try? scanner.takeObject(message.span) { key, scanner, text throws(JSONFault) in
            let value = try scanner.takeValue(text)
            if JSONText.letter(key, of: text) == UInt8(ascii: letter) { values.append(value) }
        }
        return isObject == true ? values : nil
    }

    /// The message with the name that its author goes by.
    package static func named(_ message: [UInt8], _ name: String) -> [UInt8] {
        message.addingMember {
            $0.append("\"by\":")
            $0.append(string: name)
        }
    }

    /// Whether a message says that an author's device had left it; see ``renumbered(_:_:isLeft:)``.
    package static func isLeft(_ message: [UInt8]) -> Bool {
        guard let object = try? JSONObject(message, keeping: ["left"], limit: .max) else { return false }
        return (try? object.bool("left")) == true
    }
}

extension [UInt8] {
    /// An object that has members, with one more before them.
    fileprivate func addingMember(_ member: (inout [UInt8]) -> Void) -> [UInt8] {
        guard let start = firstIndex(of: UInt8(ascii: "{")) else { return self }
        var bytes = Array(self[...start])
        bytes.reserveCapacity(count + 80)
        member(&bytes)
        bytes.append(UInt8(ascii: ","))
        bytes.append(contentsOf: self[(start + 1)...])
        return bytes
    }

    /// An object without a member that was added before its others.
    fileprivate func withoutFirst(_ member: StaticString) -> [UInt8] {
        guard let start = firstIndex(of: UInt8(ascii: "{")) else { return self }
        var text: [UInt8] = []
        text.append(member)
        text.append(UInt8(ascii: ","))
        guard self[(start + 1)...].starts(with: text) else { return self }
        return Array(self[...start]) + self[(start + 1 + text.count)...]
    }
}

extension [UInt8] {
    /// A member that is an array.
    /// - Parameter interior: the bytes between its brackets.
    mutating func append(_ name: StaticString, interior: some Sequence<UInt8>) {
        append(name: name)
        append(UInt8(ascii: "["))
        append(contentsOf: interior)
        append(UInt8(ascii: "]"))
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
