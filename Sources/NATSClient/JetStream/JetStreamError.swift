/// Why something asked of JetStream did not happen.
public enum JetStreamError: Error, Sendable, Equatable {
    /// The server has no JetStream, or none for this account.
    case notEnabled
    /// No answer in time. The server does not answer a user who lacks the permission either.
    case noAnswer(subject: String)
    /// A message was published that no stream captures.
    case notCaptured(subject: String)
    /// What the connection says.
    case connection(NATSError)
    /// What JetStream says: an HTTP-like code, its own number for the error, and words.
    case api(code: Int, number: Int, text: String)
    /// An answer that cannot be read.
    case malformed(String)
    /// The stream is there, but is made so that it cannot be used for this.
    case unsuitable(stream: String, [StreamDifference])

    init(_ error: NATSError, asking subject: String) {
        self =
            switch error {
            case .noResponders: .notEnabled
            case .timeout: .noAnswer(subject: subject)
            default: .connection(error)
            }
    }

    /// The stream that was asked for is not there.
    public var isStreamMissing: Bool { number == 10059 }
    /// There is no such message.
    public var isMessageMissing: Bool { number == 10037 }
    /// A stream of that name or with some of its subjects is there; of one that another makes in this moment the server
    /// may say either.
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
        case .malformed(let what): "an answer of JetStream that cannot be read: \(what)"
        case .unsuitable(let stream, let differences):
            "the stream \(stream) cannot be used: \(differences.map(\.description).joined(separator: "; "))"
        }
    }
}
