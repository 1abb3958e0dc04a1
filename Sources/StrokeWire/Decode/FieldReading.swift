extension Int64 {
    /// The largest integer that every JSON implementation keeps, 2⁵³−1.
    static var largestSafe: Int64 { (1 << 53) - 1 }
}

/// What each field of a message has to be. A field is named as on the wire.
extension JSONToken? {
    /// An integer, nil where the field is absent. One beyond `Int64` is handed out as the nearest that fits, for all
    /// ranges end below; infinity is `out-of-range` whatever the range.
    func integer(_ field: String, _ text: borrowing Span<UInt8>) throws(Rejection) -> Int64? {
        guard let self else { return nil }
        guard case .number(let number) = self else { throw .wrongType(field, "an integer") }
        switch number.integer(text) {
        case .value(let value, hasFraction: false): return value
        case .beyond(let isNegative, hasFraction: false): return isNegative ? .min : .max
        case .value(_, hasFraction: true), .beyond(_, hasFraction: true): throw .wrongType(field, "an integer")
        case .infinite: throw .outOfRange(field, "an integer that a double can hold")
        }
    }

    /// An integer within a range that ends inside `Int64`.
    func integer(
        _ field: String, in range: ClosedRange<Int64>, _ text: borrowing Span<UInt8>
    ) throws(Rejection) -> Int64? {
        guard let value = try integer(field, text) else { return nil }
        guard range.contains(value) else {
            throw .outOfRange(field, "between \(range.lowerBound) and \(range.upperBound)")
        }
        return value
    }

    /// A number with its fraction cut off, toward zero.
    func truncated(_ field: String, _ text: borrowing Span<UInt8>) throws(Rejection) -> Int64? {
        guard let self else { return nil }
        guard case .number(let number) = self else { throw .wrongType(field, "a number") }
        guard case .value(let value, _) = number.integer(text) else {
            throw .outOfRange(field, "a number that 64 bits can hold")
        }
        return value
    }

    /// A finite number.
    func number(_ field: String, _ text: borrowing Span<UInt8>) throws(Rejection) -> Double? {
        guard let self else { return nil }
        guard case .number(let number) = self else { throw .wrongType(field, "a number") }
        let value = number.doubleValue(text)
        guard value.isFinite else { throw .outOfRange(field, "a number that a double can hold") }
        return value
    }

    /// A finite number within a range.
    func number(
        _ field: String, in range: ClosedRange<Double>, _ text: borrowing Span<UInt8>
    ) throws(Rejection) -> Double? {
        guard let value = try number(field, text) else { return nil }
        guard range.contains(value) else {
            throw .outOfRange(field, "between \(range.lowerBound) and \(range.upperBound)")
        }
        return value
    }
}
