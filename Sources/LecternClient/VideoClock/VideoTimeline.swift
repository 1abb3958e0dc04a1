public import StrokeWire

/// What the students of a cohort see when: the time line of a video, made up beforehand.
///
/// The teacher's media time and this time line start at the same moment. Students see media time
/// `elapsed × speed − latency`, moved by the pauses, stalls and seeks that are planned.
public struct VideoTimeline: Sendable {
    /// Something that happens to the video, at a time since its start.
    public enum Event: Sendable, Equatable {
        /// Somebody stops the video for so long.
        case pause(Duration)
        /// Data is missing for so long.
        case stall(Duration)
        /// The time line jumps to this media time, and says so.
        case seek(to: Duration)
        /// The video is over.
        case end
    }

    fileprivate struct Segment {
        var start: Duration
        var media: MediaTime
        var state: ClockSample.State
        var isSeek: Bool
    }

    private let speed: Double
    private let rate: Int
    private let epoch: Int64?
    private let stream: String
    private let segments: [Segment]

    /// Plans a time line.
    ///
    /// - Parameters:
    ///   - latency: how far students are behind the teacher at first.
    ///   - speed: seconds of media time a second; a lesson published at a speed needs a clock of the same speed.
    ///   - rate: what samples give as their rate, in thousandths; nil: `speed`, as far as the protocol can say it
    ///     (0 … 2000).
    ///   - epoch: encoder session of all samples, nil to give none.
    ///   - stream: stream id of all samples, at most 64 bytes.
    ///   - events: what happens, in any order; where a pause and a stall overlap, it is a pause.
    public init(
        latency: Duration = .zero, speed: Double = 1, rate: Int? = nil, epoch: Int64? = nil, stream: String = "",
        events: [(at: Duration, event: Event)] = []
    ) {
        self.speed = speed
        self.rate = min(max(rate ?? Int(min(max(speed, 0), 2) * 1000), 0), 2000)
        self.epoch = epoch
        self.stream = stream
        segments = Self.segments(from: MediaTime(microseconds: 0) - latency.wholeMicroseconds, speed, events)
    }

    /// The sample to publish.
    ///
    /// - Parameters:
    ///   - elapsed: time since the start.
    ///   - previous: when the sample before this one was taken; a seek between the two is declared.
    ///   - number: sample number `q`.
    public func sample(at elapsed: Duration, after previous: Duration? = nil, number: Int64? = nil) -> ClockSample {
        let segment = segments.last { $0.start <= elapsed } ?? segments[0]
        let hasJumped = segments.contains { $0.isSeek && $0.start <= elapsed && $0.start > (previous ?? elapsed) }
        return ClockSample(
            media: segment.media(at: elapsed, speed), number: number, epoch: epoch, rate: rate, state: segment.state,
            stream: stream, isDiscontinuity: hasJumped)
    }

    /// The next time at which the state changes or the time line jumps; nil when it goes on as it is for ever.
    public func nextChange(after elapsed: Duration) -> Duration? {
        segments.first { $0.start > elapsed }?.start
    }

    /// When the video is over, if it ever is.
    public var end: Duration? { segments.last.flatMap { $0.state == .end ? $0.start : nil } }
}

extension VideoTimeline {
    private static func segments(
        from media: MediaTime, _ speed: Double, _ events: [(at: Duration, event: Event)]
    ) -> [Segment] {
        let end = events.filter { $0.event == .end }.map(\.at).min()
        var current = Segment(start: .zero, media: media, state: state(at: .zero, events), isSeek: false)
        var segments = [current]
        for time in changes(of: events) where time > .zero && time <= end ?? time {
            current.media = current.media(at: time, speed)
            current.start = time
            current.state = state(at: time, events)
            current.isSeek = false
            for case (time, .seek(let target)) in events {
                current.media = MediaTime(microseconds: target.wholeMicroseconds)
                current.isSeek = true
            }
            segments.append(current)
        }
        return segments
    }

    private static func changes(of events: [(at: Duration, event: Event)]) -> [Duration] {
        var times: Set<Duration> = []
        for (start, event) in events {
            times.insert(start)
            switch event {
            case .pause(let length), .stall(let length): times.insert(start + length)
            case .seek, .end: break
            }
        }
        return times.sorted()
    }

    private static func state(at time: Duration, _ events: [(at: Duration, event: Event)]) -> ClockSample.State {
        var state = ClockSample.State.play
        for (start, event) in events where start <= time {
            switch event {
            case .end: return .end
            case .pause(let length) where time < start + length: state = .pause
            case .stall(let length) where time < start + length && state == .play: state = .stall
            case .pause, .stall, .seek: break
            }
        }
        return state
    }
}

extension VideoTimeline.Segment {
    fileprivate func media(at time: Duration, _ speed: Double) -> MediaTime {
        guard state == .play else { return media }
        return media + ((time - start) * speed).wholeMicroseconds
    }
}
