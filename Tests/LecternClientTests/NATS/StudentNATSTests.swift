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
            let service = FakeService(try await Wire.connect(server), try Wire.address(), room: try room(60))
            _ = try service.serve()
            for _ in 0..<20 { try service.release() }
            try await service.connection.flush()
            let connection = try await Wire.connect(server)
            let student = Student(
                connection: connection, address: try Wire.address(), cohort: .main, logger: Wire.logger)
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
            await connection.close()
            await service.connection.close()
        }
    }

    @Test("joins again after the server was away")
    func restart() async throws {
        try await NATSTestServer.with { server in
            let service = FakeService(try await Wire.connect(server), try Wire.address(), room: try room(30))
            _ = try service.serve()
            for _ in 0..<10 { try service.release() }
            try await service.connection.flush()
            let connection = try await Wire.connect(server)
            let student = Student(
                connection: connection, address: try Wire.address(), cohort: .main, joinTimeout: .milliseconds(500),
                logger: Wire.logger)
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
            await connection.close()
            await service.connection.close()
        }
    }

    @Test("who joins where nothing serves is told that nobody answers")
    func unanswered() async throws {
        try await NATSTestServer.with { server in
            let connection = try await Wire.connect(server)
            let student = Student(
                connection: connection, address: try Wire.address(), cohort: .main, logger: Wire.logger)
            var isTold = false
            let session = try await student.follow { event, _ in
                guard case .problem(.joinFailed(.unanswered)) = event else { return true }
                isTold = true
                return false
            }
            #expect(isTold)
            #expect(session.report.joins == 0)
            await connection.close()
        }
    }

    @Test("who follows the head sees every operation from the first")
    func head() async throws {
        try await NATSTestServer.with { server in
            let service = FakeService(try await Wire.connect(server), try Wire.address(), room: try room(25))
            let connection = try await Wire.connect(server)
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
            await connection.close()
            await service.connection.close()
        }
    }
}
