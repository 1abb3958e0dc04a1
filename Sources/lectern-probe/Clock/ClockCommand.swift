import ArgumentParser
import ConnectionOptions
import Foundation
import Logging
import NATSClient
import StrokeWire
import VideoTiming

extension Carrier: ExpressibleByArgument {}

/// `lectern-probe clock`: the clock of a cohort from the stream that it watches.
struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Watch a stream as a student's player would, and publish what the students see.",
        discussion: """
            Reads the stream of a cohort, keeps the distance to its live end that players keep, moves on at the pace of \
            real time, stalls where nothing comes and goes on where something does. Four times a second, and at once on \
            a change, it tells Lectern the media time of the picture that is shown at this moment. One of these runs \
            for each cohort, near its students' end of the delivery.

            The media time comes from the carrier:

              sei  user data in the pictures (H.264, H.265), as `lectern-probe stamp` and cameras with MISB ST 0604 \
            write it; 8 bytes, decimal text or JSON
              id3  timed metadata in MPEG-TS, TXXX or PRIV frames
              pdt  EXT-X-PROGRAM-DATE-TIME of an HLS playlist: UTC in milliseconds
              pts  the stream's own time. For FLV and RTMP, 32 bits of milliseconds, samples say that they wrap. \
            MPEG-TS wraps each 26.5 hours in another unit: the times are continued here, and a clock that is started \
            after a wrap begins low

            Where the media time is UTC the samples tell how late the picture is (`a`), by this machine's clock; with --age \
            they tell it in other streams, too. Teachers' pages need it to stamp ink with the time at the teacher.

            Players of one and the same HLS stream are not all at the same place: they begin at a distance from an end \
            that moves by whole segments. With HLS the clock is therefore 1 s ahead of its own place (--lead), so that \
            ink is there when its picture is; pages with lectern.js hold it until their own player shows the picture.

            Connections are made again after 250 ms, then 500 ms, up to 10 s. A damaged stream is read as far as it \
            can be; times that no others agree with are ignored.

            On a terminal one line shows where the clock is; otherwise each sample is a line of JSON.

            Exit codes: 0 when the stream has ended, 3 s later, and after SIGINT (Ctrl-C) or SIGTERM; 1 when a file \
            cannot be read, or Lectern refuses the samples; 2 when NATS cannot be reached at the start; 64 for wrong \
            arguments.

            EXAMPLES
              lectern-probe clock --room physics --cohort hls --source https://media/live/physics.m3u8
              lectern-probe clock --room physics --source rtmp://media/live/physics --carrier sei
              lectern-probe clock --room physics --cohort hls --carrier pdt --source https://media/physics.m3u8 \\
                --gateway https://ink.example.org --token-file clock.token
              lectern-probe clock --print --source lesson.ts --carrier pts
            """)

    @Option(help: "The room.", transform: roomID)
    var room: RoomID?

    @Option(help: "The cohort that watches this stream.", transform: cohortName)
    var cohort = CohortName.main

    @Option(help: ArgumentHelp("The stream: a URL or a file, all that FFmpeg reads.", valueName: "url"))
    var source: String

    @Option(help: "Carrier of the media time: sei, id3, pdt or pts.")
    var carrier = Carrier.sei

    @Option(
        help: "Samples are this far ahead of the player's place. Default: 1s for HLS, else 0s.", transform: duration)
    var lead: Duration?

    @Option(
        help: """
            How late the students' picture is, where the media time is not UTC and so does not tell it: from the camera to \
            this player's place. Default: not known.
            """, transform: duration)
    var age: Duration?

    @Option(
        help: "HLS: distance from the live end. Default: HOLD-BACK of the playlist, else three target durations.",
        transform: duration)
    var holdBack: Duration?

    @Option(help: "Time to buffer before playing. Default: 200ms, for HLS 100ms, for files 0s.", transform: duration)
    var buffer: Duration?

    @Option(
        help: "A live stream, but not HLS, is caught up with by a jump when more than this is buffered.",
        transform: duration)
    var maxBehind = Duration.seconds(2)

    @Option(help: "Longest time to read ahead.", transform: duration)
    var readAhead = Duration.seconds(60)

    @Option(
        help:
            "Identifier of the user data with --carrier sei; may be given several times. Default: \(UserDataID.lectern) and MISB's."
    )
    var uuid: [String] = []

    @Option(help: "The member of JSON objects that holds the time.")
    var jsonKey = "t"

    @Option(help: "Description (TXXX) or owner (PRIV) of the ID3 frames to read. Default: any but Apple's time stamps.")
    var id3Name: String?

    @Option(
        help:
            "With --carrier pts: bits of milliseconds after which the time wraps, 32 or 33. Default: 32 for FLV and RTMP."
    )
    var wrapBits: Int?

    @Option(
        help: """
            Number of the encoder session, one more whenever the time falls back. All clocks of a room need the same \
            number. Default: none, the service counts.
            """)
    var epoch: Int64?

    @Option(help: "Stream id in the samples, at most 64 bytes.")
    var stream = ""

    @Option(help: "Libavformat's name of the format. Default: found out; hls where the path ends in .m3u8.")
    var format: String?

    @Option(
        help: ArgumentHelp(
            "Option of libavformat, such as headers or listen; may be repeated.", valueName: "name=value"))
    var inputOption: [String] = []

    @Option(help: "How long to wait for data before connecting again.", transform: duration)
    var timeout = Duration.seconds(10)

    @Option(help: "A live stream that its server ends, and that is away for so long, has ended.", transform: duration)
    var endAfter = Duration.seconds(10)

    @Option(help: "Time between two samples.", transform: duration)
    var interval = Duration.milliseconds(250)

    @OptionGroup var destination: DestinationOptions

    @Option(
        help: ArgumentHelp(
            "Serve metrics for Prometheus here, as 127.0.0.1:9470 or as a port of 127.0.0.1.", valueName: "address:port"
        ))
    var metrics: String?

    @Flag(help: "Print no samples.")
    var quiet = false

    func validate() throws {
        for text in uuid where UserDataID(text) == nil { throw ValidationError("--uuid takes 32 hexadecimal digits") }
        guard [32, 33, nil].contains(wrapBits) else { throw ValidationError("--wrap-bits is 32 or 33") }
        guard 0...(1 << 53 - 1) ~= epoch ?? 0 else { throw ValidationError("--epoch is 0 to 2^53-1") }
        guard stream.utf8.count <= 64 else { throw ValidationError("--stream takes at most 64 bytes") }
        guard carrier != .pdt || isHLS else { throw ValidationError("--carrier pdt needs a playlist of HLS") }
        guard room != nil || destination.print else { throw ValidationError("--room is needed, or --print") }
        guard inputOption.allSatisfy({ $0.contains("=") }) else {
            throw ValidationError("--input-option is name=value")
        }
        guard interval >= .milliseconds(10), interval <= .seconds(10) else {
            throw ValidationError("--interval is 10ms to 10s")
        }
        guard age ?? .zero <= .seconds(600) else { throw ValidationError("--age is at most 600s") }
        guard readAhead >= .seconds(1), timeout >= .milliseconds(100) else {
            throw ValidationError("--read-ahead is at least 1s, --timeout 100ms")
        }
    }

    func run() async throws {
        var logger = Logger(label: "lectern-probe") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = destination.connection.verbose ? .debug : .warning
        let output = try await destination.open(room: room, cohort: cohort, logger: logger)
        // Numbers grow from run to run, so that samples of a restarted clock are accepted at once.
        let firstNumber = Int64(Date.now.timeIntervalSince1970 * 1000)
        let player = LivePlayer(StreamPlayer(playerSettings, firstNumber: firstNumber))
        let reader = StreamReader(streamSettings, player: player, logger: logger)
        let clock = StreamClock(
            player: player, reader: reader, output: output, display: quiet ? .none : .standard, interval: interval,
            mayBeUTC: carrier != .pts, age: age.map { max(.zero, $0 - .microseconds(playerSettings.lead)) },
            logger: logger)
        let endpoint = try await metrics.map { try MetricsAddress($0) }?.serve { clock.metrics }
        let outcome = await SignalHandler.run { await clock.run() }
        await reader.stop()
        await output.close()
        try? await endpoint?.stop()
        if let failure = outcome {
            StandardError.write("lectern-probe: \(failure)")
            throw ExitCode.failed
        }
    }

    private var isHLS: Bool {
        if let format { return format == "hls" }
        let path = source.prefix { $0 != "?" && $0 != "#" }.lowercased()
        return path.hasSuffix(".m3u8") || path.hasSuffix(".m3u")
    }

    private var playerSettings: StreamPlayer.Settings {
        let isFile = streamSettings.isFile
        var settings = StreamPlayer.Settings()
        settings.startBuffer =
            (buffer ?? (isHLS ? .milliseconds(100) : isFile ? .zero : .milliseconds(200))).microseconds
        settings.maxBehind = isHLS || isFile ? nil : maxBehind.microseconds
        settings.readAhead = readAhead.microseconds
        // Dates of a playlist and the stream's own times have no outliers of their own.
        settings.confirmations = carrier == .sei ? 3 : carrier == .id3 ? 2 : 1
        settings.lead = (lead ?? (isHLS ? .seconds(1) : .zero)).microseconds
        settings.epoch = epoch
        settings.stream = stream
        return settings
    }

    private var streamSettings: StreamSettings {
        var settings = StreamSettings(url: source, carrier: carrier, isHLS: isHLS)
        settings.format = isHLS ? nil : format
        for option in inputOption {
            let name = option.prefix { $0 != "=" }
            settings.options[String(name)] = String(option.dropFirst(name.count + 1))
        }
        settings.times.key = jsonKey
        if !uuid.isEmpty { settings.times.identifiers = Set(uuid.compactMap { UserDataID($0) }) }
        settings.frameName = id3Name
        if let holdBack { settings.start = .holdBack(holdBack.microseconds) }
        settings.timeout = timeout
        settings.endAfter = endAfter
        settings.wrapBits = wrapBits
        return settings
    }
}

extension Duration {
    /// Rounded toward zero; durations of arguments are at most 1000 hours.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}

/// Parses a room's name.
@Sendable private func roomID(_ text: String) throws -> RoomID {
    guard let room = RoomID(text) else { throw ValidationError("a room has 1 to 64 characters of a-z, 0-9, _ and -") }
    return room
}

/// Parses a cohort's name.
@Sendable private func cohortName(_ text: String) throws -> CohortName {
    guard let cohort = CohortName(text) else {
        throw ValidationError("a cohort has 1 to 64 characters of a-z, 0-9, _ and -, and is not open, default or head")
    }
    return cohort
}

/// Parses a duration: `250ms`, `2s`, `1.5s`, `3m`, `1h`; at most 1000 hours.
@Sendable private func duration(_ text: String) throws -> Duration {
    let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }),
        let count = Double(text.dropLast(unit.suffix.count)), 0 <= count, count * unit.seconds <= 3_600_000
    else { throw ValidationError("\(text.debugDescription) is not a duration: write 250ms, 2s, 1.5s, 3m or 1h") }
    return .seconds(count * unit.seconds)
}
