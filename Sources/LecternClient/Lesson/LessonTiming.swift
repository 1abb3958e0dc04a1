import StrokeWire

/// When a teacher client publishes: a command as it is given, a stroke when the pen is up, all of its shards together.
enum LessonTiming {
    /// Pens and browsers report 60 points a second where they tell no times.
    private static let sampling: Int64 = 60

    /// Gives each message its time. The order stays: what is due before its predecessor goes out with it.
    static func schedule(_ messages: [(bytes: [UInt8], header: StrokeMessage)]) -> [LessonMessage] {
        var scheduled: [LessonMessage] = []
        scheduled.reserveCapacity(messages.count)
        var earliest = Duration.zero
        for range in OperationRuns.ranges(of: messages.map(\.header)) {
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
        // Times before the video began mean: as soon as possible. No time at all means the same.
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
