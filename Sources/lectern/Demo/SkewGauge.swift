import LecternClient
import StrokeWire

/// Measures, at the student's end, how far behind the video each operation arrived.
///
/// An operation may appear when the video has passed its media time, and that of all before it. What lies between that
/// moment and its arrival is the skew; a negative one would be ink from the video's future.
struct SkewGauge {
    private let timeline: VideoTimeline
    private let speed: Double
    /// Seconds, in order of arrival.
    private var skews: [Double] = []
    private var gateTime: Int64?
    /// Operations that came before the video was there.
    private(set) var early = 0

    init(timeline: VideoTimeline, speed: Double) {
        self.timeline = timeline
        self.speed = speed
    }

    /// Notes an operation that arrived `elapsed` after the start of the video.
    mutating func note(_ operation: ReleasedOperation, at elapsed: Duration) {
        guard let header = try? StrokeMessage(decoding: operation.bytes, limits: WireLimits(messageBytes: .max)),
            let time = header.time
        else { return }
        let gateTime = max(time, self.gateTime ?? time)
        self.gateTime = gateTime
        let behind = timeline.sample(at: elapsed).media.microseconds - MediaTime(milliseconds: gateTime).microseconds
        if behind < 0 { early += 1 }
        skews.append(Double(behind) / 1e6 / speed)
    }

    var count: Int { skews.count }

    /// The skew that a share of the operations stay within, in milliseconds; nil before the first.
    func quantile(_ share: Double) -> Double? {
        guard !skews.isEmpty else { return nil }
        let ordered = skews.sorted()
        return ordered[min(ordered.count - 1, Int(share * Double(ordered.count)))] * 1000
    }
}
