import Foundation
import Locking
import Logging
import StrokeWire
import VideoTiming

/// Takes samples of a player and publishes them, in each interval and at once on a change.
final class StreamClock: Sendable {
    private struct State {
        var published = 0
        var skipped = 0
        var last: ClockSample?
        var age: StreamAge
        /// When the player ended.
        var endedAt: ContinuousClock.Instant?
    }

    private let player: LivePlayer
    private let reader: StreamReader
    private let output: any SampleOutput
    private let display: SampleDisplay?
    private let interval: Duration
    private let logger: Logger
    private let state: Locked<State>
    private let origin = ContinuousClock.now

    /// Whether the media time may be UTC.
    private let mayBeUTC: Bool

    /// - Parameters:
    ///   - mayBeUTC: whether the carrier may tell UTC.
    ///   - age: of pictures whose time is not UTC; nil where it is not known.
    init(
        player: LivePlayer, reader: StreamReader, output: any SampleOutput, display: SampleDisplay?, interval: Duration,
        mayBeUTC: Bool, age: Duration?, logger: Logger
    ) {
        state = Locked(State(age: StreamAge(given: age?.microseconds)))
        self.mayBeUTC = mayBeUTC
        self.player = player
        self.reader = reader
        self.output = output
        self.display = display
        self.interval = interval
        self.logger = logger
    }

    /// Runs until 3 s after the end of the stream, until Lectern refuses, or until the task is cancelled.
    /// - Returns: why it failed; nil if it did not.
    func run() async -> String? {
        player.onChange { [weak self] in self?.publish() }
        reader.start()
        var next = ContinuousClock.now
        while !Task.isCancelled {
            publish()
            if let failure = output.failure ?? reader.failure { return failure }
            if let ended = state.withLock({ $0.endedAt }), ended.duration(to: .now) >= output.lingerTime { break }
            next += interval
            if next < .now { next = .now + interval }
            let change = player.withPlayer { player, now in player.nextChange(after: now).map { $0 - now } }
            let wake = change.map { min(next, .now + .microseconds($0)) } ?? next
            if wake < next { next -= interval }
            do { try await Task.sleep(until: wake, tolerance: .milliseconds(1), clock: .continuous) } catch { break }
        }
        display?.finish()
        let (pictures, hasEnded) = player.withPlayer { player, _ in (player.statistics.pictures, player.hasEnded) }
        guard hasEnded, state.withLock({ $0.last == nil }) else { return nil }
        return "none of \(pictures) pictures had a media time; is --carrier right?"
    }

    /// Any thread: the one that reads calls it on a change.
    private func publish() {
        state.withLock { state in
            let (sample, buffered, hasEnded) = player.withPlayer { player, now in
                (player.sample(at: now), player.buffered, player.hasEnded)
            }
            if hasEnded, state.endedAt == nil { state.endedAt = .now }
            if !hasEnded { state.endedAt = nil }
            guard var sample else {
                display?.showWaiting(error: reader.statistics.lastError)
                return
            }
            let utc = Date.now.timeIntervalSince1970 * 1000
            sample.wallTime = utc.rounded()
            sample.age = state.age.age(
                of: sample, at: origin.duration(to: .now).microseconds, utc: mayBeUTC ? Int64(utc * 1000) : nil)
            if output.publish(sample) { state.published += 1 } else { state.skipped += 1 }
            state.last = sample
            display?.show(sample, buffered: buffered, published: state.published, skipped: state.skipped)
        }
    }

    /// In the text format of Prometheus.
    var metrics: String {
        let (clock, read) = (state.withLock { $0 }, reader.statistics)
        let (player, buffered) = player.withPlayer { player, now in
            player.advance(to: now)
            return (player.statistics, player.buffered)
        }
        var text = MetricsText()
        text.add("samples_total", .counter, "Clock samples published.", clock.published)
        text.add("samples_skipped_total", .counter, "Clock samples that could not be sent.", clock.skipped)
        if let last = clock.last {
            text.add("media_seconds", .gauge, "Media time of the last sample.", Double(last.media.microseconds) / 1e6)
            for each in ClockSample.State.allCases {
                text.add(
                    "state", .gauge, "1 for the state of the clock.", each == last.state ? 1 : 0, "state=\"\(each)\"")
            }
        }
        text.add("lines_dropped_total", .counter, "Lines of standard output that nobody read.", display?.dropped ?? 0)
        text.add("buffered_seconds", .gauge, "What has been read ahead.", Double(buffered) / 1e6)
        text.add("pictures_total", .counter, "Pictures read.", player.pictures)
        text.add("times_total", .counter, "Media times found in the stream.", player.times)
        text.add("stalls_total", .counter, "Times at which nothing was left to play.", player.stalls)
        text.add("jumps_total", .counter, "Declared jumps of the media time.", player.jumps)
        text.add("catch_ups_total", .counter, "Jumps to the live end.", player.catchUps)
        text.add("read_bytes_total", .counter, "Bytes of packets read.", read.bytes)
        text.add("connections_total", .counter, "Connections and playlists opened.", read.connections)
        text.add("read_failures_total", .counter, "Errors of connections and streams.", read.failures)
        text.add("segments_total", .counter, "HLS segments read.", read.segments)
        text.add("segments_lost_total", .counter, "HLS segments that could not be read.", read.lostSegments)
        return text.text
    }
}

/// Metrics as Prometheus reads them.
struct MetricsText {
    enum Kind: String {
        case counter, gauge
    }

    private(set) var text = ""
    private var previous = ""

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some Numeric, _ labels: String = "") {
        let name = "lectern_probe_" + name
        if name != previous { text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n" }
        previous = name
        text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }
}
