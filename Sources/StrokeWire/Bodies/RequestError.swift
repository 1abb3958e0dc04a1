/// Why a request gets no answer but this.
public struct RequestError: Error, Sendable, Hashable {
    public enum Code: String, Sendable, CaseIterable {
        case unknownRoom = "unknown-room"
        case unknownCohort = "unknown-cohort"
        case badRequest = "bad-request"
        case notReady = "not-ready"
    }

    public let code: Code
    /// One English sentence for a person.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
