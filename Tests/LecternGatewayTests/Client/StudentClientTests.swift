// The client over HTTP, with a real gateway and service, and before servers that do as a test says.

import Foundation
import Locking
import NATSClient
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternHTTPClient

/// Students over HTTP, with a real gateway and a real service, and before servers that do as a test says.
@Suite("A student over HTTP", .timeLimit(.minutes(4))) struct StudentClientTests {
    private static let room = RoomID("r")!

    private func student(
        _ port: Int, _ feed: RoomFeed = .cohort(.main), silenceLimit: Duration? = nil
    ) throws -> Student {
        let gateway = try Gateway(url: try #require(URL(string: "http://127.0.0.1:\(port)")))
        return Student(
            gateway: gateway, room: Self.room, feed: feed, maximumHold: BoardPlayout.maximumHold,
            silenceLimit: silenceLimit)
    }

    private func board(_ lesson: RunningClass, _ cohort: String = "main") async throws -> JoinReply {
        try JoinReply(decoding: try await lesson.gateway.http.get("/api/rooms/r/board.json?cohort=\(cohort)").bytes)
    }

    @Test("has the gateway's board: strokes, undo, pages and a clear", arguments: [RoomFeed.cohort(.main), .head])
    func sameBoard(feed: RoomFeed) async throws {
        try await RunningClass.with { lesson in
            try lesson.draw(1...20)
            try lesson.publish(#"{"n":21,"a":2,"t":1000}"#)
            // Who joins an empty room learns its incarnation from the next mark only.
            let name = feed == .head ? "head" : "main"
            try await eventually("the board is there", is: await board(lesson, name).index == 21)
            let student = try student(lesson.gateway.port, feed)
            var isDrawn = false
            let playout = try await student.follow(for: .hangLimit) { event, playout in
                if case .joined = event, !isDrawn {
                    isDrawn = true
                    do {
                        try lesson.draw(22...40)
                        try lesson.publish(#"{"n":41,"a":4,"t":1000}"#)
                        try lesson.publish(#"{"n":42,"a":5,"g":1,"t":1000}"#)
                        try lesson.draw(43...50)
                        try lesson.publish(#"{"n":51,"a":2,"t":1000}"#)
                    } catch {
                        Issue.record(error)
                    }
                }
                return playout.board.index < 51
            }
            let reply = try await board(lesson, name)
            #expect(playout.board.index == 51 && reply.index == 51)
            #expect(playout.board.digest == reply.digest && playout.room == reply.room)
            #expect(playout.board.pages.shown == 1)
        }
    }

    @Test func `goes on after the last operation when connections break, without a gap or a repeat`() async throws {
        try await RunningClass.with { lesson in
            let proxy = try HoldingProxy(to: lesson.gateway.port)
            let student = try student(proxy.port)
            var indices: [UInt64] = []
            var joins = 0
            var drawn = 0
            func draw() {
                drawn += 5
                do { try lesson.draw(drawn - 4...drawn) } catch { Issue.record(error) }
            }
            let playout = try await student.follow(for: .hangLimit) { event, playout in
                switch event {
                case .joined:
                    joins += 1
                    draw()
                case .applied(let operation, _, let digest):
                    indices.append(operation.index)
                    #expect(operation.digest == digest)
                    // In the middle of what was drawn last: the rest comes over the next connection.
                    if drawn < 25, operation.index == drawn - 2 { proxy.cut() }
                case .connection(.live) where joins > 0 && drawn < 25: draw()
                default: break
                }
                return playout.board.index < 25
            }
            #expect(indices == Array(1...25))
            #expect(joins == 1)
            #expect(proxy.count == 5)
            let board = try await board(lesson)
            #expect(playout.board.digest == board.digest)
        }
    }

    @Test func `finds a connection that is silent, and is in step again over the next one`() async throws {
        try await RunningClass.with { lesson in
            let proxy = try HoldingProxy(to: lesson.gateway.port)
            // Marks and comments come more rarely: here a connection may be taken for dead that is not.
            let student = try student(proxy.port, silenceLimit: .seconds(3))
            var isHeld = false
            var reasons: [String] = []
            let playout = try await student.follow(for: .hangLimit) { event, playout in
                switch event {
                case .joined where !isHeld:
                    isHeld = true
                    proxy.hold(true)
                    do { try lesson.draw(1...10) } catch { Issue.record(error) }
                case .connection(.waiting(let error, _)):
                    reasons.append(error.code)
                    #expect(playout.board.index == 0)
                    proxy.hold(false)
                default: break
                }
                return playout.board.index < 10
            }
            #expect(reasons.first == "timeout")
            let board = try await board(lesson)
            #expect(playout.board.digest == board.digest && board.index == 10)
        }
    }

    @Test func `holds what the player has not reached, in the joined board and after it`() async throws {
        try await RunningClass.with { lesson in
            try lesson.draw(1...1, at: 1000)
            try lesson.draw(2...2, at: 2000)
            try await eventually("the board has both", is: await board(lesson).index == 2)
            let student = try student(lesson.gateway.port)
            let time = Locked(1500)
            let looks = Locked(-1)
            var unveiled: [UInt64] = []
            let player: () -> MediaTime? = {
                let count = looks.withLock { looks in
                    if looks >= 0 { looks += 1 }
                    return looks
                }
                // It is asked while something waits, and reaches that in the end.
                if count == 5 { time.withLock { $0 = 3500 } }
                return MediaTime(milliseconds: Double(time.withLock { $0 }))
            }
            let playout = try await student.follow(for: .hangLimit, player: player) { event, playout in
                switch event {
                case .joined(_, let index, _, let visible):
                    #expect(index == 2 && visible == 2 && playout.veiled == [2])
                    time.withLock { $0 = 2500 }
                case .unveiled(let stroke):
                    unveiled.append(stroke.index)
                    looks.withLock { $0 = 0 }
                    do { try lesson.draw(3...3, at: 3000) } catch { Issue.record(error) }
                case .applied(let operation, _, _):
                    #expect(operation.index == 3)
                    #expect(time.withLock { $0 } == 3500)
                    return false
                default: break
                }
                return true
            }
            #expect(unveiled == [2])
            #expect(playout.board.index == 3 && playout.veiled.isEmpty)
        }
    }

    @Test func `lets a stroke grow that is being drawn, until its operation replaces it`() async throws {
        try await RunningClass.with { lesson in
            let student = try student(lesson.gateway.port, .head)
            var grown: [Int] = []
            _ = try await student.follow(for: .hangLimit) { event, playout in
                switch event {
                case .joined where grown.isEmpty:
                    do { try lesson.draw(1...1) } catch { Issue.record(error) }
                case .applied(let operation, _, _) where operation.index == 1:
                    let update =
                        #"{"n":2,"u":1,"k":0,"c":1,"l":3,"t":1000,"d":[{"x":1,"y":1,"m":0},{"x":2,"y":1,"m":9}]}"#
                    do {
                        try lesson.teacher.publish(
                            Array(update.utf8), to: lesson.address.subject(.wetInput(lesson.author)))
                    } catch {
                        Issue.record(error)
                    }
                case .grew(let author, let number, let points):
                    #expect(author == lesson.author && number == 2)
                    grown.append(points)
                    if points == 2 { do { try lesson.draw(2...2) } catch { Issue.record(error) } }
                case .wetInkChanged where playout.board.index == 2:
                    // Its wet stroke is gone.
                    return false
                default: break
                }
                return true
            }
            #expect(grown.last == 2)
        }
    }

    @Test func `ends when its task is cancelled, and leaves no reader at the gateway`() async throws {
        try await RunningClass.with { lesson in
            let student = try student(lesson.gateway.port)
            let (joined, isJoined) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await student.follow { event, _ in
                    if case .joined = event { isJoined.yield() }
                    return true
                }
            }
            for await _ in joined { break }
            task.cancel()
            let playout = try await task.value
            #expect(playout.isJoined)
            _ = try await eventually("the reader is gone") {
                let readers = try await lesson.gateway.http.get("/api/rooms/r/readers").text
                return readers.contains(#""main":1"#) ? nil : true
            }
        }
    }

    @Test func `ends where the gateway does not permit it, and says why`() async throws {
        let body = #"{"error":{"code":"unauthorized","message":"A token is needed."}}"#
        let server = try ScriptedServer.answering { _ in
            "HTTP/1.1 401 Unauthorized\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let student = try student(server.port)
        let error = await #expect(throws: LecternHTTPClient.GatewayError.self) {
            try await student.follow { _, _ in true }
        }
        #expect(error?.code == "unauthorized" && error?.message == "A token is needed." && error?.status == 401)
    }

    private static let emptyBoard =
        ##"{"room":"life","index":0,"digest":"0000000000000000","palette":["#000000"],"style":"smooth","board":{"w":400,"h":300},"visible":[],"redo":[]}"##

    /// Streams of servers that are broken or hostile, none of which may change the board.
    @Test(arguments: [
        "event: board\nid: life:0\ndata: nonsense\n\n", "event: board\nid: life:0\ndata: {\"room\":\"life\"}\n\n",
        "event: board\nid: life:0\ndata: \(emptyBoard)\n\nevent: op\nid: life:7\ndata: {\"index\":7,\"author\":\"a\",\"message\":{\"n\":1,\"a\":4}}\n\n",
        "event: board\nid: life:0\ndata: \(emptyBoard)\n\nevent: op\nid: life:1\ndata: {\"index\":1,\"author\":\"a\",\"message\":[[[[\n\n",
        "event: board\nid: life:0\ndata: \(emptyBoard)\n\nevent: op\nid: life:1\ndata: {\"index\":1,\"author\":\"a\",\"ref\":99,\"digest\":\"1111111111111111\",\"message\":{\"n\":1,\"a\":2}}\n\n",
        "event: board\nid: life:0\ndata: \(emptyBoard)\n\nevent: mark\ndata: {\"room\":\"life\",\"index\":0,\"digest\":\"1111111111111111\",\"v\":null}\n\n",
    ])
    func `begins anew where events make no sense`(events: String) async throws {
        let requests = Locked<[String]>([])
        let server = try ScriptedServer.answering { request in
            requests.withLock { $0.append(request) }
            return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n\(events)"
        }
        var problems: [StudentProblem] = []
        let playout = try await student(server.port).follow(for: .hangLimit) { event, _ in
            if case .problem(let problem) = event { problems.append(problem) }
            return problems.count < 3
        }
        #expect(playout.board.index == 0)
        for problem in problems {
            if case .divergence = problem { continue }
            Issue.record("\(problem)")
        }
        // From the beginning each time: what came before is not trusted.
        #expect(requests.withLock { $0 }.allSatisfy { !$0.lowercased().contains("last-event-id") })
        #expect(requests.withLock { $0 }.count >= 2)
    }

    @Test func `waits where the answer is no event stream, and says what it is`() async throws {
        for (answer, code) in [
            ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>", "unexpected-answer"),
            ("HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", "unexpected-answer"),
            ("nonsense", "unreachable"),
        ] {
            let server = try ScriptedServer { connection in
                _ = connection.readSome()
                _ = connection.send(answer)
            }
            var seen: GatewayError?
            _ = try await student(server.port).follow(for: .hangLimit) { event, _ in
                if case .connection(.waiting(let error, _)) = event { seen = error }
                return seen == nil
            }
            #expect(seen?.code == code, "\(answer)")
        }
    }

    @Test func `an event without an end is cut off at its bound`() async throws {
        let server = try ScriptedServer { connection in
            guard connection.readSome() != nil,
                connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: board\ndata: ")
            else { return }
            for _ in 0..<260 where !connection.send([UInt8](repeating: 32, count: 1 << 18)) { return }
            while connection.readSome() != nil {}
        }
        var states = 0
        _ = try await student(server.port).follow(for: .hangLimit) { event, _ in
            if case .connection(.connecting) = event { states += 1 }
            return states < 2
        }
        #expect(states == 2)
    }
}
