import ArgumentParser
import Foundation
import StrokeWire
import VideoTiming

/// `lectern-probe stamp`: puts a time into each picture of a stream.
struct StampCommand: AsyncParsableCommand {
    /// The kind of stream.
    enum Container: String, CaseIterable, ExpressibleByArgument {
        case h264, h265, flv
    }

    /// How the time is written.
    enum Form: String, CaseIterable, ExpressibleByArgument {
        case binary, text, json, misb
    }

    enum Zero: String, CaseIterable, ExpressibleByArgument {
        case utc, zero
    }

    static let configuration = CommandConfiguration(
        commandName: "stamp",
        abstract: "Put the time into each picture of a stream, from standard input to standard output.",
        discussion: """
            The command reads raw H.264 or H.265 (Annex B) or FLV and writes the same stream with one SEI message a picture, \
            `user_data_unregistered`, that holds the media time in milliseconds: UTC unless --clock or --start says \
            another. The pictures themselves do not change, nothing is decoded, and nothing is delayed. Every player \
            ignores the message; `lectern-probe clock --carrier sei` reads it.

            The times of the teacher's strokes have to be on the same time line: with --clock utc, UTC in milliseconds.

            FLV has presentation times, so that pictures keep the distances that they had in the encoder and those that \
            are sent out of order (B-frames) get the times at which they are shown. A raw stream has none: a picture \
            gets the time at which it comes, and a stream with B-frames is refused (x264: `-bf 0` or `-tune \
            zerolatency`). With --rate, for files, picture n gets the time n/rate instead.

            The time in the picture is that at which it comes out of the encoder. Where that takes long, subtract it: \
            --offset -200.

            Exit codes: 0 at the end of the input; 1 when the input is not what --codec says or has B-frames that it may \
            not have, or when the output ends; 64 for wrong arguments.

            EXAMPLES
              ffmpeg -i rtmp://camera/live -c copy -f flv - | lectern-probe stamp --codec flv \\
                | ffmpeg -i - -c copy -f flv rtmp://media/live/physics
              ffmpeg -f v4l2 -i /dev/video0 -c:v libx264 -tune zerolatency -f h264 - | lectern-probe stamp \\
                | ffmpeg -use_wallclock_as_timestamps 1 -f h264 -i - -c copy -f hls physics.m3u8
              lectern-probe stamp --rate 25 --clock zero < lesson.h264 > stamped.h264
            """)

    @Option(help: "Form of the input: h264 or h265 for a raw stream, or flv.")
    var codec = Container.h264

    @Option(help: "Begin of the time line: utc, or zero at the first picture.")
    var clock = Zero.utc

    @Option(help: ArgumentHelp("Time of the first picture, at most 2^52 ms, instead of --clock.", valueName: "ms"))
    var start: Int64?

    @Option(help: ArgumentHelp("Milliseconds added to each time; may be negative.", valueName: "ms"))
    var offset: Int64 = 0

    @Option(
        help: ArgumentHelp(
            "Pictures a second, 0.001 or more, as 25 or 30000/1001: times by number, not by arrival; FLV keeps its own.",
            valueName: "rate"))
    var rate: String?

    @Option(help: "Form of the time: binary (8 bytes, big-endian), text, json or misb (MISB ST 0604).")
    var form = Form.binary

    @Option(help: ArgumentHelp("Member of the JSON object with --form json, at most 64 bytes.", valueName: "name"))
    var jsonKey = "t"

    @Option(
        help: ArgumentHelp(
            "Identifier of the user data, 32 hexadecimal digits. Default: \(UserDataID.lectern); with --form misb that of the standard.",
            valueName: "uuid"))
    var uuid: String?

    @Flag(help: "Print no summary.")
    var quiet = false

    func validate() throws {
        if let uuid, UserDataID(uuid) == nil { throw ValidationError("--uuid takes 32 hexadecimal digits") }
        if rate != nil, source == nil { throw ValidationError("--rate is a number such as 25 or 30000/1001") }
        guard jsonKey.utf8.count <= 64 else { throw ValidationError("--json-key takes at most 64 bytes") }
        guard start?.magnitude ?? 0 <= 1 << 52, offset.magnitude <= 1 << 52 else {
            throw ValidationError("times are at most 2^52 ms")
        }
    }

    func run() async throws {
        var output = StampOutput()
        do {
            try stampAll(&output)
        } catch {
            StandardError.write("lectern-probe: \(error)")
            throw ExitCode.failed
        }
    }

    private func stampAll(_ output: inout StampOutput) throws {
        let origin = ContinuousClock.now
        var clock = StampClock(source ?? .arrival, start: begin)
        let elapsed = { origin.duration(to: .now).wholeMicroseconds }
        let pictures: Int
        switch codec {
        case .flv:
            var stamper = FLVStamper(stamp)
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while let count = try StandardInput.read(into: &buffer) {
                try stamper.write(buffer.span.extracting(0..<count), into: &output.bytes) {
                    clock.time(number: $0.number, presentation: $0.presentation, elapsed: elapsed())
                }
                try output.flush()
            }
            stamper.finish(into: &output.bytes)
            pictures = stamper.pictures
        case .h264, .h265:
            let order = PictureOrder(codec == .h264 ? .h264 : .h265)
            var stamper = AnnexBStamper(codec == .h264 ? .h264 : .h265, stamp)
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while let count = try StandardInput.read(into: &buffer) {
                try order.read(buffer[..<count])
                stamper.write(buffer.span.extracting(0..<count), into: &output.bytes) {
                    clock.time(number: $0, presentation: nil, elapsed: elapsed())
                }
                try output.flush()
            }
            stamper.finish(into: &output.bytes)
            pictures = stamper.pictures
        }
        try output.flush()
        if !quiet { StandardError.write("pictures stamped: \(pictures)") }
    }

    /// The time of the first picture.
    private var begin: MediaTime {
        let zero = clock == .utc ? Int64(Date.now.timeIntervalSince1970 * 1000) : 0
        return MediaTime(milliseconds: (start ?? zero) + offset)
    }

    private var stamp: PictureStamp {
        let form: TimeForm =
            switch form {
            case .binary: .binary
            case .text: .text
            case .json: .json(key: jsonKey)
            case .misb: .misb
            }
        let standard = form == .misb && codec == .h265 ? UserDataID.misbMicrosecondsH265 : nil
        return PictureStamp(identifier: uuid.flatMap { UserDataID($0) } ?? standard, form: form)
    }

    private var source: StampClock.Source? {
        guard let parts = rate?.split(separator: "/", omittingEmptySubsequences: false), (1...2).contains(parts.count),
            let pictures = Double(parts[0]), let seconds = parts.count == 2 ? Int(parts[1]) : 1,
            (1...1_000_000).contains(seconds), pictures * 1000 >= Double(seconds), pictures <= 1_000_000
        else { return nil }
        // 29.97 is exact in thousandths.
        return .rate(pictures: Int((pictures * 1000).rounded()), seconds: seconds * 1000)
    }
}
