/// The name of a cohort: the students of a room who see its video by one delivery path.
public struct CohortName: SubjectToken {
    public let text: String

    /// The cohort that every room has.
    public static let main = CohortName(known: "main")

    /// - Returns: nil for a text that is no name, and for `open` and `default`, which the configuration uses itself.
    public init?(_ text: some StringProtocol) {
        guard Self.isToken(text), text != "open", text != "default" else { return nil }
        self.text = String(text)
    }

    private init(known text: String) {
        self.text = text
    }
}
