import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import Synchronization
import Testing

@Suite("A student over NATS", .timeLimit(.minutes(1)))
struct StudentNATSTests {
    private func room(_ count: Int) throws -> ModelRoom {
        var room = try #require(ModelRoom(room: "r", isClearUndoable: false, tail: 100, seed: 1))
        for _ in 0..<count { room.act() }
        return room
    }

    @Test("joins, applies what is released, and mends what is lost")
    func follows() async throws {
        try await NATSTestServer.with { server in
            try await FakeService.with(server, room: room(60)) { service, connection in
                for _ in 0..<20 { try service.release() }
                try await service.connection.flush()
                let student = Student(
                    connection: connection, address: try Wire.address(), cohort: .main, logger: .silent)
                let session = try await student.follow { event, session in
                    do {
                        if case .joined(_, 20, _, _) = event {
                            for index in 21...60 { try service.release(isLost: index == 37 || index == 60) }
                            try service.mark()
                        }
                    } catch {
                        Issue.record(error)
                    }
                    return session.board.index < 60
                }
                #expect(session.digest == service.digest)
                #expect(session.report.applied == 40)
                #expect(session.report.gaps >= 1)
                #expect(session.report.isSound)
            }
        }
    }

    @Test("joins again after the server was away")
    func restart() async throws {
        try await NATSTestServer.with { server in
            try await FakeService.with(server, room: room(30)) { service, connection in
                for _ in 0..<10 { try service.release() }
                try await service.connection.flush()
                let student = Student(
                    connection: connection, address: service.address, cohort: .main, joinTimeout: .milliseconds(500),
                    logger: .silent)
                let (joins, input) = AsyncStream<UInt64>.makeStream()
                async let followed = student.follow { event, session in
                    if case .joined(_, let index, _, _) = event { input.yield(index) }
                    return session.board.index < 30
                }
                for await index in joins where index == 10 { break }
                await server.stop()
                for _ in 11...30 { try service.release(isLost: true) }
                try await server.restart()
                let session = try await followed
                #expect(session.digest == service.digest)
                #expect(session.report.isSound)
                #expect(session.report.divergences == 0)
            }
        }
    }

    @Test("who joins where nothing serves is told that nobody answers")
    func unanswered() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { connection in
                let student = Student(
                    connection: connection, address: try Wire.address(), cohort: .main, logger: .silent)
                var isTold = false
                let session = try await student.follow { event, _ in
                    guard case .problem(.joinFailed(.unanswered)) = event else { return true }
                    isTold = true
                    return false
                }
                #expect(isTold)
                #expect(session.report.joins == 0)
            }
        }
    }

    @Test("who follows the head sees every operation from the first")
    func head() async throws {
        try await NATSTestServer.with { server in
            try await FakeService.with(server, room: room(25)) { service, connection in
                let feed = HeadFeed(connection: connection, address: try Wire.address())
                let isListening = Atomic(false)
                async let followed = feed.follow { _, session in
                    isListening.store(true, ordering: .relaxed)
                    return session.index < 25
                }
                // The feed has no join that would tell when it listens: repeat the first operation until it is there.
                try service.release()
                while !isListening.load(ordering: .relaxed) {
                    try service.releaseAgain()
                    try await connection.flush()
                }
                for _ in 2...25 { try service.release() }
                let session = try await followed
                #expect(session.report.applied == 25)
                #expect(session.report.isSound)
            }
        }
    }
}
