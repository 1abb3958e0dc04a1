/// Something that the server does not let the user of a connection do.
public struct Denial: Sendable, Equatable, CustomStringConvertible {
    /// What can be denied.
    public enum Act: String, Sendable {
        case publish = "publish to"
        case subscribe = "subscribe to"
    }

    /// What was tried.
    public let act: Act
    /// Where, as it was asked for; of a subscription it may have wildcards.
    public let subject: String

    /// A denial of `act` on `subject`.
    public init(_ act: Act, _ subject: String) {
        self.act = act
        self.subject = subject
    }

    /// One line for a person.
    public var description: String { "this NATS user may not \(act.rawValue) \(subject)" }
}

extension Denial {
    /// Reads what the server says with `-ERR`: `Permissions Violation for Publish to "a.b"` (nats-server 2.9).
    /// - Returns: nil for anything else.
    init?(reported text: String) {
        // The words before the quotation mark, the subject, and what may follow, such as a queue.
        let parts = text.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let words = parts.first else { return nil }
        if words.hasSuffix("Permissions Violation for Publish to ") {
            self.init(.publish, String(parts[1]))
        } else if words.hasSuffix("Permissions Violation for Subscription to ") {
            self.init(.subscribe, String(parts[1]))
        } else {
            return nil
        }
    }
}
