import ArgumentParser
import Foundation
import StrokeWire
import VideoTiming

extension Carrier: ExpressibleByArgument {}

/// Options of one clock: the cohort that it is of, and the stream.
struct ClockOptions: ParsableArguments {
    @Option(
        help:
            "Room whose clock it is: 1 to 64 characters of a-z, 0-9, _ and -. Required, except with --print or --streams.",
        transform: roomID)
    var room: RoomID?

    @Option(help: "Cohort that watches this stream. Default: main.", transform: cohortName)
    var cohort = CohortName.main

    @Option(
        help: ArgumentHelp(
            "Stream, a URL or a file that FFmpeg reads. Required, except with --streams.", valueName: "url")
    )
    var source: String?

    @Option(help: "Carrier of the media time: sei, id3, pdt or pts.")
    var carrier = Carrier.sei

    @Option(
        help: "Time by which samples are ahead of the player's place. Default: 1s for HLS, else 0s.",
        transform: duration)
    var lead: Duration?

    @Option(
        help: """
            Delay from the camera to this player's place, 600s at most, where the media time is not UTC and so does not \
            tell it. Default: not known.
            """, transform: duration)
    var age: Duration?

    @Option(
        help: "Distance from the live end of HLS. Default: HOLD-BACK of the playlist, else three target durations.",
        transform: duration)
    var holdBack: Duration?

    @Option(help: "Time to buffer before playing. Default: 200ms, for HLS 100ms, for files 0s.", transform: duration)
    var buffer: Duration?

    @Option(
        help:
            "Most that is buffered of a live stream other than HLS; beyond, the clock jumps to the live end. Default: 2s.",
        transform: duration)
    var maxBehind = Duration.seconds(2)

    @Option(help: "Longest time to read ahead, 1s or more. Default: 60s.", transform: duration)
    var readAhead = Duration.seconds(60)

    @Option(
        help:
            "Identifier of the user data with --carrier sei, 32 hexadecimal digits; repeat for more. Default: \(UserDataID.lectern) and MISB's."
    )
    var uuid: [String] = []

    @Option(help: "Member of JSON objects that holds the time, at most 64 bytes.")
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

    @Option(help: "Stream id in the samples, at most 64 bytes. Default: none.")
    var stream = ""

    @Option(help: "Libavformat's name of the format. Default: found out; hls where the path ends in .m3u8.")
    var format: String?

    @Option(
        help: ArgumentHelp(
            "Option of libavformat, such as headers or listen; may be repeated.", valueName: "name=value"))
    var inputOption: [String] = []

    @Option(help: "Longest wait for data before connecting again, 100ms or more. Default: 10s.", transform: duration)
    var timeout = Duration.seconds(10)

    @Option(
        help:
            "Time after which a live stream that its server has ended, and that does not come back, counts as ended. Default: 10s.",
        transform: duration)
    var endAfter = Duration.seconds(10)

    func validate() throws {
        for text in uuid where UserDataID(text) == nil { throw ValidationError("--uuid takes 32 hexadecimal digits") }
        guard [32, 33, nil].contains(wrapBits) else { throw ValidationError("--wrap-bits is 32 or 33") }
        guard 0...(1 << 53 - 1) ~= epoch ?? 0 else { throw ValidationError("--epoch is 0 to 2^53-1") }
        guard stream.utf8.count <= 64 else { throw ValidationError("--stream takes at most 64 bytes") }
        guard carrier != .pdt || isHLS || source == nil else {
            throw ValidationError("--carrier pdt needs a playlist of HLS")
        }
        guard inputOption.allSatisfy({ $0.contains("=") }) else {
            throw ValidationError("--input-option is name=value")
        }
        guard age ?? .zero <= .seconds(600) else { throw ValidationError("--age is at most 600s") }
        guard readAhead >= .seconds(1), timeout >= .milliseconds(100) else {
            throw ValidationError("--read-ahead is at least 1s, --timeout 100ms")
        }
    }
}

extension ClockOptions {
    /// Whether the carrier may tell UTC.
    var mayBeUTC: Bool { carrier != .pts }

    /// How late the picture is at the players that samples are ahead for.
    var ageAtPlayers: Duration? { age.map { max(.zero, $0 - .microseconds(playerSettings.lead)) } }

    /// The options of many clocks, a line each as on a command line. Words are separated by white space; one with white
    /// space in it stands in double quotes. Empty lines and those that begin with `#` are passed over.
    /// - Throws: `ValidationError` with the number of the line.
    static func lines(of text: String, needsRoom: Bool) throws -> [ClockOptions] {
        var list: [ClockOptions] = []
        // Of a file of Windows, too, where CR and LF are one character.
        let rows = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in rows.enumerated() {
            let words = line.matches(of: /"([^"]*)"|[^\s"]+/).map { String($0.1 ?? $0.0) }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            do {
                let options = try ClockOptions.parse(words)
                guard options.source != nil else { throw ValidationError("--source is needed") }
                guard options.room != nil || !needsRoom else { throw ValidationError("--room is needed") }
                list.append(options)
            } catch {
                throw ValidationError("line \(number + 1): \(ClockOptions.message(for: error))")
            }
        }
        guard (1...limit).contains(list.count) else {
            throw ValidationError("--streams is a file of 1 to \(limit) lines")
        }
        return list
    }

    private static let limit = 4096

    private var isHLS: Bool {
        if let format { return format == "hls" }
        let path = (source ?? "").prefix { $0 != "?" && $0 != "#" }.lowercased()
        return path.hasSuffix(".m3u8") || path.hasSuffix(".m3u")
    }

    var playerSettings: StreamPlayer.Settings {
        let isFile = streamSettings.isFile
        var settings = StreamPlayer.Settings()
        settings.startBuffer =
            (buffer ?? (isHLS ? .milliseconds(100) : isFile ? .zero : .milliseconds(200))).wholeMicroseconds
        settings.maxBehind = isHLS || isFile ? nil : maxBehind.wholeMicroseconds
        settings.readAhead = readAhead.wholeMicroseconds
        // Dates of a playlist and the stream's own times have no outliers of their own.
        settings.confirmations = carrier == .sei ? 3 : carrier == .id3 ? 2 : 1
        settings.lead = (lead ?? (isHLS ? .seconds(1) : .zero)).wholeMicroseconds
        settings.epoch = epoch
        settings.stream = stream
        return settings
    }

    var streamSettings: StreamSettings {
        var settings = StreamSettings(url: source ?? "", carrier: carrier, isHLS: isHLS)
        settings.format = isHLS ? nil : format
        for option in inputOption {
            let name = option.prefix { $0 != "=" }
            settings.options[String(name)] = String(option.dropFirst(name.count + 1))
        }
        settings.times.key = jsonKey
        if !uuid.isEmpty { settings.times.identifiers = Set(uuid.compactMap { UserDataID($0) }) }
        settings.frameName = id3Name
        if let holdBack { settings.start = .holdBack(holdBack.wholeMicroseconds) }
        settings.timeout = timeout
        settings.endAfter = endAfter
        settings.wrapBits = wrapBits
        return settings
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
@Sendable func duration(_ text: String) throws -> Duration {
    let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }),
        let count = Double(text.dropLast(unit.suffix.count)), 0 <= count, count * unit.seconds <= 3_600_000
    else { throw ValidationError("\(text.debugDescription) is not a duration: write 250ms, 2s, 1.5s, 3m or 1h") }
    return .seconds(count * unit.seconds)
}
