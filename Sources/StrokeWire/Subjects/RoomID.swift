/// The name of a room.
public struct RoomID: SubjectToken {
    public let text: String

    public init?(_ text: some StringProtocol) {
        guard Self.isToken(text) else { return nil }
        self.text = String(text)
    }
}
