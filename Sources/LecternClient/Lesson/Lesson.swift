public import StrokeWire

/// A recorded lesson: the messages of one author in the order in which a teacher client publishes them, each with the
/// time it is due.
public struct Lesson: Sendable {
    /// The messages, in the order they are published. A message is never due before the one in front of it.
    public let messages: [LessonMessage]

    /// A lesson of messages that are checked already.
    ///
    /// - Parameter messages: each with what it was decoded to; the shards of a stroke next to each other.
    public init(_ messages: some Sequence<(bytes: [UInt8], header: StrokeMessage)>) {
        self.messages = LessonTiming.schedule(Array(messages))
    }

    /// When the last message is due, measured from the start of the video.
    public var duration: Duration { messages.last?.due ?? .zero }
}

/// One compact message of a lesson.
public struct LessonMessage: Sendable, Equatable {
    /// The message as it is published.
    public let bytes: [UInt8]
    /// What the bytes say; its points lie in `bytes`.
    public let header: StrokeMessage
    /// When it is published, measured from media time 0 of the video, at normal speed.
    public let due: Duration

    /// A message with its time.
    public init(bytes: [UInt8], header: StrokeMessage, due: Duration) {
        self.bytes = bytes
        self.header = header
        self.due = due
    }

    /// The points between the brackets of `d`, byte for byte; empty for undo, redo and clear.
    public var interior: ArraySlice<UInt8> { bytes[header.points.interior] }
}
