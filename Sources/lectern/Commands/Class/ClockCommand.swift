import ArgumentParser
import ConnectionOptions
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// `lectern clock`: publishes a video clock.
struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Publish a cohort's video clock, as the video side does.",
        discussion: """
            The command publishes the media time that the cohort sees: `elapsed x speed - latency`, from the start of the command. \
            Start it together with `lectern publish`, whose messages count from the same moment: then each stroke \
            comes to the students as late as their video. The samples contain the students' delay (`a`), so that teachers' \
            pages and commands stamp with the time at the teacher; --no-age omits it, as a source does that does not know \
            it.

            Samples go out every --interval, and at once after a change. Times of changes are elapsed times; each \
            option may be given several times, in pairs. After --end-at the command goes on for 3 s, in which the \
            service releases what is left, and ends. SIGINT (Ctrl-C) or SIGTERM ends it cleanly, a second one at once.

            Exit codes: 0, also after a signal; 1 when this NATS user may not publish the samples; 2 when NATS cannot \
            be reached.

            EXAMPLES
              lectern clock --room lesson-7 --latency 2s
              lectern clock --room lesson-7 --cohort hls --latency 12s --end-at 90s
              lectern clock --room lesson-7 --latency 500ms --pause-at 10s --pause-for 3s
              lectern clock --room lesson-7 --seek-at 20s --seek-to 5s
            """)

    @OptionGroup var room: RoomOptions
    @OptionGroup var connection: ConnectionOptions

    @Option(help: "The cohort whose clock it is. Default: main.", transform: cohortName)
    var cohort = CohortName.main

    @Option(help: "Time by which the students are behind the teacher: 300ms, 2s. Default: 2s.", transform: duration)
    var latency = Duration.seconds(2)

    @Flag(inversion: .prefixedNo, help: "State in the samples how far the students are behind (`a`).")
    var age = true

    @Option(help: "Seconds of media time per second, 0 to 1000. Default: from --rate, else 1.")
    var speed: Double?

    @Option(
        help: ArgumentHelp(
            "Rate in the samples, 0 to 2000 thousandths of real time. Default: from --speed.", valueName: "thousandths")
    )
    var rate: Int?

    @Option(
        help: "Time between two samples, 1ms or more. Default: 250ms, and less at a speed above 4.", transform: duration
    )
    var interval: Duration?

    @Option(help: "Number of the encoder session (`ep`), 0 to 2^53-1. Default: none.")
    var epoch: Int64?

    @Option(help: "Stream id, at most 64 bytes. Default: none.")
    var stream = ""

    @Option(help: "Elapsed time at which the video is paused. Default: never.", transform: duration)
    var pauseAt: [Duration] = []

    @Option(help: "Length of that pause.", transform: duration)
    var pauseFor: [Duration] = []

    @Option(help: "Elapsed time at which the video runs out of data. Default: never.", transform: duration)
    var stallAt: [Duration] = []

    @Option(help: "Length of that stall.", transform: duration)
    var stallFor: [Duration] = []

    @Option(help: "Elapsed time at which the time line jumps. Default: never.", transform: duration)
    var seekAt: [Duration] = []

    @Option(help: "Media time that it jumps to.", transform: duration)
    var seekTo: [Duration] = []

    @Option(help: "Elapsed time at which the video is over. Default: never.", transform: duration)
    var endAt: Duration?

    @Option(
        name: .customLong("for"), help: "Stop after this time: 90s, 2m. Default: 3s after --end-at, else never.",
        transform: duration)
    var limit: Duration?

    @Flag(help: "Print no summary.")
    var quiet = false

    func validate() throws {
        guard pauseAt.count == pauseFor.count else { throw ValidationError("--pause-at and --pause-for go together") }
        guard stallAt.count == stallFor.count else { throw ValidationError("--stall-at and --stall-for go together") }
        guard seekAt.count == seekTo.count else { throw ValidationError("--seek-at and --seek-to go together") }
        guard 0...1000 ~= speed ?? 1 else { throw ValidationError("--speed is 0 to 1000") }
        guard 0...2000 ~= rate ?? 1000 else { throw ValidationError("--rate is 0 to 2000") }
        guard interval ?? .seconds(1) >= .milliseconds(1) else { throw ValidationError("--interval is at least 1ms") }
        guard 0...(1 << 53 - 1) ~= epoch ?? 0 else { throw ValidationError("--epoch is 0 to 2^53-1") }
        guard stream.utf8.count <= 64 else { throw ValidationError("--stream takes at most 64 bytes") }
    }

    func run() async throws {
        let nats = try await connection.connect(as: "lectern clock")
        let clock = VideoClock(
            connection: nats, address: room.address, cohort: cohort, timeline: timeline,
            interval: interval ?? VideoClock.interval(at: mediaSpeed), logger: connection.logger)
        // Numbers grow from run to run, so that samples of a restarted clock are accepted at once.
        let firstNumber = Int64(Date.now.timeIntervalSince1970 * 1000)
        let interrupts = await InterruptHandler()
        if !quiet {
            let end = limit == nil ? ", until Ctrl-C" : ""
            let seconds = (latency / .seconds(1)).formatted()
            StandardError.write("the clock of \(room.address), cohort \(cohort), runs \(seconds) s behind\(end)")
        }
        let report = try await interrupts.run { [limit] in await clock.run(for: limit, firstNumber: firstNumber) }
        await nats.drain()
        if let violation = report.violation {
            throw ExitCode.failed("\(violation)")
        }
        if !quiet { StandardError.write("samples published: \(report.published), skipped: \(report.skipped)") }
    }

    private var mediaSpeed: Double { speed ?? rate.map { Double($0) / 1000 } ?? 1 }

    private var timeline: VideoTimeline {
        let events: [(at: Duration, event: VideoTimeline.Event)] =
            zip(pauseAt, pauseFor).map { ($0, .pause($1)) }
            + zip(stallAt, stallFor).map { ($0, .stall($1)) }
            + zip(seekAt, seekTo).map { ($0, .seek(to: $1)) }
            + (endAt.map { [($0, .end)] } ?? [])
        return VideoTimeline(
            latency: latency, tellsAge: age, speed: mediaSpeed, rate: rate, epoch: epoch,
            stream: stream, events: events)
    }
}
