import StrokeWire

/// Which marks go to readers. An event stream loses nothing, so that a mark tells them only where the video is: one in 5 s does
/// while the video goes on as it did. On NATS marks come each second, for those who may lose an operation.
struct MarkThrottle {
    private static let interval = Duration.seconds(5)
    /// A video that is further off from where it would be has stopped, or jumped.
    private static let tolerance = 500_000.0

    private var last: (mark: Mark, sentAt: Duration)?

    /// - Returns: whether the mark is to be sent.
    mutating func passes(_ mark: Mark, at now: Duration) -> Bool {
        if let last, mark.covered == nil, mark.room == last.mark.room, mark.gate == last.mark.gate,
            mark.page == last.mark.page, now - last.sentAt < Self.interval
        {
            let elapsed = (now - last.sentAt) / .microseconds(1)
            let times = [(last.mark.video, mark.video), (last.mark.live, mark.live)]
            if times.allSatisfy({ Self.goesOn(from: $0, to: $1, after: elapsed) }) { return false }
        }
        last = (mark, now)
        return true
    }

    private static func goesOn(from past: MediaTime?, to time: MediaTime?, after elapsed: Double) -> Bool {
        guard let past, let time else { return past == nil && time == nil }
        let passed = Double(time.microseconds) - Double(past.microseconds)
        return (passed - elapsed).magnitude <= tolerance
    }
}
