import Foundation
import StrokeWire
import TestSupport
import Testing
import VideoTiming

/// The built program between FFmpeg's encoders and FFmpeg's own reader.
@Suite struct StampTests {
    /// A picture as FFmpeg shows it.
    struct Shown: Equatable {
        let milliseconds: Double
        let stamp: String?
    }

    @Test(arguments: [
        ("h264", "libx264 -bf 0 -x264-params sliced-threads=1:threads=2"),
        ("h265", "libx265 -x265-params log-level=none:bframes=0"),
    ])
    func `FFmpeg reads one stamp a picture of a raw stream, and decodes the same pictures`(
        _ codec: String, _ encoder: String
    ) async throws {
        let format = codec == "h264" ? "h264" : "hevc"
        try await Workshop.with { workshop in
            try await workshop.run(
                """
                $ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 40 -c:v \(encoder) -g 15 \
                -f \(format) plain.\(format)
                $probe stamp --codec \(codec) --rate 25 --start 1700000000000 --form text \
                <plain.\(format) >stamped.\(format)
                """)
            let shown = try await Self.pictures(of: "stamped.\(format)", workshop)
            let expected = (0..<40).map { (number: Int) -> String? in String(1_700_000_000_000 + number * 40) }
            #expect(shown.map(\.stamp) == expected)
            try await Self.expectSamePictures("plain.\(format)", "stamped.\(format)", workshop)
        }
    }

    @Test func `a picture of FLV that is sent ahead of those shown before it has the time at which it is shown`()
        async throws
    {
        try await Workshop.with { workshop in
            try await workshop.run(
                """
                $ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -f lavfi -i sine -t 2 \
                -c:v libx264 -bf 3 -g 30 -c:a aac -f flv plain.flv
                $probe stamp --codec flv --rate 25 --clock zero --form text <plain.flv >stamped.flv
                """)
            let shown = try await Self.pictures(of: "stamped.flv", workshop)
            #expect(shown.count == 50)
            let first = try #require(shown.first).milliseconds
            for picture in shown { #expect(picture.stamp == String(Int(picture.milliseconds - first))) }
            try await Self.expectSamePictures("plain.flv", "stamped.flv", workshop)
        }
    }

    @Test func `a stream that is not what was said ends with code 1 and a sentence`() async throws {
        try await Workshop.with { workshop in
            let output = try await workshop.run("echo hello | $probe stamp --codec flv", exitCode: 1)
            #expect(output.contains("no FLV stream"))
        }
    }

    @Test(arguments: ["0.0004", "0", "1/2000", "0.002/1000000", "nan"])
    func `a rate of next to no pictures is refused`(_ rate: String) async throws {
        try await Workshop.with { workshop in
            let output = try await workshop.run("$probe stamp --rate \(rate) </dev/null", exitCode: 64)
            #expect(output.contains("--rate is a number"))
        }
    }

    @Test(arguments: [
        ("h264", "libx264 -bf 1"), ("h264", "libx264 -bf 3 -x264-params open-gop=1:keyint=10"),
        ("h265", "libx265 -x265-params log-level=none"),
    ])
    func `a raw stream with B-frames is refused with code 1, before a wrong time goes out`(
        _ codec: String, _ encoder: String
    ) async throws {
        let format = codec == "h264" ? "h264" : "hevc"
        try await Workshop.with { workshop in
            let output = try await workshop.run(
                """
                $ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -t 2 -c:v \(encoder) -f \(format) plain
                $probe stamp --codec \(codec) <plain >stamped
                """, exitCode: 1)
            #expect(output.contains("uses B-frames"))
            #expect(try workshop.read("stamped").isEmpty)
        }
    }

    @Test func `a stream whose encoder counts its pictures anew is no stream with B-frames`() async throws {
        try await Workshop.with { workshop in
            let output = try await workshop.run(
                """
                $ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -t 2 -c:v libx264 -bf 0 -g 10 -f h264 plain
                head -c 9000 plain >part; cat part part plain | $probe stamp >stamped
                """)
            #expect(output.contains("pictures stamped: "))
        }
    }

    @Test func `pictures of a live stream are stamped with UTC as they come`() async throws {
        try await Workshop.with { workshop in
            let before = Date.now.timeIntervalSince1970 * 1000
            try await workshop.run(
                """
                $ffmpeg -v error -re -f lavfi -i testsrc2=size=128x96:rate=25 -t 1 -c:v libx264 -tune zerolatency \
                -f h264 - | $probe stamp --form text >stamped.h264
                """)
            let after = Date.now.timeIntervalSince1970 * 1000
            let pictures = try await Self.pictures(of: "stamped.h264", workshop)
            let stamps = pictures.compactMap { $0.stamp.flatMap { Double($0) } }
            #expect(stamps.count == 25)
            #expect(stamps == stamps.sorted())
            #expect(stamps.allSatisfy { $0 >= before - 1 && $0 <= after })
        }
    }

    /// The pictures in the order in which they are shown.
    private static func pictures(of file: String, _ workshop: Workshop) async throws -> [Shown] {
        let output = try await workshop.run(
            "$ffmpeg -i \(file) -map 0:v -vsync passthrough -vf showinfo -f null - 2>&1")
        var shown: [Shown] = []
        var isOurs = false
        for line in output.split(whereSeparator: \.isNewline) {
            if let match = line.firstMatch(of: /n: *[0-9]+ .* pts_time:([0-9.]+)/), let time = Double(match.1) {
                shown.append(Shown(milliseconds: (time * 1000).rounded(), stamp: nil))
            } else if let match = line.firstMatch(of: /UUID=([0-9a-f-]+)/) {
                isOurs = match.1 == UserDataID.lectern.description
            } else if isOurs, let match = line.firstMatch(of: /User Data=([0-9a-f]*)/), let last = shown.popLast() {
                #expect(last.stamp == nil)
                shown.append(Shown(milliseconds: last.milliseconds, stamp: text(hexadecimal: match.1)))
            }
        }
        return shown
    }

    private static func text(hexadecimal: Substring) -> String {
        let digits = Array(hexadecimal)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(digits[index...index + 1]), radix: 16)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func expectSamePictures(_ plain: String, _ stamped: String, _ workshop: Workshop) async throws {
        func command(_ file: String) -> String {
            "$ffmpeg -v error -i \(file) -map 0:v -vsync passthrough -f framemd5 - | grep -v '^#'"
        }
        let before = try await workshop.run(command(plain))
        #expect(!before.isEmpty)
        #expect(try await workshop.run(command(stamped)) == before)
    }
}
