import ArgumentParser
import ConnectionOptions
import Foundation
import Logging
import NATSClient
import NIOCore
import StrokeWire
import VideoTiming

/// `lectern-probe clock`: the clock of a cohort from the stream that it watches.
struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Watch a stream as a student's player would, and publish the media time that students see.",
        discussion: """
            The command reads the stream of a cohort as a player does: it keeps a player's distance to the live end, moves on at \
            the pace of real time, stalls where nothing comes and goes on where something does. Four times a second, and at \
            once after a change, it publishes the media time of the picture that is shown at this moment. Run a clock \
            for each cohort, near its students' end of the delivery.

            The media time comes from the carrier:

              sei  user data in the pictures (H.264, H.265), as `lectern-probe stamp` and cameras with MISB ST 0604 \
            write it; 8 bytes, decimal text or JSON
              id3  timed metadata in MPEG-TS, TXXX or PRIV frames
              pdt  EXT-X-PROGRAM-DATE-TIME of an HLS playlist: UTC in milliseconds
              pts  the stream's own time. For FLV and RTMP, 32 bits of milliseconds, samples say that they wrap. \
            MPEG-TS wraps each 26.5 hours in another unit: the times are continued here, and a clock that is started \
            after a wrap begins low

            If the media time is UTC, the samples contain the age of the picture (`a`), by this machine's clock; with --age \
            they contain it for other streams, too. Teachers' pages need it to stamp ink with the time at the teacher.

            Players of one and the same HLS stream are not all at the same place: they begin at a distance from an end \
            that moves by whole segments. With HLS the clock is therefore 1 s ahead of its own place (--lead), so that \
            ink is there when its picture is; pages with lectern.js hold it until their own player shows the picture.

            Connections are made again after 250 ms, then 500 ms, up to 10 s. A damaged stream is read as far as it \
            can be; times that no others agree with are ignored.

            With --streams one process has the clocks of many streams. Their samples go out together, up to 256 rooms in a \
            message on `<root>.<partition>.clocks`, which costs the service and NATS far less; the user needs the right to \
            publish there. A stream that fails is named; the others go on.

            On a terminal one line shows the time of the clock; otherwise each sample is a line of JSON.

            Exit codes: 0 when the stream has ended, 3 s later, and after SIGINT (Ctrl-C) or SIGTERM; 1 when a file \
            cannot be read, or Lectern refuses the samples; 2 when NATS cannot be reached at the start; 64 for wrong \
            arguments.

            EXAMPLES
              lectern-probe clock --room physics --cohort hls --source https://media/live/physics.m3u8
              lectern-probe clock --room physics --source rtmp://media/live/physics --carrier sei
              lectern-probe clock --room physics --cohort hls --carrier pdt --source https://media/physics.m3u8 \\
                --gateway https://ink.example.org --token-file clock.token
              lectern-probe clock --print --source lesson.ts --carrier pts
              lectern-probe clock --streams classes.txt --nats nats://nats:4222
            """)

    @OptionGroup var stream: ClockOptions

    @Option(
        help: ArgumentHelp(
            """
            Clocks of many streams in one process: a file with a line for each, which has the options above, as \
            --room physics --cohort hls --source https://media/physics.m3u8.
            """, valueName: "file"))
    var streams: String?

    @Option(help: "Time between two samples, 10ms to 10s. Default: 250ms.", transform: duration)
    var interval = Duration.milliseconds(250)

    @OptionGroup var destination: DestinationOptions

    @Option(
        help: ArgumentHelp(
            "Serve metrics for Prometheus here, as 127.0.0.1:9470 or as a port of 127.0.0.1.", valueName: "address:port"
        ))
    var metrics: String?

    @Flag(help: "Print no samples on standard output.")
    var quiet = false

    func validate() throws {
        guard interval >= .milliseconds(10), interval <= .seconds(10) else {
            throw ValidationError("--interval is 10ms to 10s")
        }
        guard (stream.source == nil) != (streams == nil) else {
            throw ValidationError("--source is needed, or --streams")
        }
        guard stream.room != nil || streams != nil || destination.print else {
            throw ValidationError("--room is needed, or --print")
        }
    }

    func run() async throws {
        var logger = Logger(label: "lectern-probe") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = destination.connection.verbose ? .debug : .warning
        let all = try listed()
        let destination = try await destination.open(for: all.count, logger: logger)
        let display: SampleDisplay? = quiet ? .none : .standard
        let clocks = all.map { options in
            StreamClock(
                options, output: destination.output(of: options.room, cohort: options.cohort), display: display,
                interval: interval, isNamed: streams != nil, logger: logger)
        }
        let endpoint = try await metrics.map { try MetricsAddress($0) }?.serve { MetricsText.of(clocks) }
        let hasFailed = await SignalHandler.run { await Self.run(clocks) }
        display?.finish()
        await destination.close()
        try? await endpoint?.close()
        if hasFailed { throw ExitCode.failed }
    }

    private func listed() throws -> [ClockOptions] {
        guard let streams else { return [stream] }
        guard let text = try? String(contentsOfFile: streams, encoding: .utf8) else {
            StandardError.write("lectern-probe: \(streams) cannot be read")
            throw ExitCode.failed
        }
        return try ClockOptions.lines(of: text, needsRoom: !destination.print)
    }

    /// Runs clocks until each has ended.
    /// - Returns: whether one has failed; each says why at once.
    private static func run(_ clocks: [StreamClock]) async -> Bool {
        await withTaskGroup { group in
            for clock in clocks {
                group.addTask {
                    guard let failure = await clock.run() else { return false }
                    StandardError.write("lectern-probe: \(clock.name.map { "\($0): " } ?? "")\(failure)")
                    return true
                }
            }
            return await group.reduce(false) { $0 || $1 }
        }
    }
}
