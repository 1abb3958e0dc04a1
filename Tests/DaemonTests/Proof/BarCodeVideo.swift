import Foundation
import Locking
import NATSClient
import TestSupport

/// A live video that FFmpeg makes, every picture of it with its number as a bar code, and its way to the players.
final class BarCodeVideo: Sendable {
    enum Delivery: String, CaseIterable, Sendable {
        /// Those that `LECTERN_PROOF` names, `hls` or `rtmp`; both unless it names one.
        static var chosen: [Self] {
            let name = EnvironmentVariable("LECTERN_PROOF").text
            let named = allCases.filter { "\($0)" == name }
            return named.isEmpty ? allCases : named
        }

        /// HLS of fragmented MP4 from the encoder, with program date times.
        case hls = "HLS, program date time"
        /// RTMP with times in SEI messages, through nginx, which packages it as HLS for browsers.
        case rtmp = "RTMP, stamped pictures"

        /// Where the page and the probe find the time.
        var carrier: String { self == .hls ? "pdt" : "sei" }
    }

    /// Milliseconds of a picture.
    static let pictureTime = 40.0

    let delivery: Delivery
    let server: NginxServer
    /// Seconds of a segment. Players begin some three of them behind the end.
    private let segmentTime: Int
    private let encoders = Locked<[ChildProcess]>([])

    init(_ delivery: Delivery, on server: NginxServer, segmentTime: Int = 1) {
        self.delivery = delivery
        self.server = server
        self.segmentTime = segmentTime
    }

    /// What a page plays.
    var playlist: String { "\(server.address)/video.m3u8" }
    /// What the probe reads.
    var source: String { delivery == .hls ? playlist : "\(server.rtmp)/video" }

    /// Starts the encoder, as the first or another one; returns when the first segment is there.
    /// - Returns: the media time of its first picture, in milliseconds.
    func start() async throws -> Double {
        let number = encoders.withLock(\.count) + 1
        // 24 columns for the number, which begins with that of the encoder, 8 for a check.
        let value = "(N+\(number)*1048576)"
        let bit = "if(lt(X,24),mod(floor(\(value)/pow(2,X)),2),mod(floor(mod(\(value),251)/pow(2,X-24)),2))"
        let camera = """
            ffmpeg -hide_banner -nostdin -y -v error -re -f lavfi -i testsrc2=s=384x216:r=25 \
            -f lavfi -i "color=black:s=32x2:r=25,format=gray,geq=lum='235*\(bit)'" \
            -filter_complex "[1]scale=384:24:flags=neighbor,format=yuv420p[b];[0]format=yuv420p[a];[a][b]vstack" \
            -c:v libx264 -preset ultrafast -tune zerolatency -profile:v baseline -g 25 -bf 0
            """
        switch delivery {
        case .hls:
            try startEncoder(
                """
                \(camera) -f hls -hls_time \(segmentTime) -hls_list_size 12 -hls_segment_type fmp4 \
                -hls_flags program_date_time+append_list+independent_segments video.m3u8
                """)
            return try await eventually("a segment of encoder \(number)") {
                try firstDates().dropFirst(number - 1).first
            }
        case .rtmp:
            let (camerasPipe, stampedPipe) = ("camera-\(number)", "stamped-\(number)")
            for pipe in [camerasPipe, stampedPipe] {
                guard mkfifo(server.path(pipe), 0o600) == 0 else { throw Unexpected("no pipe: \(errno)") }
            }
            let begin = (Date().timeIntervalSince1970 * 1000).rounded()
            let segments = try segmentCount()
            try server.start(
                """
                ffmpeg -v error -fflags nobuffer -analyzeduration 0 -f flv -i \(stampedPipe) -c copy -f flv \
                \(server.rtmp)/video
                """)
            try server.start(
                "\(try LecternProcess.path(of: "lectern-probe")) stamp --codec flv --rate 25 --start \(Int(begin)) <\(camerasPipe) >\(stampedPipe)"
            )
            try startEncoder("\(camera) -f flv \(camerasPipe)")
            try await eventually("a segment of encoder \(number)", is: segmentCount() > segments)
            return begin
        }
    }

    /// Lets the encoder stop where it is (SIGSTOP), or go on.
    func pause(_ isPaused: Bool) { send(isPaused ? SIGSTOP : SIGCONT) }

    /// Kills the encoder; returns when it has ended.
    func killEncoder() async {
        send(SIGKILL)
        await encoders.withLock(\.last)?.end(timeout: .seconds(5))
    }

    private func startEncoder(_ command: String) throws {
        let encoder = try server.start(command)
        encoders.withLock { $0.append(encoder) }
    }

    private func send(_ signal: Int32) {
        guard let encoder = encoders.withLock(\.last), !encoder.hasExited else { return }
        kill(encoder.identifier, signal)
    }

    /// The program date time of the first segment of each encoder, in milliseconds.
    private func firstDates() throws -> [Double] {
        var dates: [Double] = []
        var isFirst = true
        for line in try playlistLines() {
            if line == "#EXT-X-DISCONTINUITY" { isFirst = true }
            guard isFirst, line.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:") else { continue }
            isFirst = false
            let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            dates.append(try format.parse(String(line.dropFirst(25).prefix(23)) + "Z").timeIntervalSince1970 * 1000)
        }
        return dates
    }

    private func segmentCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: server.folder.path).count { $0.hasSuffix(".m4s") }
    }

    private func playlistLines() throws -> [Substring] {
        String(decoding: try Data(contentsOf: server.folder.appending(path: "video.m3u8")), as: UTF8.self)
            .split(separator: "\n")
    }
}
