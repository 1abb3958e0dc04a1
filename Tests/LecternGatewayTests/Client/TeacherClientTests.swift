import Foundation
import Locking
import StrokeWire
import TestSupport
import Testing

@testable import ClientCore
@testable import LecternHTTPClient

/// Teachers over HTTP, with a real gateway and a real service.
@Suite("A teacher over HTTP", .timeLimit(.minutes(4))) struct TeacherClientTests {
    private static let room = RoomID("r")!
    private static let author = AuthorID("bea")!

    private func teacher(_ port: Int, outbox: OutboxFile? = nil) throws -> Teacher {
        let gateway = try Gateway(url: try #require(URL(string: "http://127.0.0.1:\(port)")))
        return Teacher(gateway: gateway, room: Self.room, author: Self.author, outbox: outbox)
    }

    private func board(_ lesson: RunningClass) async throws -> JoinReply {
        try JoinReply(decoding: try await lesson.gateway.http.get("/api/rooms/r/board.json?cohort=head").bytes)
    }

    private func temporaryPath() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID())").path
    }

    /// Draws a stroke of some points with a pen.
    private func draw(_ teacher: Teacher, _ y: Double) {
        teacher.withSession { session, now in
            let began = session.penDown(.init(id: 1, kind: .pen), .init(x: 10, y: y, time: 0, force: 0.5), time: nil)
            #expect(began.hasBegun)
            let samples = (1...5).map { Pen.Sample(x: 10 + Double($0) * 3, y: y, time: Double($0) * 8, force: 0.5) }
            _ = session.penMoved(1, kind: .pen, samples, predicted: [.init(x: 30, y: y, time: 48)], at: now)
            let ended = session.penUp(1, at: now)
            #expect(ended.hasEnded)
        }
    }

    @Test func `strokes of a pen and commands are in the room, and on the teacher's board`() async throws {
        try await RunningClass.with { lesson in
            let teacher = try teacher(lesson.gateway.port)
            var applied: [UInt64] = []
            let playout = try await teacher.run { event, playout in
                switch event {
                case .drawing(.writer(.writer)):
                    for line in 1...3 { draw(teacher, Double(line) * 20) }
                    teacher.withSession { session, now in
                        #expect(session.live.count == 3)
                        let isUndone = session.perform(.undo, time: nil, at: now)
                        #expect(isUndone && session.live.count == 2)
                        let isTurned = session.perform(.turn(1), time: nil, at: now)
                        #expect(isTurned)
                    }
                    draw(teacher, 90)
                case .drawing(.applied(_, let index)): applied.append(index)
                case .drawing(.rejected(let number, let code, _, _)): Issue.record("\(number): \(code)")
                default: break
                }
                return applied.count < 6 || playout.board.index < 6
            }
            #expect(applied == Array(1...6))
            let board = try await board(lesson)
            #expect(board.index == 6 && board.digest == playout.board.digest)
            #expect(playout.board.pages.shown == 1 && playout.board.visible(on: 0).count == 2)
            #expect(teacher.withSession { session, _ in session.waitingCount } == 0)
        }
    }

    @Test func `students see the stroke under the pen while it is drawn`() async throws {
        try await RunningClass.with { lesson in
            // A room that nobody has written to shows nothing of strokes being drawn.
            try lesson.draw(1...1)
            try await eventually("the room is there", is: await board(lesson).index == 1)
            let teacher = try teacher(lesson.gateway.port)
            let running = Task {
                try await teacher.run { event, _ in
                    if case .drawing(.writer(.writer)) = event {
                        teacher.withSession { session, now in
                            _ = session.penDown(.init(id: 1, kind: .pen), .init(x: 1, y: 1, time: 0), time: nil)
                            let samples = (1...9).map { Pen.Sample(x: Double($0) * 3, y: 1, time: Double($0) * 8) }
                            _ = session.penMoved(1, kind: .pen, samples, at: now)
                        }
                    }
                    return true
                }
            }
            let gateway = try Gateway(url: try #require(URL(string: "http://127.0.0.1:\(lesson.gateway.port)")))
            let student = Student(gateway: gateway, room: Self.room, feed: .head)
            _ = try await student.follow(for: .hangLimit) { event, playout in
                guard case .grew(let author, _, let points) = event else { return true }
                #expect(author == Self.author && playout.board.index == 1)
                return points < 9
            }
            // The end of the run gives the stroke up: it is in nobody's way.
            running.cancel()
            _ = try await running.value
            #expect(teacher.withSession { session, _ in session.drawn == nil && session.waitingCount == 0 })
        }
    }

    @Test func `strokes drawn without a connection arrive once, when there is one again`() async throws {
        try await RunningClass.with { lesson in
            let proxy = try HoldingProxy(to: lesson.gateway.port)
            let path = temporaryPath()
            defer { try? FileManager.default.removeItem(atPath: path) }
            let teacher = try teacher(
                proxy.port, outbox: try OutboxFile(path: path, room: Self.room, author: Self.author))
            var isOffline = false
            var applied: [UInt64] = []
            let playout = try await teacher.run { event, playout in
                switch event {
                case .drawing(.writer(.writer)) where !isOffline:
                    isOffline = true
                    proxy.close(true)
                    for line in 1...4 { draw(teacher, Double(line) * 20) }
                case .drawing(.sending(.waiting(let failure, _))):
                    #expect(failure.status == 0 && applied.isEmpty)
                    #expect(teacher.withSession { session, _ in session.live.count } == 4)
                    proxy.close(false)
                case .drawing(.applied(_, let index)): applied.append(index)
                default: break
                }
                return applied.count < 4 || playout.board.index < 4
            }
            #expect(applied == [1, 2, 3, 4])
            let board = try await board(lesson)
            #expect(board.index == 4 && board.digest == playout.board.digest)
        }
    }

    @Test func `strokes of a killed process go out with the next one, once`() async throws {
        try await RunningClass.with { lesson in
            let (path, copy) = (temporaryPath(), temporaryPath())
            defer { for path in [path, copy] { try? FileManager.default.removeItem(atPath: path) } }
            let proxy = try HoldingProxy(to: lesson.gateway.port)
            let first = try teacher(
                proxy.port, outbox: try OutboxFile(path: path, room: Self.room, author: Self.author))
            var isKept = false
            _ = try await first.run { event, _ in
                switch event {
                case .drawing(.writer(.writer)):
                    proxy.close(true)
                    for line in 1...3 { draw(first, Double(line) * 20) }
                case .drawing(.sending(.waiting)):
                    // The file as a kill leaves it, while all runs; what is sent was stored before.
                    isKept = true
                    do { try FileManager.default.copyItem(atPath: path, toPath: copy) } catch { Issue.record(error) }
                    return false
                default: break
                }
                return true
            }
            #expect(isKept)
            let second = try teacher(
                lesson.gateway.port, outbox: try OutboxFile(path: copy, room: Self.room, author: Self.author))
            var applied = 0
            let playout = try await second.run { event, playout in
                if case .drawing(.applied) = event { applied += 1 }
                if case .drawing(.writer(.writer)) = event { draw(second, 150) }
                return applied < 4 || playout.board.index < 4
            }
            let board = try await board(lesson)
            #expect(applied == 4 && board.index == 4 && board.digest == playout.board.digest)
        }
    }

    @Test func `only one run at a time, and a second one after it`() async throws {
        try await RunningClass.with { lesson in
            let teacher = try teacher(lesson.gateway.port)
            for page in 1...2 {
                let isRefused = Locked<Bool?>(nil)
                _ = try await teacher.run { event, _ in
                    if case .drawing(.writer(.writer)) = event {
                        Task {
                            do throws(LecternHTTPClient.GatewayError) {
                                _ = try await teacher.run { _, _ in false }
                            } catch {
                                isRefused.withLock { $0 = error.code == "already-running" }
                            }
                            // Something happens, so that the first run looks.
                            teacher.withSession { session, now in _ = session.perform(.turn(page), time: nil, at: now) }
                        }
                    }
                    return isRefused.withLock { $0 } == nil
                }
                #expect(isRefused.withLock { $0 } == true)
            }
        }
    }
}

