import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// The built program beside streams of FFmpeg whose pictures say their own times.
@Suite struct ClockTests {
    /// Milliseconds by which a sample may differ from what the stamps say: a picture, and the wall clock's rounding.
    private static let tolerance = 45.0

    private static let encoder = "-c:v libx264 -preset ultrafast -bf 2 -g 25"

    /// Two seconds of pictures whose stamps count from 50,000.
    private static func makeStamped(_ workshop: Workshop) async throws {
        try await workshop.run(
            """
            $ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -t 2 \(encoder) -f flv - \
            | $probe stamp --codec flv --rate 25 --start 50000 >s.flv
            """)
    }

    @Test(arguments: [
        ("s.flv", ":"), ("s.ts", "$ffmpeg -v error -i s.flv -c copy s.ts"),
        ("s.mp4", "$ffmpeg -v error -i s.flv -c copy -movflags frag_keyframe+empty_moov s.mp4"),
        ("ts.m3u8", "$ffmpeg -v error -i s.flv -c copy -f hls -hls_time 1 -hls_list_size 0 ts.m3u8"),
        (
            "mp4.m3u8",
            "$ffmpeg -v error -i s.flv -c copy -f hls -hls_time 1 -hls_list_size 0 -hls_segment_type fmp4 mp4.m3u8"
        ),
        (
            "locked.m3u8",
            """
            $ffmpeg -v error -i s.flv -c copy -f hls -hls_time 1 -hls_list_size 0 -hls_segment_type fmp4 plain.m3u8
            printf 0123456789abcdef >key
            for file in init.mp4 plain*.m4s; do openssl enc -aes-128-cbc -K 30313233343536373839616263646566 \
            -iv 00000000000000000000000000000007 -in $file -out locked && mv locked $file; done
            awk '/EXT-X-MAP/ { print "#EXT-X-KEY:METHOD=AES-128,URI=\\"key\\",IV=0x7" } { print }' plain.m3u8 >locked.m3u8
            """
        ),
        (
            // Segments of one file: each is encrypted on its own, with its media sequence number.
            "parts.m3u8",
            """
            $ffmpeg -v error -i s.flv -c copy -f hls -hls_time 1 -hls_list_size 0 -hls_segment_type fmp4 plain.m3u8
            printf 0123456789abcdef >key
            { printf '#EXTM3U\\n#EXT-X-TARGETDURATION:1\\n#EXT-X-MAP:URI="init.mp4"\\n#EXT-X-KEY:METHOD=AES-128,URI="key"\\n'
            for number in 0 1; do openssl enc -aes-128-cbc -K 30313233343536373839616263646566 \
            -iv 0000000000000000000000000000000$number -in plain$number.m4s >part; cat part >>all.m4s
            printf "#EXTINF:1,\\n#EXT-X-BYTERANGE:$(stat -c %s part)\\nall.m4s\\n"; done; echo '#EXT-X-ENDLIST'; } >parts.m3u8
            """
        ),
        (
            "main.m3u8",
            """
            $ffmpeg -v error -i s.flv -c copy -f hls -hls_time 1 -hls_list_size 0 -hls_enc 1 -hls_enc_key 0123456789abcdef \
            -hls_enc_key_url key ts.m3u8; printf '#EXTM3U\\n#EXT-X-STREAM-INF:BANDWIDTH=1\\nts.m3u8\\n' >main.m3u8
            """
        ),
    ])
    func `the times in the pictures are told as a player shows them, in every container`(
        _ file: String, _ command: String
    ) async throws {
        try await Workshop.with { workshop in
            try await Self.makeStamped(workshop)
            try await workshop.run(command)
            let output = try await workshop.run("$probe clock --print --lead 0s --source \(file)")
            let lines = try ClockLine.lines(output)
            let first = try #require(lines.first)
            #expect(abs(first.media - 50_000) <= Self.tolerance)
            #expect(lines.playing.count >= 8)
            // A busy machine takes the wall time of a sample later than the sample, never earlier.
            #expect(lines.drift.most <= Self.tolerance)
            #expect(lines.allSatisfy { !$0.sample.isDiscontinuity })
            let end = try #require(lines.last)
            #expect(end.sample.state == .end && abs(end.media - 52_000) <= Self.tolerance)
        }
    }

