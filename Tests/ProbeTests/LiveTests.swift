import Foundation
import Locking
import NATSTestServer
import NIOHTTP1
import StrokeWire
import TestSupport
import Testing

/// The built program beside encoders that run in real time.
@Suite struct LiveTests {
    private static let camera = "$ffmpeg -v error -re -f lavfi -i testsrc2=size=128x96:rate=25"

    @Test func `the clock of a live HLS stream keeps its distance, stalls with the encoder, and ends with the list`()
        async throws
    {
        try await Workshop.with { workshop in
            let encoder = try workshop.start(
                """
                \(Self.camera) -t 6 -c:v libx264 -tune zerolatency -preset ultrafast -g 25 -f flv - \
                | $probe stamp --codec flv | ffmpeg -v error -analyzeduration 100000 -fflags nobuffer -i - -c copy -f hls -hls_time 1 -hls_list_size 8 \
                -hls_flags delete_segments live.m3u8
                """)
            let clock = try workshop.start("exec $probe clock --print --lead 0s --source live.m3u8")
            #expect(await encoder.exitCode() == 0)
            #expect(await clock.exitCode() == 0)
            let lines = try ClockLine.lines(clock.output)
            #expect(lines.playing.count > 10)
            // Three target durations of a second, and what a segment takes to be there; nothing of a player's future.
            for line in lines.playing { #expect((2900...6000).contains(line.at - line.media), "\(line)") }
            #expect(lines.drift.most <= 100)
            #expect(lines.last?.sample.state == .end)
            #expect(lines.allSatisfy { !$0.sample.isDiscontinuity })
        }
    }

    @Test func `a live HLS stream whose playlist is gone ends after the given time`() async throws {
        try await Workshop.with { workshop in
            try await workshop.run(
                """
                $ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -t 3 -c:v libx264 -preset ultrafast -g 25 -f flv - \
                | $probe stamp --codec flv --rate 25 --start 50000 \
                | ffmpeg -v error -i - -c copy -f hls -hls_time 1 -hls_list_size 0 live.m3u8
                """)
            // A packager that has died has not written the end of its list.
            let list = String(decoding: try workshop.read("live.m3u8"), as: UTF8.self)
                .replacingOccurrences(of: "#EXT-X-ENDLIST", with: "")
            let lists = Locked(0)
            try await PostServer.with(answer: { request in
                let name = String(request.target.dropFirst("GET /".count))
                guard name == "live.m3u8" else {
                    return (try? workshop.read(name)).map { (.ok, $0) } ?? (.notFound, [])
                }
                let count = lists.withLock { count in
                    count += 1
                    return count
                }
                return count <= 2 ? (.ok, Array(list.utf8)) : (.notFound, [])
            }) { server in
                let clock = try workshop.start(
                    """
                    exec $probe clock --print --lead 0s --end-after 1s --source http://127.0.0.1:\(server.port)/live.m3u8
                    """)
                #expect(await clock.exitCode() == 0)
                let lines = try ClockLine.lines(clock.output)
                #expect(lines.last?.sample.state == .end && !lines.playing.isEmpty)
                #expect(server.posts.values.filter { $0.target.hasSuffix("live.m3u8") }.count > 3)
            }
        }
    }

    @Test func `the clock of an RTMP stream follows the pictures that come, a buffer behind`() async throws {
        let port = try FreePort.find()
        try await Workshop.with { workshop in
            let address = "rtmp://127.0.0.1:\(port)/live/physics"
            // It waits for who plays the stream.
            let encoder = try workshop.start(
                """
                \(Self.camera) -t 4 -c:v libx264 -tune zerolatency -preset ultrafast -g 25 -f flv - \
                | $probe stamp --codec flv \
                | ffmpeg -v error -analyzeduration 100000 -fflags nobuffer -i - -c copy -f flv -listen 1 \(address)
                """)
            let clock = try workshop.start("exec $probe clock --print --source \(address)")
            #expect(await encoder.exitCode() == 0)
            // The server is gone without a word: the clock stands still and tries to connect again.
            try await eventually("a stall", is: ClockLine.lines(clock.output).last?.sample.state == .stall)
            clock.send(SIGTERM)
            #expect(await clock.exitCode() == 0)
            let lines = try ClockLine.lines(clock.output)
            #expect(lines.playing.count >= 6)
            // The buffer is 200 ms. A busy machine passes pictures on later; where it holds up the first picture, `stamp` takes
            // its delay, of 100 ms or hardly more, for the time line of all.
            let distances = lines.playing.map { $0.at - $0.media }
            #expect(distances.allSatisfy { (50...3000).contains($0) }, "\(distances)")
            #expect(lines.drift.most <= 100)
            #expect(lines.allSatisfy { !$0.sample.isDiscontinuity && $0.sample.wrapBits == nil })
        }
    }

    @Test func `an encoder that dies and begins again is a stall and then a new session`() async throws {
        try await Workshop.with { workshop in
            func send(from start: Int, seconds: Double) -> String {
                """
                \(Self.camera) -t \(seconds) -c:v libx264 -tune zerolatency -preset ultrafast -g 25 -f flv - \
                | $probe stamp --codec flv --rate 25 --start \(start) \
                | ffmpeg -v error -i - -c copy -f flv -listen 1 unix:socket
                """
            }
            let clock = try workshop.start(
                "exec $probe clock --print --source unix:socket --epoch 3 --end-after 4s --verbose")
            let first = try workshop.start(send(from: 100_000, seconds: 2))
            #expect(await first.exitCode() == 0)
            let second = try workshop.start("rm -f socket; " + send(from: 0, seconds: 2))
            #expect(await second.exitCode() == 0)
            #expect(await clock.exitCode() == 0)
            let samples = try ClockLine.lines(clock.output).map(\.sample)
            let restart = try #require(samples.firstIndex { $0.epoch == 4 }, "\(clock.output)")
            #expect(samples[restart].isDiscontinuity && samples[restart].media.microseconds < 1_000_000)
            #expect(samples[..<restart].allSatisfy { $0.epoch == 3 && $0.media.microseconds >= 99_900_000 })
            #expect(samples[..<restart].contains { $0.state == .stall })
            #expect(samples[restart...].contains { $0.state == .play })
            #expect(samples.last?.state == .end)
            #expect(samples.filter(\.isDiscontinuity).count == 1)
        }
    }
}
