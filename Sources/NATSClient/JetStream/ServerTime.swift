/// The server's times: RFC 3339 in UTC or with an offset, with up to nine digits of a second.
enum ServerTime {
    /// Nanoseconds since 1970.
    static func parse(_ text: String) throws(JetStreamError) -> Int64 {
        guard let nanoseconds = nanoseconds(Array(text.utf8)) else { throw .malformed("time \(text)") }
        return nanoseconds
    }

    private static func nanoseconds(_ text: [UInt8]) -> Int64? {
        guard text.count >= 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            let year = number(text[0..<4]), let month = number(text[5..<7]), 1...12 ~= month,
            let day = number(text[8..<10]), 1...31 ~= day, let hour = number(text[11..<13]),
            let minute = number(text[14..<16]), let second = number(text[17..<19])
        else { return nil }
        var rest = text[19...]
        var fraction: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { 0x30...0x39 ~= $0 }
            guard 1...9 ~= digits.count, let value = number(digits) else { return nil }
            fraction = (digits.count..<9).reduce(value) { scaled, _ in scaled * 10 }
            rest = rest[digits.endIndex...]
        }
        guard let offset = offsetSeconds(rest) else { return nil }
        let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second - offset
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(fraction)
        return overflow || carry ? nil : sum
    }

    /// `Z`, `+02:00`.
    private static func offsetSeconds(_ text: ArraySlice<UInt8>) -> Int64? {
        if text.elementsEqual("Z".utf8) { return 0 }
        let zone = Array(text)
        guard zone.count == 6, zone[3] == UInt8(ascii: ":"),
            zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-"),
            let hours = number(zone[1..<3]), let minutes = number(zone[4..<6])
        else { return nil }
        return (zone[0] == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    /// At most nine digits.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard 0x30...0x39 ~= digit else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        return value
    }

    /// Days from 1970-01-01 in the Gregorian calendar: `days_from_civil` by Howard Hinnant, "chrono-Compatible
    /// Low-Level Date Algorithms" (2013). Years begin in March, so that the leap day is their last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
