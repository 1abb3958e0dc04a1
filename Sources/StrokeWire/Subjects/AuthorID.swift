/// The name of one who writes to a room: the last token of the subject that a message came in on.
public struct AuthorID: SubjectToken {
    public let text: String

    public init?(_ text: some StringProtocol) {
        guard Self.isToken(text) else { return nil }
        self.text = String(text)
    }
}