    @Test(arguments: [
        ("h264", "libx264 -bf 0 -x264-params aud=1", "--form misb", ""),
        ("h265", "libx265 -x265-params log-level=none:bframes=0", "--form json --json-key now", "--json-key now"),
        (
            "h264", "libx264 -bf 0", "--form text --uuid 00112233445566778899aabbccddeeff",
            "--uuid 00112233445566778899aabbccddeeff"
        ),
    ])
    func `all forms of times are read from MPEG-TS`(
        _ codec: String, _ encoder: String, _ form: String, _ options: String
    ) async throws {
        let format = codec == "h264" ? "h264" : "hevc"
        try await Workshop.with { workshop in
            try await workshop.run(
                """
                $ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -t 1 -c:v \(encoder) -g 25 -f \(format) - \
                | $probe stamp --codec \(codec) --rate 25 --start 1700000000000 \(form) \
                | $ffmpeg -v error -r 25 -f \(format) -i - -c copy s.ts
                """.replacing("-nostdin", with: ""))
            let lines = try ClockLine.lines(try await workshop.run("$probe clock --print --source s.ts \(options)"))
            #expect(abs((lines.first?.media ?? 0) - 1_700_000_000_000) <= Self.tolerance)
            #expect(abs((lines.last?.media ?? 0) - 1_700_000_001_000) <= Self.tolerance)
        }
    }

