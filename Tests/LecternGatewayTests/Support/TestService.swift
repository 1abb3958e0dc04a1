import NATSClient
import StrokeWire

/// What stands for the daemons in a test: answers requests with what the test says. Ends with its connection.
struct TestService: Sendable {
    let connection: NATSConnection

    /// Answers each request on a subject (which may have wildcards) with messages; none at all leaves it waiting.
    func answer(_ subject: String, with replies: @escaping @Sendable (Question) -> [Answer]) throws {
        let connection = connection
        _ = try connection.subscribe(subject) { message in
            guard let inbox = message.reply else { return }
            let question = Question(subject: message.subject, payload: message.copyPayload())
            for answer in replies(question) {
                try? connection.publish(answer.payload, to: inbox, headers: answer.headers)
            }
        }
    }

    /// Returns once the server knows all subjects of this service.
    func ready() async throws {
        try await connection.flush()
    }
}

struct Question: Sendable {
    let subject: String
    let payload: [UInt8]

    var text: String { String(decoding: payload, as: UTF8.self) }
}

struct Answer: Sendable {
    var payload: [UInt8]
    var headers: NATSHeaders = [:]

    static func text(_ text: String) -> Answer { Answer(payload: Array(text.utf8)) }
    static func error(_ code: RequestError.Code) -> Answer {
        Answer(payload: RequestError(code, "The service says no.").encoded())
    }

    /// A reply cut into so many messages.
    static func parts(_ payload: [UInt8], _ count: Int) -> [Answer] {
        (0..<count).map { part in
            let range = payload.count * part / count..<payload.count * (part + 1) / count
            return Answer(payload: Array(payload[range]), headers: [HeaderName.part: "\(part + 1)/\(count)"])
        }
    }
}

/// The beginning of every PNG, and something after it: at least so many bytes.
func picture(bytes: Int) -> [UInt8] {
    // Blocks of 251 bytes fall differently into parts of any usual size.
    let block = Array(0..<251 as Range<UInt8>)
    var png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    while png.count < bytes { png += block }
    return png
}
