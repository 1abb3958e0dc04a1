internal import Foundation

/// The JSON bodies of JetStream's API, with snake_case keys; failed requests are answered with an `error`.
enum APIBody {
    private struct Failure: Decodable {
        struct Reason: Decodable {
            var code: Int
            var errCode: Int?
            var description: String?
        }
        var error: Reason?
    }

    static func encode(_ body: some Encodable) throws(JetStreamError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        do {
            return Array(try encoder.encode(body))
        } catch {
            throw .malformed("\(error)")
        }
    }

    /// What else an answer with an error says; nil where it cannot be read.
    static func member<Answer: Decodable>(_ answer: Answer.Type, of bytes: [UInt8]) -> Answer? {
        try? JSONDecoder().decode(answer, from: Data(bytes))
    }

    /// - Throws: the answer's error, if it has one.
    static func check(_ bytes: [UInt8]) throws(JetStreamError) {
        struct Anything: Decodable {}
        _ = try decode(Anything.self, from: bytes)
    }

    /// - Throws: the answer's error; `.malformed`.
    static func decode<Answer: Decodable>(
        _ answer: Answer.Type, from bytes: [UInt8]
    ) throws(JetStreamError) -> Answer {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let data = Data(bytes)
        if let reason = (try? decoder.decode(Failure.self, from: data))?.error {
            throw JetStreamError(code: reason.code, number: reason.errCode ?? 0, text: reason.description ?? "")
        }
        do {
            return try decoder.decode(answer, from: data)
        } catch {
            throw .malformed(String(decoding: bytes.prefix(200), as: UTF8.self))
        }
    }
}

extension JetStreamError {
    init(code: Int, number: Int, text: String) {
        // 10076: not enabled in the server; 10039: not enabled for the account.
        self = number == 10076 || number == 10039 ? .notEnabled : .api(code: code, number: number, text: text)
    }
}

/// Why a JetStream operation failed.
public enum JetStreamError: Error, Sendable, Equatable {
    /// The server has no JetStream, or none for this account.
    case notEnabled
    /// No answer in time. A server may also leave a user without the permission unanswered.
    case noAnswer(subject: String)
    /// No stream captures the subject of a published message.
    case notCaptured(subject: String)
    case connection(NATSError)
    /// An error of JetStream: its HTTP-like code, its error number and its text.
    case api(code: Int, number: Int, text: String)
    /// An answer that cannot be read.
    case malformed(String)
    /// The stream exists with a configuration that cannot be used.
    case unsuitable(stream: String, [StreamDifference])
    /// The servers of a replicated stream have not elected a leader.
    case noLeader(stream: String)
    /// The stream acknowledges messages that it cannot read.
    case unreadable(stream: String)

    init(_ error: NATSError, asking subject: String) {
        self =
            switch error {
            case .noResponders: .notEnabled
            case .timeout: .noAnswer(subject: subject)
            default: .connection(error)
            }
    }

    /// There is no such stream.
    public var isStreamMissing: Bool { number == 10059 }
    /// There is no such message.
    public var isMessageMissing: Bool { number == 10037 }
    /// A message to be deleted is not there; the server has three errors for that.
    var isDeletedMessageMissing: Bool { number == 10043 || number == 10057 || isMessageMissing }
    /// The newest message of the subject is not the one that was to be replaced.
    public var isOutOfDate: Bool { number == 10071 }
    /// The stream, the account or the server has no space for more.
    public var isFull: Bool {
        // Of the account, of the server, of what either has left to reserve, of the stream, of the largest stream.
        number.map { [10002, 10023, 10047, 10077, 10122].contains($0) } ?? false
    }
    /// The stream knows the id of a published message, but not the message.
    package var isIDTaken: Bool { number == 10158 }
    /// There is a stream of that name, or with some of its subjects; the server may answer either for a stream that is
    /// being created at the same time.
    var isTaken: Bool { number == 10058 || number == 10065 }

    private var number: Int? {
        if case .api(_, let number, _) = self { number } else { nil }
    }
}

extension JetStreamError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notEnabled: "the NATS server has no JetStream for this account"
        case .noAnswer(let subject): "no answer to \(subject) in time; is this user allowed to publish there?"
        case .notCaptured(let subject): "no stream captures \(subject)"
        case .connection(let error): "\(error)"
        case .api(_, let number, let text): "JetStream: \(text) (error \(number))"
        case .malformed(let what): "malformed answer from JetStream: \(what)"
        case .unsuitable(let stream, let differences):
            "the stream \(stream) cannot be used: \(differences.map(\.description).joined(separator: "; "))"
        case .noLeader(let stream): "the servers of the stream \(stream) have no leader"
        case .unreadable(let stream): "\(stream) acknowledges messages that it cannot read: its file is damaged"
        }
    }
}

/// Parses the server's times: RFC 3339 with `Z` or an offset, and up to nine digits of a second.
enum ServerTime {
    /// - Returns: nanoseconds since 1970.
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

extension Duration {
    /// Whole nanoseconds, the unit of JetStream's API; longer durations are cut to 292 years.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard overflow || carry else { return sum }
        return seconds < 0 ? .min : .max
    }
}