/// The file of a teacher's outbox.
@Suite("A file with a teacher's outbox") struct OutboxFileTests {
    private static let room = RoomID("r")!
    private static let author = AuthorID("bea")!

    private func path() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID())").path
    }

    private func record(_ number: Int64, _ text: String) -> StoredOperation {
        StoredOperation(OperationKey(session: "s", number: number), bytes: Array("w\n\(text)".utf8))
    }

    /// Some writes, and what is stored after each.
    private func fill(_ log: inout DrawingLog) throws -> [(size: Int, numbers: [Int64])] {
        var states: [(size: Int, numbers: [Int64])] = [(log.size, [])]
        try log.append([.record(record(1, "one\\n")), .record(record(2, "two {} "))])
        states.append((log.size, [1, 2]))
        try log.append([.writes(here: true)])
        states.append((log.size, [1, 2]))
        try log.append([.deleted(record(1, "").key), .record(record(3, "three"))])
        states.append((log.size, [2, 3]))
        return states
    }

    @Test func `a write is stored whole or not at all, wherever the file ends`() throws {
        let path = path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var states: [(size: Int, numbers: [Int64])] = []
        do {
            var log = try DrawingLog(path: path, owner: "bea in r")
            states = try fill(&log)
            let whole = try log.contents()
            #expect(whole.writesHere && whole.records == [record(2, "two {} "), record(3, "three")])
        }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for length in 0...bytes.count {
            try bytes.prefix(length).write(to: URL(fileURLWithPath: path))
            var log = try DrawingLog(path: path, owner: "bea in r")
            let expected = states.last { $0.size <= length }?.numbers ?? []
            #expect(try log.contents().records.map(\.key.number) == expected, "\(length)")
            // What is appended now stands behind what was whole.
            try log.append([.record(record(9, "nine"))])
            #expect(try log.contents().records.map(\.key.number) == expected + [9])
        }
    }

    @Test func `the file stays small, whatever goes through it`() throws {
        let path = path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var log = try DrawingLog(path: path, owner: "bea in r")
        let text = String(repeating: "x", count: 100_000)
        var greatest = 0
        for number in 1...100 as ClosedRange<Int64> {
            try log.append([.record(record(number, text))])
            if number > 3 { try log.append([.deleted(record(number - 3, "").key)]) }
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            greatest = max(greatest, try #require(size))
            #expect(size == log.size)
        }
        #expect(greatest < 3 << 20)
        #expect(try log.contents().records.map(\.key.number) == [98, 99, 100])
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }

    @Test func `a file that cannot be written anew goes on, and leaves nothing beside it`() throws {
        let path = path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createSymbolicLink(atPath: path + ".new", withDestinationPath: "/dev/full")
        var log = try DrawingLog(path: path, owner: "bea in r")
        let text = String(repeating: "x", count: 100_000)
        for number in 1...20 as ClosedRange<Int64> {
            try log.append([.record(record(number, text)), .deleted(record(number - 1, "").key)])
        }
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
        // It is tried again only when there is more to be won.
        #expect(log.size > 2_000_000)
        for number in 21...30 as ClosedRange<Int64> {
            try log.append([.record(record(number, text)), .deleted(record(number - 1, "").key)])
        }
        #expect(log.size < 1_500_000)
        #expect(try log.contents().records.map(\.key.number) == [30])
    }

    @Test func `a file of somebody else, one in use and one that is damaged are refused`() throws {
        let path = path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        func cause(_ author: String = "bea") -> OutboxFileError.Cause? {
            guard let author = AuthorID(author) else { return nil }
            do throws(OutboxFileError) {
                _ = try OutboxFile(path: path, room: Self.room, author: author)
                return nil
            } catch {
                return error.cause
            }
        }
        do {
            let file = try OutboxFile(path: path, room: Self.room, author: Self.author)
            #expect(cause() == .inUse)
            #expect(file.store(OutboxWrite(id: 1, records: [record(1, "one")], deleted: [])))
            file.note(writesHere: true)
            #expect(file.load()?.records == [record(1, "one")] && file.load()?.writesHere == true)
        }
        #expect(cause("anna") == .otherOwner("bea in r"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let second = try #require(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 12
        bytes[second] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(cause() == .damaged(line: 2))
        try Data("something else\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(cause() == .notAnOutbox)
    }
}
