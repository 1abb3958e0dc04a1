/// Names of the headers of the protocol.
public enum HeaderName {
    /// The operation's place in the room, dense, from 1.
    public static let index = "Ink-Index"
    /// The room's incarnation; another one means: forget all and join again.
    public static let room = "Ink-Room"
    /// Who drew.
    public static let author = "Ink-Author"
    /// Of an undo or redo: the index of the stroke, or of the undoable clear, that leaves or returns.
    public static let ref = "Ink-Ref"
    /// ``BoardDigest`` of the strokes that are visible after the operation.
    public static let digest = "Ink-Digest"
    /// `1` where a policy, not the clock, released the operation, or the stroke itself came late.
    public static let late = "Ink-Late"
    /// `i/k`, from 1: a part of a reply that is cut into several messages.
    public static let part = "Ink-Part"
    /// Of a stroke message: names the count that its number belongs to.
    public static let session = "Ink-Session"
    /// Of a stroke message: JetStream drops a repeat with the same value.
    public static let msgID = "Nats-Msg-Id"
}
