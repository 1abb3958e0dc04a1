import ClientRuntime
import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternClient

@Suite("A student over NATS", .timeLimit(.minutes(4))) struct StudentNATSTests {
    private func room(_ count: Int) throws -> ModelRoom {
        var room = try #require(ModelRoom(room: "r", isClearUndoable: false, tail: 100, seed: 1))
        for _ in 0..<count { room.act() }
        return room
    }

    @Test func `joins, applies what is released, and mends what is lost`() async throws {
        try await FakeService.with(room: room(60)) { server, service, connection in
            for _ in 0..<20 { try service.release() }
            try await service.connection.flush()
            let student = Student(connection: connection, address: try Wire.address(), cohort: .main, logger: .silent)
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

    @Test func `joins again after the server was away`() async throws {
        try await FakeService.with(room: room(30)) { server, service, connection in
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

    @Test func `a join without a service fails because nobody answers`() async throws {
        try await NATSTestServer.withConnection { server, connection in
            let student = Student(connection: connection, address: try Wire.address(), cohort: .main, logger: .silent)
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

    @Test func `the client in the documentation is the one that the tests build`() throws {
        let page = try String(
            contentsOfFile: PackageRoot.path(to: "Sources/LecternClient/LecternClient.docc/LecternClient.md"),
            encoding: .utf8)
        for file in ["Package.swift", "Sources/follow/Follow.swift"] {
            let source = try String(
                contentsOfFile: PackageRoot.path(to: "Tests/ClientExample/\(file)"), encoding: .utf8)
            #expect(page.contains("```swift\n\(source)```\n"), "\(file)")
        }
    }
}

@Suite("The queue of what happens outside", .timeLimit(.minutes(4))) struct EventQueueTests {
    @Test func `gives events in order, from any thread`() async {
        let queue = EventQueue<Int>()
        var reader = queue.reader()
        Task.detached { for number in 0..<1000 { queue.put(number) } }
        for number in 0..<1000 {
            let event = await reader.next(until: nil)
            #expect(event == number)
        }
    }

    @Test func `wakes its reader at the deadline, and not for an alarm of the past`() async {
        let queue = EventQueue<Int>()
        var reader = queue.reader()
        let start = ContinuousClock.now
        let nothing = await reader.next(until: start + .milliseconds(30))
        #expect(nothing == nil)
        #expect(start.duration(to: .now) >= .milliseconds(30))
        // This alarm is replaced before it fires; the event comes first.
        queue.put(1)
        let first = await reader.next(until: .now + .milliseconds(20))
        #expect(first == 1)
        let second = ContinuousClock.now + .milliseconds(60)
        let late = await reader.next(until: second)
        #expect(late == nil)
        #expect(ContinuousClock.now >= second)
    }

    @Test("a deadline that has passed wakes when what was queued before is taken, and before what comes later")
    func past() async {
        let queue = EventQueue<Int>()
        for number in 1...2 { queue.put(number) }
        var reader = queue.reader()
        let past = ContinuousClock.now - .seconds(1)
        var taken: [Int?] = [await reader.next(until: past)]
        queue.put(3)
        for _ in 0..<4 { taken.append(await reader.next(until: past)) }
        #expect(taken == [1, 2, nil, 3, nil])
    }

    @Test func `a reader that is slower than its deadlines gets all that is queued`() async {
        let queue = EventQueue<Int>()
        for number in 0..<100 { queue.put(number) }
        var reader = queue.reader()
        for number in 0..<100 {
            // As if the handler of the event before had taken longer than its time: a new deadline, and it has passed.
            let event = await reader.next(until: .now - .microseconds(number))
            #expect(event == number)
        }
        let nothing = await reader.next(until: .now - .seconds(1))
        #expect(nothing == nil)
        queue.put(100)
        let event = await reader.next(until: nil)
        #expect(event == 100, "alarms of the past are passed over")
    }

    @Test func `a full queue wakes its reader at a deadline all the same`() async {
        let queue = EventQueue<Int>(bound: 1)
        queue.put(1)
        var reader = queue.reader()
        let past = ContinuousClock.now - .seconds(1)
        let first = await reader.next(until: past)
        let second = await reader.next(until: past)
        #expect(first == 1 && second == nil)
    }

    @Test func `drops what comes beyond its bound, and counts it`() async {
        let queue = EventQueue<Int>(bound: 10)
        for number in 0..<15 { queue.put(number) }
        #expect(queue.dropped == 5)
        var reader = queue.reader()
        for number in 0..<10 {
            let event = await reader.next(until: nil)
            #expect(event == number)
        }
    }

    @Test func `a dropped event wakes a reader that waits, once`() async throws {
        let queue = EventQueue<Int>(bytes: 10)
        var reader = queue.reader()
        Task.detached { for _ in 0..<2 { queue.put(1, bytes: 11) } }
        let deadline = ContinuousClock.now + .hangLimit
        while queue.dropped < 2 {
            let event = await reader.next(until: deadline)
            #expect(event == nil)
            guard ContinuousClock.now < deadline else { throw Unexpected("the reader was not woken") }
        }
        queue.put(2)
        // The second one may have come after the reader was told of the first.
        var event = await reader.next(until: deadline)
        if event == nil { event = await reader.next(until: deadline) }
        #expect(event == 2)
        let nothing = await reader.next(until: .now - .seconds(1))
        #expect(nothing == nil && queue.dropped == 2)
    }

    @Test func `a cancelled reader gets nothing any more`() async {
        let queue = EventQueue<Int>()
        let task = Task {
            var reader = queue.reader()
            return await reader.next(until: nil)
        }
        task.cancel()
        let event = await task.value
        #expect(event == nil)
    }
}
