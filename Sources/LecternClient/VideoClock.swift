import Locking
public import Logging
public import NATSClient
public import StrokeWire

/// Publishes samples of a cohort's video clock.
public struct VideoClock: Sendable {
    /// Statistics of a run.
    public struct Report: Sendable, Equatable {
        /// Number of samples published.
        public var published = 0
        /// Number of samples dropped without a connection: a late sample is worthless.
        public var skipped = 0
        /// The missing permission that ended the run early.
        public var violation: PermissionViolation?
    }

    private let connection: NATSConnection
    private let subject: String
    private let timeline: VideoTimeline
    private let interval: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - connection: may be down at times.
    ///   - interval: time between two samples; the protocol requires 200 … 500 ms. See ``interval(at:)``.
    public init(
        connection: NATSConnection, address: RoomAddress, cohort: CohortName, timeline: VideoTimeline,
        interval: Duration = .milliseconds(250), logger: Logger
    ) {
        self.connection = connection
        subject = address.subject(.clock(cohort))
        self.timeline = timeline
        self.interval = max(interval, .milliseconds(1))
        self.logger = logger
    }

    /// Publishes a sample in each interval and on each change of state, until the server denies it.
    ///
    /// - Parameters:
    ///   - limit: how long; nil means until ``lingerTime`` after the end of the timeline, or until the task is cancelled.
    ///   - firstNumber: number of the first sample. Numbers must grow within an encoder session, also over restarts of
    ///     this process: Unix time in milliseconds is a good start.
    public func run(for limit: Duration? = nil, firstNumber: Int64) async -> Report {
        let start = ContinuousClock.now
        let violation = Locked<PermissionViolation?>(nil)
        let observation = connection.onPermissionViolation { [needed = PermissionViolation(.publish, subject)] in
            if $0 == needed { violation.withLock { $0 = needed } }
        }
        defer { observation.cancel() }
        var report = Report()
        var previous: Duration?
        var number = firstNumber
        while !Task.isCancelled {
            report.violation = violation.withLock { $0 }
            if report.violation != nil { break }
            let elapsed = start.duration(to: .now)
            if let last = limit ?? timeline.end.map({ $0 + Self.lingerTime }), elapsed >= last { break }
            publish(timeline.sample(at: elapsed, after: previous, number: number), &report)
            previous = elapsed
            number += 1
            let wake = Self.wake(after: elapsed, interval, timeline)
            do {
                try await Task.sleep(until: start + min(wake, limit ?? wake), clock: .continuous)
            } catch {
                break
            }
        }
        return report
    }

    /// The sampling interval for a playback speed: 250 ms, less above a speed of 4.
    ///
    /// The protocol's rate ends at 2, and after an outage the gate trusts a clock only when two samples agree within a
    /// second. So media time may advance at most half a second more between two samples than their rate predicts.
    public static func interval(at speed: Double) -> Duration {
        let unexplained = max(0, speed - 2)
        return unexplained <= 2 ? .milliseconds(250) : .seconds(max(0.001, 0.5 / unexplained))
    }

    /// How long samples go on after the end, in case some are lost. The gate releases everything 2 s after the end.
    public static let lingerTime = Duration.seconds(3)

    /// The time of the next sample: the next multiple of the interval, or an earlier change of state.
    static func wake(after elapsed: Duration, _ interval: Duration, _ timeline: VideoTimeline) -> Duration {
        let tick = interval * Int(elapsed / interval) + interval
        return min(tick, timeline.nextChange(after: elapsed) ?? tick)
    }

    private func publish(_ sample: ClockSample, _ report: inout Report) {
        do throws(NATSError) {
            try connection.publish(sample.encoded(), to: subject)
            report.published += 1
        } catch {
            report.skipped += 1
            logger.debug("clock sample not published", metadata: ["error": "\(error)"])
        }
    }
}
