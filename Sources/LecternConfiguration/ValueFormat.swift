/// The format of a setting's values: text to value and back.
struct ValueFormat<Value>: Sendable {
    /// The kind of value, in a word or two: `size`, `duration`.
    let name: String
    /// The allowed values: `1KiB … 8MiB`.
    let range: String
    /// Whether the value is a list in the file. Its text has commas between the elements.
    var isList = false
    let parse: @Sendable (_ text: String) throws(ParseError) -> Value
    /// The text of a value, for display. `parse` gives the value back, unless it is a secret.
    let format: @Sendable (Value) -> String
}

/// A text is not an allowed value: `"7x" is not a whole number`.
struct ParseError: Error, Equatable {
    let message: String

    init(_ message: String) { self.message = message }

    /// - Parameter text: shown in quotes, and cut when it is long.
    init(_ text: String, _ message: String) {
        let shown = text.count > 60 ? text.prefix(60) + "…" : text[...]
        self.message = "\(String(reflecting: String(shown))) \(message)"
    }
}

extension ValueFormat where Value: FixedWidthInteger & SignedInteger & Sendable {
    /// A whole number, digits only.
    static func count(_ allowed: ClosedRange<Value>) -> Self {
        let range = "\(allowed.lowerBound) … \(allowed.upperBound)"
        return ValueFormat(name: "whole number", range: range) { text throws(ParseError) in
            let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
            guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
                throw ParseError(text, "is not a whole number (\(range))")
            }
            guard let number = Value(text), allowed.contains(number) else {
                throw ParseError(text, "is out of range (\(range))")
            }
            return number
        } format: { number in
            String(number)
        }
    }
}

extension ValueFormat where Value == Double {
    /// A decimal number, digits with at most one point.
    ///
    /// - Parameter none: a value outside the range that is also allowed, with a special meaning.
    static func number(_ allowed: ClosedRange<Double>, or none: Double? = nil) -> Self {
        let bounds = "\(allowed.lowerBound.text) … \(allowed.upperBound.text)"
        let range = none.map { "\($0.text), or \(bounds)" } ?? bounds
        return ValueFormat(name: "number", range: range) { text throws(ParseError) in
            guard text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }),
                let number = Double(text)
            else { throw ParseError(text, "is not a number (\(range))") }
            guard allowed.contains(number) || number == none else {
                throw ParseError(text, "is out of range (\(range))")
            }
            return number
        } format: { number in
            number.text
        }
    }
}

extension Double {
    /// The number; whole ones without a fraction.
    fileprivate var text: String {
        Int(exactly: self).map(String.init) ?? String(self)
    }
}

extension ValueFormat where Value == Int? {
    /// Bytes as in ``ValueFormat/size(_:)``; `unlimited` for no limit.
    static func sizeLimit(_ allowed: ClosedRange<Int>) -> Self {
        let size = ValueFormat<Int>.size(allowed)
        return ValueFormat(name: size.name, range: "\(size.range), or unlimited") { text throws(ParseError) in
            if text == "unlimited" { return nil }
            do throws(ParseError) {
                return try size.parse(text)
            } catch {
                throw ParseError(error.message + ", or unlimited")
            }
        } format: { bytes in
            bytes.map(size.format) ?? "unlimited"
        }
    }
}

extension ValueFormat where Value == Int {
    /// Bytes, written `65536`, `256KiB`, `1MiB` or `2GiB`.
    static func size(_ allowed: ClosedRange<Int>) -> Self {
        let format = UnitFormat.sizes
        let range = "\(format.text(allowed.lowerBound)) … \(format.text(allowed.upperBound))"
        return ValueFormat(name: "size", range: range) { text throws(ParseError) in
            guard let bytes = format.amount(text) else {
                throw ParseError(text, "is not a size; write 65536, 256KiB, 1MiB or 2GiB (\(range))")
            }
            guard allowed.contains(bytes) else { throw ParseError(text, "is out of range (\(range))") }
            return bytes
        } format: { bytes in
            format.text(bytes)
        }
    }
}

