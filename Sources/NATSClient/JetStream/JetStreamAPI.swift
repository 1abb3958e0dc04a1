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
        guard let nanoseconds = nanoseconds(text) else { throw .malformed("time \(text)") }
        return nanoseconds
    }

    /// Foundation reads the whole seconds: its times are not exact to the nanosecond, and it ignores what follows a zone.
    private static func nanoseconds(_ text: String) -> Int64? {
        let (second, rest) = (text.prefix(19), text.dropFirst(19))
        let fraction = rest.prefix { $0 == "." || $0.isNumber }
        let (digits, zone) = (fraction.dropFirst(), rest.dropFirst(fraction.count))
        guard zone == "Z" || zone.count == 6 && zone.contains(":"),
            fraction.isEmpty || fraction.first == "." && 1...9 ~= digits.count,
            let part = Int64(digits.padding(toLength: 9, withPad: "0", startingAt: 0)),
            let date = try? Date("\(second)\(zone)", strategy: .iso8601)
        else { return nil }
        let (whole, overflow) = Int64(date.timeIntervalSince1970).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(part)
        return overflow || carry ? nil : sum
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
