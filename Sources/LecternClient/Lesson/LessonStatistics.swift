public import StrokeWire

/// What a lesson consists of.
public struct LessonStatistics: Sendable, Equatable {
    /// Messages, each shard counted.
    public private(set) var messages = 0
    /// Strokes, whatever the number of their shards.
    public private(set) var strokes = 0
    /// Strokes that come in more than one message.
    public private(set) var shardedStrokes = 0
    /// Strokes by what they draw.
    public private(set) var elements: [Element: Int] = [:]
    /// Undo, redo and clear.
    public private(set) var commands: [Action: Int] = [:]
    /// Points of all strokes.
    public private(set) var points = 0
    /// Bytes of all messages.
    public private(set) var bytes = 0
    /// When the last message is due.
    public private(set) var duration = Duration.zero

    /// Operations: strokes and commands.
    public var operations: Int { strokes + commands.values.reduce(0, +) }
}

extension LessonStatistics {
    /// Counts a lesson.
    public init(_ lesson: Lesson) {
        duration = lesson.duration
        messages = lesson.messages.count
        for range in OperationRuns.ranges(of: lesson.messages.map(\.header)) {
            let header = lesson.messages[range.lowerBound].header
            for message in lesson.messages[range] {
                bytes += message.bytes.count
                points += message.header.points.count
            }
            if header.action == .draw {
                strokes += 1
                elements[header.element, default: 0] += 1
                if range.count > 1 { shardedStrokes += 1 }
            } else {
                commands[header.action, default: 0] += 1
            }
        }
    }
}
