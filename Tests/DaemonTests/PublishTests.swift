import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Two publishers with one author.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct SessionTests {
    @Test func `a publisher ends with an error once its author has begun another session`() async throws {
        try await BoardService.with(["journal.mode=none"]) { service in
            let publish = ["publish", "demo", "--room", "a", "--author", "ann", "--nats", service.nats.url]
            let first = try LecternProcess(publish + ["--session", "one"])
            try await first.waitForLog("applied 1 ")
            let second = try LecternProcess(publish + ["--session", "two", "--speed", "1000"])
            #expect(await first.exitCode() == 1)
            #expect(first.log.contains("lectern: the session one is over: ann has begun another one since."))
            #expect(await second.exitCode() == 0)
            // The old session cannot be continued either.
            let again = try LecternProcess(publish + ["--session", "one", "--speed", "1000", "--quiet", "--json"])
            #expect(await again.exitCode() == 1)
            #expect(again.log.contains(#""ended_session":"one""#))
        }
    }
}

/// Times of strokes that `lectern publish` sends.
@Suite(.timeLimit(.minutes(4)), .endsProcesses) struct TimeLineTests {
    /// Publishes a lesson of two strokes, 300 ms apart, that was recorded in UTC years ago.
    /// - Returns: the times that it went out with, and what the command said.
    private func publish(
        _ options: [String], on nats: NATSTestServer, _ name: String, first: Int = 1_600_000_000_000
    ) async throws -> (times: [Double], log: String) {
        let stroke = #""d":[{"x":1,"y":2},{"x":3,"y":4}]"#
        let lesson = [#"{"n":1,"t":\#(first),\#(stroke)}"#, #"{"n":2,"t":\#(first + 300),\#(stroke)}"#]
        let file = try TestFiles.url("lesson.ndjson")
        try lesson.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        return try await NATSConnection.with(nats) { connection in
            let sent = Recorder<[UInt8]>()
            try connection.subscribe("ink.0.\(name).in.ann") { sent.append($0.copyPayload()) }
            try await connection.flush()
            let command = try await LecternProcess.run(
                arguments: ["publish", file.path, "--room", name, "--author", "ann", "--quiet", "--nats", nats.url]
                    + options)
            guard command.exitCode == 0 else { throw Unexpected(command.log) }
            let messages = try await sent.values(2)
            return (try messages.compactMap { try AnyJSON.decode($0)["t"]?.double }, command.log)
        }
    }

    @Test
    func `strokes get UTC by the gateway or this machine, the time since a start, or keep their own`() async throws {
        try await BoardService.with(["journal.mode=none"]) { service in
            let (nats, gateway) = (service.nats, "http://127.0.0.1:\(try await service.daemon.httpPort())")
            var now: Double { Date().timeIntervalSince1970 * 1000 }

            for options in [["--gateway", gateway], []] {
                let begin = now
                let (times, log) = try await publish(["--time", "utc"] + options, on: nats, "utc\(options.count)")
                let first = try #require(times.first)
                #expect(begin...now ~= first && times.last == first + 300, "\(times)")
                guard !options.isEmpty else {
                    #expect(log.contains("time: UTC by this machine's clock"))
                    continue
                }
                let said = try #require(
                    log.firstMatch(
                        of: /which is ([0-9.]+) ms (?:ahead of|behind) this machine's clock, within ([0-9.]+) ms/))
                // Both clocks are this machine's.
                #expect(try #require(Double(said.1)) <= (try #require(Double(said.2))) + 0.1, "\(said.0)")
            }

            #expect(try await publish(["--time", "since-start"], on: nats, "start").times == [0, 300])
            let hour = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: -3600))
            let since = try await publish(["--time", "since-start", "--start", hour], on: nats, "hour").times
            #expect(try 3_600_000...3_630_000 ~= #require(since.first) && since.last == since[0] + 300, "\(since)")
            #expect(try await publish([], on: nats, "media", first: 100).times == [100, 400])
        }
    }

    @Test func `a gateway that does not answer ends the command`() async throws {
        try await NATSTestServer.with { nats in
            let command = try await LecternProcess.run(
                "publish", "demo", "--room", "a", "--author", "ann", "--nats", nats.url, "--time", "utc", "--gateway",
                "http://127.0.0.1:1")
            #expect(command.exitCode == 2)
            #expect(command.log.contains("no time from http://127.0.0.1:1"))
        }
    }
}

/// Strokes that are being drawn, from command to command.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct WetCommandTests {
    private struct Line: Decodable {
        struct Release: Decodable {
            struct Point: Decodable, Equatable {
                let x: Double
                let y: Double
                let m: Double?
            }

            let n: Int
            let k: Int
            let d: [Point]
        }

        struct Message: Decodable {
            let n: Int
            let d: [Release.Point]?
        }

        let event: String?
        let at: Int
        let release: Release?
        let message: Message?
    }

    @Test func `a lesson grows on the screen of who watches, point by point, before its strokes are released`()
        async throws
    {
        try await NATSTestServer.with { nats in
            _ = try await DaemonProcess.serving(
                "service", nats: nats.url, ["journal.mode=none", "cohorts.default.ink=progressive"])
            let lesson = try TestFiles.url("wet.ndjson")
            let strokes = (1...2).map { number in
                let points = (0..<60).map { #"{"x":\#($0),"y":\#(number),"m":\#($0 * 16)}"# }
                return #"{"n":\#(number),"t":\#(number * 1000),"d":[\#(points.joined(separator: ","))]}"#
            }
            try Data(strokes.joined(separator: "\n").utf8).write(to: lesson)
            for isSent in [true, false] {
                let room = ["--room", isSent ? "sent" : "unsent", "--nats", nats.url]
                let watch = try LecternProcess(
                    ["watch", "--wet", "--until-index", "2", "--for", "30s", "--quiet"] + room)
                try await watch.waitForLog("joined")
                let clock = try LecternProcess(["clock", "--latency", "1s", "--quiet"] + room)
                let publish = try LecternProcess(
                    ["publish", lesson.path, "--author", "ann", "--quiet", "--json"] + (isSent ? [] : ["--no-wet"])
                        + room)
                #expect(await watch.exitCode() == 0, "\(watch.log)")
                #expect(await publish.exitCode() == 0, "\(publish.log)")
                clock.send(SIGINT)
                let summary = try AnyJSON.decode(Array(publish.log.utf8))
                let updates = summary["wet_updates"]?.double ?? -1
                #expect(isSent ? updates > 20 : updates == 0, "\(publish.log)")

                let lines = try watch.log.split(separator: "\n").map {
                    try JSONDecoder().decode(Line.self, from: Data($0.utf8))
                }
                for number in 1...2 {
                    let end = try #require(lines.firstIndex { $0.message?.n == number })
                    let points = try #require(lines[end].message?.d)
                    var grown: [Line.Release.Point] = []
                    var beginning: Int?
                    for line in lines[..<end] {
                        guard let release = line.release, release.n == number else { continue }
                        beginning = beginning ?? line.at
                        #expect(release.k <= grown.count)
                        grown.replaceSubrange(
                            release.k..<min(grown.count, release.k + release.d.count), with: release.d)
                    }
                    // It grows for as long as it was drawn: the rest of its points comes with the operation.
                    #expect(grown.count > 50 && grown == Array(points.prefix(grown.count)))
                    let span = lines[end].at - (beginning ?? lines[end].at)
                    #expect(span > 500, "\(span) ms")
                    #expect(!lines[(end + 1)...].contains { $0.release?.n == number })
                }
            }
        }
    }
}
