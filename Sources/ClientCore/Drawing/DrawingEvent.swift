public import StrokeWire

/// An event that a ``DrawingSession`` reports to the program around it.
public enum DrawingEvent: Sendable, Equatable {
    /// Which shell writes, as far as this one knows.
    case writer(WriterClaim.State)
    /// The room takes nothing of this author, or takes it again.
    case muted(Bool)
    /// Operations without an answer, whether the shell stores them, and whether no more are taken.
    case outbox(waiting: Int, isKept: Bool, isFull: Bool)
    /// Whether what is drawn gets through.
    case sending(SendingState)
    /// The room has an operation.
    case applied(number: Int64, index: UInt64)
    /// The room has refused an operation.
    case rejected(number: Int64, code: String, message: String, operation: [UInt8])
    /// The pen is down, or up.
    case drawing(Bool)
    /// The pages as this teacher sees them.
    case pages(BoardPages)
    /// ``DrawingSession/live`` or ``DrawingSession/page`` may be other than before.
    case live
}

/// Whether what is drawn gets through to the room.
public enum SendingState: Sendable, Equatable {
    case live
    /// The gateway cannot be reached or is busy; it is tried again then.
    case waiting(GatewayFailure, until: Duration)
    /// The gateway refuses it, for a reason that does not pass by itself.
    case refused(GatewayFailure, until: Duration)
}
