import Foundation
import NATSClient
import TestSupport
import Testing

/// The time of day of a live HLS video that Chromium plays by itself, from playlists as packagers write them.
@Suite(
    .timeLimit(.minutes(5)), .endsProcesses,
    .enabled(if: BrowserWindow.runsAll && NginxServer.isInstalled, "make browser runs it, with Debian's nginx"))
struct BrowserPlaylistTests {
    private static var module: String {
        get throws { try BrowserWindow.statements(of: "Sources/Site/pages/playlist-dates.js") }
    }

    @Test("dates go on over segments without one, begin anew after a discontinuity, and have any zone")
    func parsing() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            let result = try await window.run(
                """
                \(Self.module)
                const media = parsePlaylist([
                    "#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXT-X-DISCONTINUITY-SEQUENCE:4",
                    "#EXT-X-PROGRAM-DATE-TIME:1970-01-01T01:00:10.500+0100", "#EXTINF:2.000,", "a.m4s",
                    "#EXTINF:1.5,title, with a comma", "a.m4s?part=2", "",
                    "#EXT-X-DISCONTINUITY", "#EXTINF:2,", "b.m4s",
                    "#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:01:00Z", "#EXTINF:2,", "/c.m4s",
                ].join("\\r\\n"), "http://host/live/video.m3u8").segments;
                const variants = parsePlaylist("#EXTM3U\\n#EXT-X-STREAM-INF:BANDWIDTH=9\\nlow/v.m3u8\\n" +
                    "#EXT-X-STREAM-INF:BANDWIDTH=99\\nhttps://cdn/high.m3u8\\n", "http://host/live/video.m3u8").variants;
                return { dates: media.map(({ date }) => String(date)).join(" "), urls: media.map(({ url }) => url).join(" "), variants: variants.join(" ") };
                """)
            #expect(result["dates"] == "10500 12500 NaN 60000")
            #expect(
                result["urls"]
                    == .string(
                        "http://host/live/a.m4s http://host/live/a.m4s?part=2 http://host/live/b.m4s http://host/c.m4s")
            )
            #expect(result["variants"] == "http://host/live/low/v.m3u8 https://cdn/high.m3u8")
        }
    }

    @Test func `a multivariant live video has the dates of the variant that plays, until they jump`() async throws {
        try await NginxServer.with { server in
            let video = LiveFiles(server)
            try await video.make(segments: 40)
            try video.write(through: 8)
            try await BrowserRoom.with { room, _ in
                let window = try await BrowserWindow(at: "\(room.address)/healthz")
                try await window.run(
                    """
                    \(Self.module)
                    const video = document.createElement("video");
                    document.body.append(video);
                    Object.assign(video, { muted: true, src: "\(video.address)" });
                    Object.assign(window, { video, dates: new PlaylistDates(video, video.src) });
                    await video.play();
                    """)
                // The encoder goes on while the player does.
                let placed = try await video.grow(from: 8, through: 24, until: window, "Number.isFinite(dates.begin)")
                let begin = try #require(try await window.run("return dates.begin").double)
                // The first segment that is played begins at a whole second.
                let offset = (begin - LiveFiles.origin) / 1000
                #expect(abs(offset - offset.rounded()) < 0.05, "begin \(begin)")
                _ = try await video.grow(
                    from: placed, through: 40, jumpingAt: placed + 1, until: window, "dates.isUndated")
                #expect(try await window.isTrue("Number.isNaN(dates.begin)"))
            }
        }
    }
}

/// A live video of segments of a second, whose playlist a test writes.
private struct LiveFiles {
    /// When the first segment begins, in milliseconds since 1970.
    static let origin = 1_750_000_000_000.0

    let server: NginxServer
    var address: String { "\(server.address)/live.m3u8" }

    init(_ server: NginxServer) {
        self.server = server
    }

    func make(segments: Int) async throws {
        let encoder = try server.start(
            """
            ffmpeg -hide_banner -nostdin -y -v error -f lavfi -i testsrc2=s=192x108:r=25 -t \(segments) -c:v libx264 \
            -preset ultrafast -profile:v baseline -g 25 -bf 0 -f hls -hls_time 1 -hls_list_size 0 -hls_segment_type fmp4 \
            -hls_segment_filename part%d.m4s -hls_fmp4_init_filename head.mp4 made.m3u8
            """)
        guard await encoder.exitCode(within: .hangLimit) == 0 else { throw Unexpected("ffmpeg has failed") }
    }

    /// Writes the playlists with the newest six segments before that one.
    /// - Parameter jump: from that segment on, dates are an hour later.
    func write(through end: Int, jumpingAt jump: Int = .max) throws {
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:\(end - 6)",
            "#EXT-X-MAP:URI=\"../head.mp4\"",
        ]
        for number in (end - 6)..<end {
            let date = Self.origin / 1000 + Double(number) + (number >= jump ? 3600 : 0)
            lines.append("#EXT-X-PROGRAM-DATE-TIME:\(Date(timeIntervalSince1970: date).formatted(.iso8601))")
            lines += ["#EXTINF:1.0,", "../part\(number).m4s"]
        }
        let folder = server.folder.appending(path: "variant")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data((lines.joined(separator: "\n") + "\n").utf8)
            .write(to: folder.appending(path: "video.m3u8"), options: .atomic)
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS=\"avc1.42c00b\"\nvariant/video.m3u8\n"
        try Data(master.utf8).write(to: server.folder.appending(path: "live.m3u8"), options: .atomic)
    }

    /// Lets the video go on by a segment a second until an expression in a page is true.
    /// - Returns: the segments that are listed then.
    func grow(
        from start: Int, through end: Int, jumpingAt jump: Int = .max, until window: BrowserWindow, _ expression: String
    ) async throws -> Int {
        let clock = ContinuousClock()
        let began = clock.now
        for count in (start + 1)...end {
            try write(through: count, jumpingAt: jump)
            while clock.now < began + .seconds(count - start) {
                if try await window.isTrue("\(expression)") { return count }
            }
        }
        throw Unexpected("not within \(end - start) segments: \(expression)")
    }
}