    @Test func `the dates of a playlist and the stream's own times are media times too`() async throws {
        try await Workshop.with { workshop in
            try await workshop.run(
                """
                $ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -t 2 \(Self.encoder) -output_ts_offset 95442 \
                -f hls -hls_time 1 -hls_list_size 0 s.m3u8
                awk '/EXTINF/ { print "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:0" n++ ".000Z" } { print }' s.m3u8 >d.m3u8
                """)
            let dated = try ClockLine.lines(
                try await workshop.run("$probe clock --print --carrier pdt --lead 0s --source d.m3u8"))
            #expect(abs((dated.first?.media ?? 0) - 1_767_225_600_000) <= Self.tolerance)
            #expect(abs((dated.last?.media ?? 0) - 1_767_225_602_000) <= Self.tolerance)
            #expect(dated.drift.most <= Self.tolerance)
            // The 33 bits of MPEG-TS wrap 1.7 s after the beginning.
            let counted = try ClockLine.lines(
                try await workshop.run("$probe clock --print --carrier pts --lead 0s --source s.m3u8"))
            let (first, last) = (try #require(counted.first), try #require(counted.last))
            #expect(abs(last.media - first.media - 2000) <= Self.tolerance)
            #expect(counted.allSatisfy { !$0.sample.isDiscontinuity && $0.sample.wrapBits == nil })
        }
    }

    @Test func `timed ID3 metadata of MPEG-TS tells media times`() async throws {
        try await Workshop.with { workshop in
            try await workshop.run(
                "$ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -t 2 \(Self.encoder) -muxdelay 0 plain.ts")
            let start = try await workshop.run(
                "ffprobe -v error -show_entries stream=start_pts -of default=nw=1:nk=1 plain.ts")
            let first = try #require(start.split(separator: "\n").first.flatMap { Int64($0) })
            let tags = (0..<4).map { number in
                (time: first + Int64(number) * 45_000, tag: Self.tag("\(7_000_000 + number * 500)"))
            }
            try workshop.write(try TimedMetadata.insert(tags, into: workshop.read("plain.ts")), to: "s.ts")
            let lines = try ClockLine.lines(try await workshop.run("$probe clock --print --carrier id3 --source s.ts"))
            // Two times have to agree before the first sample.
            #expect((6_999_900...7_000_400).contains(lines.first?.media ?? 0))
            #expect(abs((lines.last?.media ?? 0) - 7_002_000) <= Self.tolerance)
            #expect(lines.drift.most <= Self.tolerance)
        }
    }

    /// An ID3 tag of one frame with a text.
    private static func tag(_ text: String) -> [UInt8] {
        let content: [UInt8] = [3] + Array("time".utf8) + [0] + Array(text.utf8)
        let frame: [UInt8] = Array("TXXX".utf8) + [0, 0, 0, UInt8(content.count), 0, 0] + content
        return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
    }

    @Test func `samples come over NATS on the cohort's subject, ahead by the lead, numbered`() async throws {
        try await NATSTestServer.withConnection { server, listener in
            let samples = Recorder<ClockSample>()
            let subject = RoomAddress(root: "ink", room: try #require(RoomID("physics")), partitions: 1)
                .subject(.clock(try #require(CohortName("hls"))))
            let subscription = try listener.subscribe(subject) { message in
                let bytes = message.copyPayload()
                if let sample = try? ClockSample(decoding: bytes) { samples.append(sample) }
            }
            try await listener.flush()
            try await Workshop.with { workshop in
                try await Self.makeStamped(workshop)
                let running = try workshop.start(
                    """
                    exec $probe clock --nats \(server.url) --room physics --cohort hls --source s.flv --lead 3s \
                    --epoch 7 --stream cam
                    """)
                let first = try await samples.values(3)[0]
                #expect(abs(Double(first.media.microseconds) / 1000 - 53_000) <= Self.tolerance)
                #expect(first.epoch == 7 && first.stream == "cam")
                #expect(samples.values.map { $0.number ?? 0 } == samples.values.map { $0.number ?? 0 }.sorted())
                running.send(SIGTERM)
                #expect(await running.exitCode() == 0)
            }
            subscription.unsubscribe()
        }
    }

    @Test func `a missing file, missing media times and a missing NATS server are reported`() async throws {
        try await Workshop.with { workshop in
            let output = try await workshop.run("$probe clock --print --source nothing.ts", exitCode: 1)
            #expect(output.contains("nothing.ts"))
            try await Self.makeStamped(workshop)
            let timeless = try await workshop.run("$probe clock --print --carrier id3 --source s.flv", exitCode: 1)
            #expect(timeless.contains("none of 50 pictures"))
            try await workshop.run("$probe clock --room r --nats nats://127.0.0.1:1 --source nothing.ts", exitCode: 2)
        }
    }

    @Test func `a damaged stream stops neither the program nor, where times are left, its clock`() async throws {
        for seed in TestSeed.choose(3) {
            try await Workshop.with { workshop in
                try await Self.makeStamped(workshop)
                try await workshop.run(
                    """
                    $ffmpeg -v error -i s.flv -c copy s.ts
                    $ffmpeg -v error -i s.flv -c copy -movflags frag_keyframe+empty_moov s.mp4
                    """)
                var random = SeededGenerator(seed: seed)
                var commands: [String] = []
                for file in ["s.flv", "s.ts", "s.mp4"] {
                    var bytes = try workshop.read(file)
                    for _ in 0..<random.int(1...30) {
                        bytes[random.int(0..<bytes.count)] ^= UInt8(1 << random.int(0...7))
                    }
                    if random.chance(1, in: 2) { bytes.removeLast(random.int(0..<bytes.count / 2)) }
                    if random.chance(1, in: 4) { bytes.removeSubrange(2000..<random.int(2001...4000)) }
                    try workshop.write(bytes, to: "damaged-\(file)")
                    commands.append(
                        "timeout -s ABRT 30 $probe clock --print --source damaged-\(file) >\(file).out; echo $? >\(file).code"
                    )
                }
                try await workshop.run(commands.map { "{ \($0); } &" }.joined(separator: "\n") + "\nwait")
                for file in ["s.flv", "s.ts", "s.mp4"] {
                    let code = String(decoding: try workshop.read("\(file).code"), as: UTF8.self)
                    #expect(code == "0\n" || code == "1\n", "\(file): \(code)")
                    let lines = try ClockLine.lines(String(decoding: try workshop.read("\(file).out"), as: UTF8.self))
                    // A picture whose own time is damaged may be one that is to be shown later: until then the clock runs on.
                    for line in lines {
                        let end = max(52_000, lines[0].media + line.at - lines[0].at)
                        #expect(49_000...end + Self.tolerance ~= line.media, "seed \(seed), \(file)")
                    }
                }
            }
        }
    }
}
