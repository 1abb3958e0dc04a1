import ClientCore
import Foundation
import LecternHTTPClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Clients over HTTP while the daemon with their gateway is killed and started again.
@Suite(.timeLimit(.minutes(4)), .endsProcesses) struct HTTPClientTests {
    @Test func `a student and a teacher over HTTP outlive a killed daemon, and end with its board`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let port = try FreePort.find()
            func daemon(_ name: String) async throws -> DaemonProcess {
                let daemon = try await DaemonProcess.serving(
                    name, nats: nats.url, http: "127.0.0.1:\(port)", ["cohorts.default.gate=auto"])
                _ = try await daemon.httpPort()
                return daemon
            }
            let first = try await daemon("first")
            let gateway = try Gateway(url: try #require(URL(string: "http://127.0.0.1:\(port)/")))
            let (room, author) = (try #require(RoomID("physics")), try #require(AuthorID("anna")))
            let file = try TestFiles.url("outbox")
            let teacher = Teacher(
                gateway: gateway, room: room, author: author,
                outbox: try OutboxFile(path: file.path, room: room, author: author))
            let strokes = 20
            let (halves, half) = AsyncStream.makeStream(of: Void.self)
            let (losses, loss) = AsyncStream.makeStream(of: Void.self)

            let teaching = Task {
                var applied = 0
                return try await teacher.run { event, playout in
                    switch event {
                    case .drawing(.writer(.writer)) where applied == 0:
                        for line in 0..<strokes / 2 { Self.draw(teacher, line) }
                    case .drawing(.applied):
                        applied += 1
                        if applied == strokes / 2 { half.yield() }
                    case .board(.connection(.waiting)) where applied == strokes / 2:
                        // Without a daemon.
                        applied += 1000
                        for line in strokes / 2..<strokes { Self.draw(teacher, line) }
                        loss.yield()
                    default: break
                    }
                    return playout.board.index < UInt64(strokes)
                }
            }
            let student = Student(gateway: gateway, room: room, cohort: .main)
            let following = Task {
                var indices: [UInt64] = []
                let playout = try await student.follow { event, playout in
                    if case .applied(let operation, _, _) = event { indices.append(operation.index) }
                    return playout.board.index < UInt64(strokes)
                }
                return (playout, indices)
            }
            for await _ in halves { break }
            await first.kill()
            for await _ in losses { break }
            let second = try await daemon("second")

            let taught = try await teaching.value
            let (seen, indices) = try await following.value
            let board = try await HTTPClient(port: port).get("/api/rooms/physics/board.json?cohort=head")
            let reply = try JoinReply(decoding: board.bytes)
            #expect(reply.index == UInt64(strokes))
            #expect(taught.board.digest == reply.digest && seen.board.digest == reply.digest)
            #expect(seen.room == reply.room && seen.board.visible.count == strokes)
            // None came twice.
            #expect(indices == indices.sorted() && Set(indices).count == indices.count)
            #expect(await second.terminate() == 0)
        }
    }

    private static func draw(_ teacher: Teacher, _ line: Int) {
        teacher.withSession { session, now in
            let y = 20 + Double(line) * 10
            _ = session.penDown(.init(id: 1, kind: .pen), .init(x: 10, y: y, time: 0), time: nil)
            _ = session.penMoved(1, kind: .pen, [.init(x: 60, y: y, time: 8)], at: now)
            _ = session.penUp(1, at: now)
        }
    }
}
