public import Logging
public import NATSClient
public import StrokeWire

/// The video side of a cohort: publishes samples of its clock.
public struct VideoClock: Sendable {
    /// What became of the samples.
    public struct Report: Sendable, Equatable {
        /// Samples that were published.
        public var published = 0
        /// Samples that were due while there was no connection. They are not kept: an old sample says nothing.
        public var skipped = 0
        /// What ended it before its time: the user may not publish the samples.
        public var denial: Denial?
    }

    private let connection: NATSConnection
    private let subject: String
    private let timeline: VideoTimeline
    private let interval: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - connection: may be down at times.
    ///   - interval: time between two samples; the protocol asks for 200 … 500 ms. See ``interval(at:)``.
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

    /// Publishes a sample each interval and at once on a change of state, for as long as the server permits it.
    ///
    /// - Parameters:
    ///   - limit: how long; nil: until ``closing`` after the time line's end, or until the task is cancelled.
    ///   - firstNumber: number of the first sample. Numbers must grow within an encoder session, so one who may start
    ///     again takes the time of day in milliseconds.
    public func run(for limit: Duration? = nil, firstNumber: Int64) async -> Report {
        let start = ContinuousClock.now
        let denial = Locked<Denial?>(nil)
        let observation = connection.onDenial { [needed = Denial(.publish, subject)] in
            if $0 == needed { denial.withLock { $0 = needed } }
        }
        defer { observation.cancel() }
        var report = Report()
        var previous: Duration?
        var number = firstNumber
        while !Task.isCancelled {
            report.denial = denial.withLock { $0 }
            if report.denial != nil { break }
            let elapsed = start.duration(to: .now)
            if let last = limit ?? timeline.end.map({ $0 + Self.closing }), elapsed >= last { break }
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

    /// The time between two samples that suits a speed: 250 ms, and less for a speed of more than 2.
    ///
    /// Samples cannot tell a greater rate, and the gate believes a clock that was away only when two samples agree
    /// within a second. So no two may lie further apart than half a second more than their rate explains.
    public static func interval(at speed: Double) -> Duration {
        let unexplained = max(0, speed - 2)
        return unexplained <= 2 ? .milliseconds(250) : .seconds(max(0.001, 0.5 / unexplained))
    }

    /// The gate releases what is left two seconds after the end; samples go on a little longer, in case some are lost.
    public static let closing = Duration.seconds(3)

    /// The next multiple of the interval, or the next change when that comes first.
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
