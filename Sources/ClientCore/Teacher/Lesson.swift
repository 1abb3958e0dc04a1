public import StrokeWire

/// A script: the messages that one author will publish, in that order, each with its time.
public struct Lesson: Sendable {
    /// The messages in publishing order; their times never decrease.
    public let messages: [LessonMessage]

    /// Makes a lesson of valid messages.
    ///
    /// - Parameter messages: each with its decoded form; the shards of a stroke stand next to each other.
    public init(_ messages: some Sequence<(bytes: [UInt8], header: StrokeMessage)>) {
        self.messages = Self.schedule(Array(messages))
    }

    private init(scheduled messages: [LessonMessage]) { self.messages = messages }

    /// Time of the last message, from the start of the video.
    public var duration: Duration { messages.last?.due ?? .zero }
}

/// One message of a lesson.
public struct LessonMessage: Sendable, Equatable {
    /// The message as it is published.
    public let bytes: [UInt8]
    /// The decoded message; its points are ranges of `bytes`.
    public let header: StrokeMessage
    /// When it is published, from media time 0, at normal speed.
    public let due: Duration

    /// Makes a message.
    public init(bytes: [UInt8], header: StrokeMessage, due: Duration) {
        (self.bytes, self.header, self.due) = (bytes, header, due)
    }

    /// The bytes between the brackets of `d`; empty for all actions but `draw`.
    public var interior: ArraySlice<UInt8> { bytes[header.points.interior] }
}

// Timing: a command is published when it is given, a stroke with all its shards when the pen is lifted.
extension Lesson {
    /// Assumed points per second of strokes whose points have no times.
    private static let sampling: Int64 = 60

    /// Gives each message its time. The order stays: a message due before its predecessor is published with it.
    private static func schedule(_ messages: [(bytes: [UInt8], header: StrokeMessage)]) -> [LessonMessage] {
        var scheduled: [LessonMessage] = []
        scheduled.reserveCapacity(messages.count)
        var earliest = Duration.zero
        for range in OperationRuns.ranges(of: messages.map { $0.header }) {
            let due = max(earliest, due(of: messages[range]))
            for (bytes, header) in messages[range] {
                scheduled.append(LessonMessage(bytes: bytes, header: header, due: due))
            }
            earliest = due
        }
        return scheduled
    }

    private static func due(of operation: ArraySlice<(bytes: [UInt8], header: StrokeMessage)>) -> Duration {
        guard let first = operation.first else { return .zero }
        // A negative or missing time means: as soon as possible.
        let begin = Duration.milliseconds(max(0, first.header.time ?? 0))
        guard first.header.action == .draw else { return begin }
        var points: Int64 = 0
        var lastSample: Double?
        for (bytes, header) in operation {
            points += Int64(header.points.count)
            guard let time = header.decodePoints(of: bytes).last?.milliseconds else { continue }
            lastSample = max(lastSample ?? 0, time)
        }
        if let lastSample { return begin + .milliseconds(min(max(lastSample, 0), 0x1p53)) }
        return begin + .milliseconds(max(0, points - 1) * 1000) / sampling
    }
}

extension Lesson {
    /// The lesson on another time line: its first time becomes `origin`, and publishing begins with that.
    ///
    /// Messages without a time have none afterwards.
    public func moved(to origin: Int64) -> Lesson {
        let first = messages.lazy.compactMap { $0.header.time }.first ?? 0
        let begin = Duration.milliseconds(max(0, first))
        return Lesson(
            scheduled: messages.map { message in
                let due = max(.zero, message.due - begin)
                guard let time = message.header.time else {
                    return LessonMessage(bytes: message.bytes, header: message.header, due: due)
                }
                var header = message.header
                header.time = time &- first &+ origin
                let bytes = header.encoded(interior: message.interior)
                if header.action == .draw {
                    // Before `]}`.
                    let end = bytes.count - 2
                    header.points = PointArray(
                        count: header.points.count, interior: end - message.interior.count..<end)
                }
                return LessonMessage(bytes: bytes, header: header, due: due)
            })
    }

    /// Cuts the strokes anew into shards of at most `points` points.
    ///
    /// - Parameter points: at least 1; more where a stroke would need more than 1024 shards.
    /// - Throws: the first message that a room would reject, with its line in the new lesson.
    public func cut(pointsPerShard points: Int) throws(LessonError) -> Lesson {
        var cut: [(bytes: [UInt8], header: StrokeMessage)] = []
        for range in OperationRuns.ranges(of: messages.map { $0.header }) {
            let operation = messages[range]
            guard operation[range.lowerBound].header.action == .draw else {
                cut += operation.map { ($0.bytes, $0.header) }
                continue
            }
            for bytes in Self.cutStroke(operation, max(1, points)) {
                do throws(MalformedMessage) {
                    // Reading has checked the lesson; only what cutting can change is checked here.
                    cut.append((bytes, try StrokeMessage(decoding: bytes, limits: .any)))
                } catch {
                    throw LessonError(line: cut.count + 1, rejection: error.rejection)
                }
            }
        }
        return Lesson(cut)
    }

    private static func cutStroke(_ shards: ArraySlice<LessonMessage>, _ points: Int) -> [[UInt8]] {
        let inOrder = shards.sorted { $0.header.shardOrder < $1.header.shardOrder }
        guard var header = inOrder.first?.header else { return [] }
        let interior = ShardJoiner.join(inOrder.map { $0.interior })
        let count = shards.reduce(0) { $0 + $1.header.points.count }
        header.points = PointArray(count: count, interior: interior.indices)
        return ShardCutter.cut(header, interior: interior[...], pointsPerShard: points)
    }
}

/// Finds the messages of each operation.
private enum OperationRuns {
    /// One range per operation: a command, a stroke in one message, or adjacent shards with the same number.
    static func ranges(of headers: [StrokeMessage]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start = 0
        while start < headers.count {
            let end = end(in: headers, from: start)
            ranges.append(start..<end)
            start = end
        }
        return ranges
    }

    private static func end(in headers: [StrokeMessage], from start: Int) -> Int {
        let first = headers[start]
        guard first.action == .draw, first.isSharded else { return start + 1 }
        return headers[start...].firstIndex { $0.number != first.number || !$0.isSharded } ?? headers.count
    }
}

/// Statistics of a lesson.
public struct LessonStatistics: Sendable, Equatable {
    /// Number of messages, each shard counted.
    public private(set) var messages = 0
    /// Number of strokes.
    public private(set) var strokes = 0
    /// Number of strokes in more than one message.
    public private(set) var shardedStrokes = 0
    /// Number of strokes by element.
    public private(set) var elements: [Element: Int] = [:]
    /// Number of operations that are no strokes, by action.
    public private(set) var commands: [Action: Int] = [:]
    /// Number of points.
    public private(set) var points = 0
    /// Size of all messages in bytes.
    public private(set) var bytes = 0
    /// Time of the last message.
    public private(set) var duration = Duration.zero

    /// Number of operations: strokes and commands.
    public var operations: Int { strokes + commands.values.reduce(0, +) }
}

extension LessonStatistics {
    /// Counts the messages of a lesson.
    public init(_ lesson: Lesson) {
        duration = lesson.duration
        messages = lesson.messages.count
        for range in OperationRuns.ranges(of: lesson.messages.map { $0.header }) {
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