extension ValueFormat where Value == Duration {
    /// A time, written `250ms`, `30s`, `10m`, `2h` or `30d`.
    static func duration(_ allowed: ClosedRange<Duration>) -> Self {
        let range = "\(allowed.lowerBound.text) … \(allowed.upperBound.text)"
        return ValueFormat(name: "duration", range: range) { text throws(ParseError) in
            guard let milliseconds = UnitFormat.durations.amount(text) else {
                throw ParseError(text, "is not a duration; write 250ms, 30s, 10m, 2h or 30d (\(range))")
            }
            let duration = Duration.milliseconds(milliseconds)
            guard allowed.contains(duration) else { throw ParseError(text, "is out of range (\(range))") }
            return duration
        } format: { duration in
            duration.text
        }
    }
}

extension Duration {
    /// The text of a setting; fractions of a millisecond are cut off.
    fileprivate var text: String { UnitFormat.durations.text(Int(attoseconds / 1_000_000_000_000_000)) }
}

/// Whole numbers with a unit, such as `256KiB` or `10m`.
struct UnitFormat: Sendable {
    struct Unit: Sendable {
        let suffix: String
        /// In units of the smallest.
        let factor: Int
    }

    /// From the smallest to the largest, each a multiple of the one before.
    let units: [Unit]
    let zero: String

    /// Bytes; a number without a unit is bytes too.
    static let sizes = UnitFormat(
        units: [
            Unit(suffix: "", factor: 1), Unit(suffix: "KiB", factor: 1 << 10), Unit(suffix: "MiB", factor: 1 << 20),
            Unit(suffix: "GiB", factor: 1 << 30),
        ], zero: "0")

    /// Milliseconds.
    static let durations = UnitFormat(
        units: [
            Unit(suffix: "ms", factor: 1), Unit(suffix: "s", factor: 1000), Unit(suffix: "m", factor: 60_000),
            Unit(suffix: "h", factor: 3_600_000), Unit(suffix: "d", factor: 86_400_000),
        ], zero: "0s")

    /// - Returns: the amount in the smallest unit; nil for a text that is not digits and a unit, or for an amount above
    ///   `Int.max`.
    func amount(_ text: String) -> Int? {
        let digits = text.prefix { $0.utf8.allSatisfy(\.isDigit) }
        let suffix = text[digits.endIndex...]
        guard let number = Int(digits), let unit = units.first(where: { $0.suffix == suffix }) else { return nil }
        let (amount, overflow) = number.multipliedReportingOverflow(by: unit.factor)
        return overflow ? nil : amount
    }

    /// The amount in the largest unit that leaves no fraction.
    func text(_ amount: Int) -> String {
        guard amount != 0, let unit = units.last(where: { amount % $0.factor == 0 }) else { return zero }
        return "\(amount / unit.factor)\(unit.suffix)"
    }
}

extension ValueFormat where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// One of a few words.
    static var choice: Self {
        let words = Value.allCases.map(\.rawValue)
        let range = words.joined(separator: " | ")
        return ValueFormat(name: "word", range: range) { text throws(ParseError) in
            guard let value = Value(rawValue: text) else {
                let guess = Spelling.nearest(to: text, among: words).map { "; did you mean \($0)?" } ?? ""
                throw ParseError(text, "is not one of \(range)\(guess)")
            }
            return value
        } format: { value in
            value.rawValue
        }
    }
}

extension ValueFormat where Value == Bool {
    /// `true` or `false`.
    static var flag: Self {
        ValueFormat(name: "flag", range: "true | false") { text throws(ParseError) in
            switch text {
            case "true": return true
            case "false": return false
            default: throw ParseError(text, "is neither true nor false")
            }
        } format: { value in
            String(value)
        }
    }
}
