/// JSON output: appends values without white space.
extension [UInt8] {
    mutating func append(_ literal: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    package mutating func append(integer: some FixedWidthInteger) {
        if integer < 0 { append(UInt8(ascii: "-")) }
        var rest = UInt64(integer.magnitude)
        // The greatest number of 64 bits has 20 digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            append(contentsOf: UnsafeBufferPointer(rebasing: UnsafeBufferPointer(digits)[start...]))
        }
    }

    /// The fewest digits that read back as the same value, an integer if it is one. JSON has neither infinity nor NaN:
    /// they become `null`, which every reader of a number refuses.
    mutating func append(number: Double) {
        if number.magnitude <= 0x1p53, number == number.rounded(.towardZero) {
            append(integer: Int64(number))
        } else if number.isFinite {
            append(contentsOf: number.description.utf8)
        } else {
            append("null")
        }
    }

    /// A string in quotes, with the escapes that JSON needs.
    package mutating func append(string: String) {
        append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x10:
                append("\\u000")
                append(UInt8(hexadecimalDigit: byte))
            case 0x10..<0x20:
                append("\\u001")
                append(UInt8(hexadecimalDigit: byte - 0x10))
            default:
                append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// An array; `element` appends each of its elements.
    mutating func append<Elements: Sequence>(
        list elements: Elements, _ element: (inout [UInt8], Elements.Element) -> Void
    ) {
        append(UInt8(ascii: "["))
        var isFirst = true
        for value in elements {
            if !isFirst { append(UInt8(ascii: ",")) }
            isFirst = false
            element(&self, value)
        }
        append(UInt8(ascii: "]"))
    }

    /// An object; `members` appends its members.
    package mutating func appendObject(_ members: (inout [UInt8]) -> Void) {
        append(UInt8(ascii: "{"))
        members(&self)
        append(UInt8(ascii: "}"))
    }
}

extension JSONObject {
    /// - Parameter members: appends the members of the object.
    static func encoded(_ members: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendObject(members)
        return bytes
    }
}

/// Members of objects, behind a comma where others are before them. One whose value is nil is left out.
extension [UInt8] {
    /// The name of a member; its value comes next.
    package mutating func append(name: StaticString) {
        append(last == UInt8(ascii: "{") ? "\"" : ",\"")
        append(name)
        append("\":")
    }

    /// The name of a member, without characters that JSON escapes; its value comes next.
    package mutating func append(key name: String) {
        append(last == UInt8(ascii: "{") ? "\"" : ",\"")
        append(contentsOf: name.utf8)
        append("\":")
    }

    package mutating func append(_ name: StaticString, integer: (some FixedWidthInteger)?) {
        guard let integer else { return }
        append(name: name)
        append(integer: integer)
    }

    mutating func append(_ name: StaticString, number: Double?) {
        guard let number else { return }
        append(name: name)
        append(number: number)
    }

    package mutating func append(_ name: StaticString, string: String?) {
        guard let string else { return }
        append(name: name)
        append(string: string)
    }

    package mutating func append(_ name: StaticString, bool: Bool?) {
        guard let bool else { return }
        append(name: name)
        append(bool ? "true" : "false")
    }

    mutating func append(_ name: StaticString, time: MediaTime?) {
        guard let time else { return }
        append(name: name)
        append(time: time)
    }

    /// A time that is `null` where it is nil.
    mutating func append(_ name: StaticString, timeOrNull time: MediaTime?) {
        append(name: name)
        if let time { append(time: time) } else { append("null") }
    }

    mutating func appendObject(_ name: StaticString, _ members: (inout [UInt8]) -> Void) {
        append(name: name)
        appendObject(members)
    }

    mutating func append(_ name: StaticString, digest: BoardDigest?) {
        guard let digest else { return }
        append(name: name)
        append(digest: digest)
    }

    package mutating func append<Elements: Sequence>(
        _ name: StaticString, list: Elements?, _ element: (inout [UInt8], Elements.Element) -> Void
    ) {
        guard let list else { return }
        append(name: name)
        append(list: list, element)
    }
}
