import Foundation
import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// A cluster of three servers with file systems of their own, some of which lose power while a class runs.
@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct PowerCutTests {
    @Test func `A server of three that loses power and its files' ends costs nothing, and no room its incarnation`()
        async throws
    {
        let plan = Lesson.Plan(mayLose: true)
        try await NATSTestServer.withCluster(of: 3) { servers in
            let url = servers.map(\.url).joined(separator: ",")
            let verdict = try await Lesson.hold(plan, on: url) { lesson in
                let daemon = try await DaemonProcess.serving("a", nats: url, ["journal.replicas=3"])
                try await lesson.goesOn()
                let leader = try await eventually("the journal has a leader") {
                    try await lesson.connection.streamState("INK_LOG_0").cluster?.leader
                }
                let number = try #require(Int(leader.dropFirst("node".count)))
                await servers[number].kill()
                try servers[number].losePower(keeping: 0.5)
                try await lesson.goesOn()
                try await servers[number].restart()
                try await lesson.goesOn()
                #expect(daemon.lines(with: "lost its end").isEmpty)
            }
            verdict.expect()
        }
    }

    @Test func `All servers and daemons lose power, and what checkpoints had is on the boards`() async throws {
        try await PoweredClass.with { lesson in
            let settings = ["journal.replicas=3", "checkpoint.interval=1s"]
            let daemon = try await DaemonProcess.serving("a", nats: lesson.url, settings)
            try await lesson.publish(1...60)
            let before = try await lesson.board(at: 60)
            try await lesson.author.waitUntilCovered(through: 60)
            await daemon.kill()
            try await lesson.losePower(keeping: [0.3, 0.6, 0.5])
            try await lesson.start([0, 1, 2])
            let heir = try DaemonProcess("b", nats: lesson.url, settings)
            let after = try await lesson.board(at: 60, notIn: before.room)
            #expect(after.digest == before.digest)
            try await lesson.publish(61...70)
            let next = try await lesson.board(at: 70, notIn: before.room)
            #expect(next.room == after.room)
            #expect(heir.lines(with: "the log has lost its end").count == 1)
            try await lesson.waitUntilCopiesAreEqual()
        }
    }
}

/// A room on three servers.
private struct PoweredClass: Sendable {
    let servers: [NATSTestServer]
    let connection: NATSConnection
    let author: ScriptedAuthor

    var url: String { servers.map(\.url).joined(separator: ",") }

    static func with(_ body: @Sendable (PoweredClass) async throws -> Void) async throws {
        try await NATSTestServer.withCluster(of: 3) { servers in
            var settings = NATSSettings(url: servers.map(\.url).joined(separator: ","), name: "class")
            settings.pingInterval = .milliseconds(500)
            settings.reconnectWait = .milliseconds(5) ... .milliseconds(50)
            let connection = NATSConnection(settings, logger: .silent)
            try await connection.connect(within: .seconds(30))
            let author = try ScriptedAuthor("anna", room: "physics", on: connection)
            let lesson = PoweredClass(servers: servers, connection: connection, author: author)
            try await connection.waitForLeader()
            try await body(lesson)
            await connection.close()
        }
    }

    func publish(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            let text =
                #"{"n":\#(number),"c":1,"l":4,"t":0,"w":400,"h":300,"d":[{"x":\#(number),"y":10},{"x":200,"y":150}]}"#
            try await eventually("\(number) is acknowledged") { try await author.send(text) }
        }
    }

    /// The board at the head once the room has this many operations.
    func board(at index: UInt64, notIn incarnation: String = "") async throws -> JoinReply {
        try await eventually("the board has \(index) operations, in another incarnation", every: .milliseconds(100)) {
            let reply = try JoinReply(
                decoding: try await connection.requestParts(
                    Array("{}".utf8), to: author.address.subject(.joinHead), timeout: .seconds(1)
                ).payload)
            return reply.index == index && reply.room != incarnation ? reply : nil
        }
    }

    /// Kills all servers, and takes the ends of their files of the log.
    func losePower(keeping shares: [Double]) async throws {
        for server in servers { await server.kill() }
        for (server, share) in zip(servers, shares) { try server.losePower(keeping: share) }
    }

    /// Starts servers, and returns when the log has a leader.
    func start(_ numbers: [Int]) async throws {
        for number in numbers { try await servers[number].restart() }
        _ = try await eventually("the log has a leader") {
            try await connection.streamState("INK_LOG_0").cluster?.leader
        }
    }

    /// Waits until all servers give the same records. A consumer reads the copy of a server that is drawn by lot.
    func waitUntilCopiesAreEqual() async throws {
        try await eventually("all copies of the log are equal", every: .milliseconds(500)) { () -> Void? in
            guard let others = try await connection.streamState("INK_LOG_0").cluster?.replicas, others.count == 2,
                others.allSatisfy({ $0.current == true })
            else { return nil }
            var copies: Set<[String]> = []
            for _ in 0..<12 {
                let records = try await connection.readBack("INK_LOG_0", within: .seconds(5))
                copies.insert(records.map { "\($0.sequence) \($0.time) \($0.subject)" })
            }
            return copies.count == 1 ? () : nil
        }
    }
}

extension NATSTestServer {
    nonisolated fileprivate func losePower(keeping share: Double) throws {
        try PowerCut(store ?? "").cut("INK_LOG_", marked: ".in.", keeping: share)
    }
}
