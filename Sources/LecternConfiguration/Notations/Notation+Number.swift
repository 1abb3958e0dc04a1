extension Notation where Value: FixedWidthInteger & SignedInteger & Sendable {
    /// A whole number, digits only.
    static func count(_ allowed: ClosedRange<Value>) -> Self {
        let range = "\(allowed.lowerBound) … \(allowed.upperBound)"
        return Notation(name: "whole number", range: range) { text throws(Misspelling) in
            let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
            guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
                throw Misspelling(text, "is no whole number (\(range))")
            }
            guard let number = Value(text), allowed.contains(number) else {
                throw Misspelling(text, "is out of range (\(range))")
            }
            return number
        } format: { number in
            String(number)
        }
    }
}

extension Notation where Value == Double {
    /// A decimal number, digits with at most one point.
    ///
    /// - Parameter none: a value outside the range that is allowed too and stands for something else.
    static func number(_ allowed: ClosedRange<Double>, or none: Double? = nil) -> Self {
        let bounds = "\(allowed.lowerBound.spelled) … \(allowed.upperBound.spelled)"
        let range = none.map { "\($0.spelled), or \(bounds)" } ?? bounds
        return Notation(name: "number", range: range) { text throws(Misspelling) in
            guard text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }),
                let number = Double(text)
            else { throw Misspelling(text, "is no number (\(range))") }
            guard allowed.contains(number) || number == none else {
                throw Misspelling(text, "is out of range (\(range))")
            }
            return number
        } format: { number in
            number.spelled
        }
    }
}

extension Double {
    /// Without a fraction where there is none.
    fileprivate var spelled: String {
        Int(exactly: self).map(String.init) ?? String(self)
    }
}
