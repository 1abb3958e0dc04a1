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

    /// Of the room and the cohort; nil for the only clock.
    let name: String?
    fileprivate let labels: String
    private let player: LivePlayer
    private let reader: StreamReader
    private let output: any SampleOutput
    private let display: SampleDisplay?
    private let interval: Duration
    private let state: Locked<State>
    /// Whether the media time may be UTC.
    private let mayBeUTC: Bool
    /// All clocks of the process count from here, so that their samples go out together.
    private static let origin = ContinuousClock.now

    /// - Parameter isNamed: whether the clock is one of many.
    init(
        _ options: ClockOptions, output: any SampleOutput, display: SampleDisplay?, interval: Duration, isNamed: Bool,
        logger: Logger
    ) {
        // Numbers grow from run to run, so that samples of a restarted clock are accepted at once.
        let firstNumber = Int64(Date.now.timeIntervalSince1970 * 1000)
        let room = options.room?.text ?? ""
        name = isNamed ? "\(room)/\(options.cohort)" : nil
        labels = isNamed ? "room=\"\(room)\",cohort=\"\(options.cohort)\"" : ""
        player = LivePlayer(StreamPlayer(options.playerSettings, firstNumber: firstNumber))
        reader = StreamReader(options.streamSettings, player: player, logger: logger)
        state = Locked(State(age: StreamAge(given: options.ageAtPlayers?.wholeMicroseconds)))
        mayBeUTC = options.mayBeUTC
        self.output = output
        self.display = display
        self.interval = interval
    }

    /// Runs until 3 s after the end of the stream, until Lectern refuses, or until the task is cancelled.
    /// - Returns: why it failed; nil if it did not.
    func run() async -> String? {
        // Of several reasons to publish one is left: a slow connection gets fewer samples, not old ones.
        let (reasons, reason) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        player.onChange { reason.yield() }
        reader.start()
        let timer = Task { await tick { reason.yield() } }
        let failure = await publish(at: reasons)
        timer.cancel()
        await reader.stop()
        await output.close()
        if let failure { return failure }
        let (pictures, hasEnded) = player.withPlayer { player, _ in (player.statistics.pictures, player.hasEnded) }
        guard hasEnded, state.withLock({ $0.last == nil }) else { return nil }
        return "none of \(pictures) pictures had a media time; is --carrier right?"
    }

    private func publish(at reasons: AsyncStream<Void>) async -> String? {
        for await _ in reasons {
            publish()
            if let failure = output.failure ?? reader.failure { return failure }
            if let ended = state.withLock({ $0.endedAt }), ended.duration(to: .now) >= output.lingerTime { break }
        }
        return nil
    }

    /// Runs a body now, in each interval, and when the player changes by itself, until the task is cancelled.
    private func tick(_ body: () -> Void) async {
        while true {
            let now = ContinuousClock.now
            let steps = (Self.origin.duration(to: now) / interval).rounded(.down) + 1
            let tick = Self.origin + interval * steps
            let change = player.withPlayer { player, now in
                player.advance(to: now)
                return player.nextChange(after: now).map { $0 - now }
            }
            body()
            let wake = change.map { min(tick, now + .microseconds($0)) } ?? tick
            do { try await Task.sleep(until: wake, tolerance: .milliseconds(1), clock: .continuous) } catch { return }
        }
    }

    /// One call at a time, so that samples are sent in the order of their numbers. Metrics wait for the lock: nothing
    /// is sent under it.
    private func publish() {
        let (sample, buffered, hasEnded) = player.withPlayer { player, now in
            (player.sample(at: now), player.buffered, player.hasEnded)
        }
        state.withLock { state in
            if hasEnded, state.endedAt == nil { state.endedAt = .now }
            if !hasEnded { state.endedAt = nil }
        }
        guard var sample else {
            display?.showWaiting(of: name, error: reader.statistics.lastError)
            return
        }
        let utc = Date.now.timeIntervalSince1970 * 1000
        sample.wallTime = utc.rounded()
        sample.age = state.withLock { state in
            state.age.age(
                of: sample, at: Self.origin.duration(to: .now).wholeMicroseconds,
                utc: mayBeUTC ? Int64(utc * 1000) : nil)
        }
        let isSent = output.publish(sample)
        let (published, skipped) = state.withLock { state in
            if isSent { state.published += 1 } else { state.skipped += 1 }
            state.last = sample
            return (state.published, state.skipped)
        }
        display?.show(sample, of: name, buffered: buffered, published: published, skipped: skipped)
    }

    fileprivate func add(to text: inout MetricsText) {
        let (clock, read) = (state.withLock { $0 }, reader.statistics)
        let (player, buffered) = player.withPlayer { player, now in
            player.advance(to: now)
            return (player.statistics, player.buffered)
        }
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
    }
}

/// Metrics as Prometheus reads them: all values of a metric together.
struct MetricsText {
    enum Kind: String {
        case counter, gauge
    }

    private var names: [String] = []
    private var lines: [String: String] = [:]
    private var labels = ""

    static func of(_ clocks: [StreamClock]) -> String {
        var text = MetricsText()
        for clock in clocks {
            text.labels = clock.labels
            clock.add(to: &text)
        }
        return text.names.compactMap { text.lines[$0] }.joined()
    }

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some Numeric, _ label: String = "") {
        let name = "lectern_probe_" + name
        if lines[name] == nil {
            names.append(name)
            lines[name] = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        }
        let labels = [labels, label].filter { !$0.isEmpty }.joined(separator: ",")
        lines[name, default: ""] += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }
}
