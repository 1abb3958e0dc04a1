/// Why something that came in was not accepted, and what of it.
public struct Rejection: Error, Sendable, Hashable {
    public let code: RejectionCode
    /// Which part of the message: `n`, `d`, `d[3]`, `d[3].x`; nil where the fault is not in one part.
    public let field: String?
    /// One English sentence for a person.
    public let message: String

    public init(code: RejectionCode, field: String? = nil, message: String) {
        self.code = code
        self.field = field
        self.message = message
    }
}
