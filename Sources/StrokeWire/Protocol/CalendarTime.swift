/// Dates and times as ISO 8601, RFC 3339 and XML Schema have them.
package enum CalendarTime {
    /// Reads `2026-01-31T12:34:56.789Z`, or with an offset as `+01:00`; without either it is UTC.
    /// - Returns: the time since 1970 in UTC, to the microsecond; nil for another text.
    package static func read(_ text: Substring) -> MediaTime? {
        var scanner = DigitScanner(text.utf8)
        guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
            let day = scanner.number(2), scanner.take("T") || scanner.take(" "), let hour = scanner.number(2),
            scanner.take(":"), let minute = scanner.number(2), scanner.take(":"), let second = scanner.number(2),
            (1...12).contains(month), (1...31).contains(day), hour <= 24, minute < 60, second <= 60
        else { return nil }
        guard let fraction = scanner.take(".") || scanner.take(",") ? scanner.fraction() : 0 else { return nil }
        var offset: Int64 = 0
        if !(scanner.take("Z") || scanner.take("z") || scanner.isAtEnd) {
            let sign: Int64 = scanner.take("-") ? -1 : 1
            guard sign < 0 || scanner.take("+"), let hours = scanner.number(2) else { return nil }
            let hasMinutes = scanner.take(":") || !scanner.isAtEnd
            guard let minutes = hasMinutes ? scanner.number(2) : 0 else { return nil }
            offset = sign * (hours * 60 + minutes)
        }
        guard scanner.isAtEnd else { return nil }
        let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - offset
        return MediaTime(microseconds: (minutes * 60 + second) * 1_000_000 + fraction)
    }

    /// Days since 1970-01-01 in the Gregorian calendar: Howard Hinnant's `days_from_civil`.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private struct DigitScanner {
        private var rest: Substring.UTF8View.SubSequence

        init(_ text: Substring.UTF8View) { rest = text[...] }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard let byte = rest.first, UInt32(byte) == character.value else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(_ count: Int) -> Int64? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(count)
            return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Microseconds, of as many digits as there are; nil where there is none.
        mutating func fraction() -> Int64? {
            guard let digit = rest.first, (0x30...0x39).contains(digit) else { return nil }
            var value: Int64 = 0
            var unit: Int64 = 100_000
            while let byte = rest.first, (0x30...0x39).contains(byte) {
                value += Int64(byte - 0x30) * unit
                unit /= 10
                rest = rest.dropFirst()
            }
            return value
        }
    }
}
