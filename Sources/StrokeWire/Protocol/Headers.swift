/// Headers of the protocol.
public enum HeaderName {
    /// Index of the operation in the room, from 1, without holes.
    public static let index = "Ink-Index"
    /// Incarnation of the room; on a new value, forget everything and join again.
    public static let room = "Ink-Room"
    /// Author of the operation.
    public static let author = "Ink-Author"
    /// Of an undo or redo: the index of the stroke, or of the undoable clear, that leaves or returns.
    public static let ref = "Ink-Ref"
    /// ``BoardDigest`` of the strokes that are visible after the operation.
    public static let digest = "Ink-Digest"
    /// `1` if a policy, not the clock, released the operation, or if the stroke itself came late.
    public static let late = "Ink-Late"
    /// `i/k`, from 1: a part of a reply that is cut into several messages.
    public static let part = "Ink-Part"
    /// Of a stroke message: the session, whose sequence its number belongs to.
    public static let session = "Ink-Session"
    /// Of a stroke message: JetStream drops a repeat with the same value.
    public static let msgID = "Nats-Msg-Id"

    /// A valid value of ``session``: 1 to 64 visible ASCII characters. Anything else counts as none.
    public static func validSession(_ value: String?) -> String? {
        guard let value, 1...64 ~= value.utf8.count, value.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { return nil }
        return value
    }
}
