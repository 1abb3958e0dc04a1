import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// That ink and picture meet: a class as it is, of real programs, and what a student's screen shows of it.
///
/// FFmpeg makes a video whose pictures have bar codes; nginx serves it; `lectern-probe` makes the clock of it; three authors
/// write and point over NATS; Chromium plays it beside a board. The page reads pictures, ink and pointers from the pixels.
@Suite(
    .serialized, .timeLimit(.minutes(10)), .endsProcesses,
    .enabled(if: EnvironmentVariable("LECTERN_PROOF").text != nil, "make proof runs it"))
struct ProofTests {
    /// A frame of the video: ink comes with its picture or the next one.
    private static let goal = 40.0

    @Test(
        "ink comes with its picture, never before, whatever happens to the class",
        arguments: BarCodeVideo.Delivery.chosen)
    func meet(_ delivery: BarCodeVideo.Delivery) async throws {
        try await NginxServer.with { server in
            try await NATSTestServer.with(jetStream: true) { nats in
                let table = try await NATSConnection.with(nats) { connection in
                    try await ProofClass(delivery, server, nats, connection).run()
                }
                print("\n\(delivery.rawValue)\n\(ProofTable.head)")
                for row in table.rows { print(row) }
                print("")
                for row in table.rows {
                    #expect(row.early == 0, "\(row)")
                    if !(row.isOfTrouble && row.kind == .pointers) { #expect(row.missing == 0, "\(row)") }
                    if !row.isOfTrouble { #expect(row.delay(0.99) <= Self.goal, "\(row)") }
                }
            }
        }
    }
}

/// One class with its troubles.
private struct ProofClass: Sendable {
    let video: BarCodeVideo
    let server: NginxServer
    let nats: NATSTestServer
    /// Of the teachers.
    let connection: NATSConnection

    init(
        _ delivery: BarCodeVideo.Delivery, _ server: NginxServer, _ nats: NATSTestServer, _ connection: NATSConnection
    ) {
        video = BarCodeVideo(delivery, on: server)
        (self.server, self.nats, self.connection) = (server, nats, connection)
    }

    private var now: Double { Date().timeIntervalSince1970 * 1000 }

    func run() async throws -> ProofTable {
        let room = "proof"
        var daemon = try daemon(port: 0)
        try await daemon.waitUntilServing()
        let port = try await daemon.httpPort()
        var origins = [try await video.start()]
        let probe = try LecternProcess(
            [
                "clock", "--nats", nats.url, "--room", room, "--source", video.source, "--carrier",
                video.delivery.carrier,
            ], program: "lectern-probe")

        let window = try await BrowserWindow(.init(width: 1100, height: 900))
        let page = [
            "gateway": "http://127.0.0.1:\(port)", "room": room, "cohort": "main", "playlist": video.playlist,
            "carrier": video.delivery.carrier, "targets": "3",
        ]
        try await window.open("\(server.address)/player/?" + page.map { "\($0)=\($1)" }.joined(separator: "&"))
        try await window.wait(for: "the video", "window.proof?.shown > 0")
        let timeOrigin = try await window.run("return performance.timeOrigin").double ?? 0

        let lesson = ProofLesson(64, from: now + 1500)
        let teachers = Task { try await lesson.publish(to: room, over: connection) }
        defer { teachers.cancel() }
        do {
            try await window.wait(for: "the first ink", "proof.board.index > 0")
        } catch {
            throw Unexpected("\(error)\n\(probe.log.suffix(1000))\n---\n\(daemon.log.suffix(1000))")
        }
        var phases: [ProofTable.Phase] = []
        var expected = 0
        /// Lets the class go on; what is written meanwhile is looked for.
        func go(on seconds: Double, as name: String) async throws {
            if phases.last?.name != name { phases.append(.init(name: name, start: now)) }
            let end = now + seconds * 1000
            while now < end {
                let marks = lesson.marks[expected...].prefix { $0.time < now + 1000 }
                expected += marks.count
                let text = marks.map(\.text).joined(separator: ",")
                try await window.run("proof.expect([\(text)])")
                try await Task.sleep(for: .milliseconds(500))
            }
        }
        /// Waits for something of the page, and lets the class go on.
        func wait(for what: String, _ expression: String, as name: String) async throws {
            let deadline = now + 30_000
            repeat {
                guard now < deadline else { throw Unexpected("not in 30 s: \(what); \(try await window.complaints())") }
                try await go(on: 0.5, as: name)
            } while try await window.run("return Boolean(\(expression))") != .bool(true)
        }

        try await go(on: 20, as: "from the beginning")
        try await window.keepScreenshot("proof-\(video.delivery)")
        video.pause(true)
        try await go(on: 6, as: "while the encoder is stopped")
        video.pause(false)
        try await window.run("proof.stalledAt = proof.shown")
        try await wait(
            for: "the video after a stall", "proof.shown > proof.stalledAt", as: "while the encoder is stopped")
        try await go(on: 12, as: "after a stall")
        await video.killEncoder()
        // The pictures before its end are still to be shown.
        try await go(on: 1, as: "while the encoder is away")
        origins.append(try await video.start())
        try await wait(for: "the other encoder", "proof.shown >= 2 * 1048576", as: "while the encoder is away")
        try await go(on: 12, as: "after a restart of the encoder")
        try await window.run("proof.video.currentTime -= 4;")
        try await go(on: 6, as: "after seeking back")
        try await window.run("proof.video.currentTime += 4;")
        try await go(on: 8, as: "after seeking forward")
        await daemon.kill()
        daemon = try self.daemon(port: port)
        try await go(on: 1, as: "while the daemon is away")
        try await daemon.waitUntilServing()
        try await window.run("proof.restartedAt = proof.board.index")
        try await wait(
            for: "ink after a kill", "proof.board.index > proof.restartedAt + 3", as: "while the daemon is away")
        try await go(on: 12, as: "after a kill of the daemon")

        let log = try await window.run("return proof.log")
        let complaints = try await window.complaints()
        #expect(!probe.hasExited, "\(probe.log)")
        print("unread pictures \(log["unread"]?.double ?? -1), complaints \(complaints)")
        return try ProofTable(
            lesson.marks.prefix(expected).map { $0 }, log: log, timeOrigin: timeOrigin, origins: origins, phases: phases
        )
    }

    private func daemon(port: Int) throws -> DaemonProcess {
        try DaemonProcess(
            "a", nats: nats.url, http: "127.0.0.1:\(port)",
            ["cohorts.default.ink=progressive", "http.allowed_origins=\(server.address)"])
    }
}
