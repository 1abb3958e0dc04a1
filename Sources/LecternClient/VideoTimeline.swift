public import StrokeWire

/// A planned video: the media time that a cohort sees at each moment.
///
/// The teacher's media time and the timeline start together. Students see media time `elapsed × speed − latency`, moved
/// by planned pauses, stalls and seeks.
public struct VideoTimeline: Sendable {
    /// A planned event, at a time since the start.
    public enum Event: Sendable, Equatable {
        /// The video is paused for this long.
        case pause(Duration)
        /// The video buffers for this long.
        case stall(Duration)
        /// The media time jumps here, and the next sample declares a discontinuity.
        case seek(to: Duration)
        case end
    }

    fileprivate struct Segment {
        var start: Duration
        var media: MediaTime
        var state: ClockSample.State
        var isSeek: Bool
        /// How long the video has stood still before.
        var standing = Duration.zero
    }

    private let speed: Double
    private let rate: Int
    private let epoch: Int64?
    private let stream: String
    /// How far students are behind at the start; nil where samples do not tell it.
    private let latency: Duration?
    private let segments: [Segment]

    /// Plans a timeline.
    ///
    /// - Parameters:
    ///   - latency: how far students are behind the teacher at the start.
    ///   - tellsAge: whether the samples tell how far students are behind: `latency`, and for how long the video has stood
    ///     still since.
    ///   - speed: seconds of media time per second; use the same speed for the lesson's `PublishPlan`.
    ///   - rate: rate in the samples, in thousandths; nil means `speed`, clamped to the protocol's 0 … 2000.
    ///   - epoch: encoder session in the samples; nil leaves it out.
    ///   - stream: stream id in the samples, at most 64 bytes.
    ///   - events: in any order; a pause wins over a stall at the same time.
    public init(
        latency: Duration = .zero, tellsAge: Bool = true, speed: Double = 1, rate: Int? = nil, epoch: Int64? = nil,
        stream: String = "",
        events: [(at: Duration, event: Event)] = []
    ) {
        self.speed = speed
        self.rate = min(max(rate ?? Int(min(max(speed, 0), 2) * 1000), 0), 2000)
        (self.epoch, self.stream) = (epoch, stream)
        self.latency = tellsAge ? latency : nil
        segments = Self.segments(from: MediaTime(microseconds: 0) - latency.wholeMicroseconds, speed, events)
    }

    /// The clock sample at a moment.
    ///
    /// - Parameters:
    ///   - elapsed: time since the start.
    ///   - previous: time of the sample before; a seek between the two is declared as a discontinuity.
    ///   - number: sample number `q`.
    public func sample(at elapsed: Duration, after previous: Duration? = nil, number: Int64? = nil) -> ClockSample {
        let segment = segments.last { $0.start <= elapsed } ?? segments[0]
        let hasJumped = segments.contains { $0.isSeek && $0.start <= elapsed && $0.start > (previous ?? elapsed) }
        return ClockSample(
            media: segment.media(at: elapsed, speed), number: number, epoch: epoch, rate: rate, state: segment.state,
            stream: stream, isDiscontinuity: hasJumped, age: age(in: segment, at: elapsed))
    }

    /// Microseconds of media time by which students are behind; nil where samples do not tell it.
    private func age(in segment: Segment, at elapsed: Duration) -> Int64? {
        guard let latency, segment.state != .end else { return nil }
        let standing = segment.standing + (segment.state == .play ? .zero : elapsed - segment.start)
        let age = latency.wholeMicroseconds + (standing * speed).wholeMicroseconds
        return 0...ClockSample.greatestAge ~= age ? age : nil
    }

    /// Time of the next change of state or seek; nil after the last.
    public func nextChange(after elapsed: Duration) -> Duration? {
        segments.first { $0.start > elapsed }?.start
    }

    /// Time of the end, if one is planned.
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
            if current.state != .play { current.standing += time - current.start }
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
