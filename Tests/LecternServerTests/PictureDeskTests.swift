import Dispatch
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct PictureDeskTests {
    /// What was answered, in order; may keep the desk's thread busy.
    private final class Counter: Sendable {
        enum Answer: Sendable, Equatable {
            case file([UInt8])
            case refused(RequestError)
        }

        private let answers: AsyncStream<(String, Answer)>
        private let sink: AsyncStream<(String, Answer)>.Continuation
        /// Passed by every answer but the refused ones.
        let gate = DispatchSemaphore(value: 0)

        init() {
            (answers, sink) = AsyncStream.makeStream()
        }

        var desk: PictureDesk.Answers {
            PictureDesk.Answers(
                send: { [self] file, reply in
                    sink.yield((reply, .file(file)))
                    gate.wait()
                },
                refuse: { [self] reply, error in sink.yield((reply, .refused(error))) })
        }

        func next(_ count: Int = 1) async throws -> [String: Answer] {
            let answers = answers
            return try await withDeadline(.seconds(60)) {
                var some: [String: Answer] = [:]
                for await (reply, answer) in answers {
                    some[reply] = answer
                    if some.count == count { break }
                }
                return some
            }
        }

        func open(_ count: Int) {
            for _ in 0..<count { gate.signal() }
        }
    }

    private func subject(width: Int? = nil) throws -> PictureSubject {
        guard let id = RoomID("room") else { throw Unexpected("not a room") }
        return PictureSubject(
            room: PictureSubject.RoomLife(room: id, incarnation: "test"), cohort: .main, width: width)
    }

    private func desk(_ counter: Counter, budget: Budget = Budget(100)) -> PictureDesk {
        PictureDesk(ServerConfiguration(), budget: budget, answers: counter.desk)
    }

    private func file(of board: Board) throws -> [UInt8] {
        try BoardRenderer(ServerConfiguration(), byteLimit: 64 << 20)
            .png(of: board, subject(), at: MonotonicClock.now())
    }

    @Test func `orders that wait for the same picture get one file, of the newest board among them`() async throws {
        let counter = Counter()
        let desk = desk(counter)
        var room = DrawnRoom()
        try room.draw()
        // The thread is busy with another picture until the gate opens.
        desk.order(try subject(width: 10), of: room.board, reply: "other")
        _ = try await counter.next()
        for number in 1...8 {
            desk.order(try subject(), of: room.board, reply: "\(number)")
            try room.draw()
        }
        desk.order(try subject(), of: room.board, reply: "9")
        counter.open(10)
        let answers = try await counter.next(9)
        let newest = try file(of: room.board)
        #expect(answers.keys.sorted() == (1...9).map(String.init))
        #expect(answers.values.allSatisfy { $0 == .file(newest) })
        desk.close()
    }

    @Test func `an order that comes while an older board is handed out gets the newer one`() async throws {
        let counter = Counter()
        let desk = desk(counter)
        var room = DrawnRoom()
        try room.draw()
        let old = room.board
        desk.order(try subject(), of: old, reply: "early")
        #expect(try await counter.next() == ["early": .file(file(of: old))])
        try room.draw()
        desk.order(try subject(), of: room.board, reply: "late")
        counter.open(2)
        #expect(try await counter.next() == ["late": .file(file(of: room.board))])
        desk.close()
    }

    @Test func `a newer board supersedes a long drawing of an older one`() async throws {
        let counter = Counter()
        let desk = desk(counter)
        var room = DrawnRoom()
        try room.draw(3000)
        let long = room.board
        try room.clear()
        counter.open(2)
        desk.order(try subject(), of: long, reply: "old")
        desk.order(try subject(), of: room.board, reply: "new")
        let blank = try file(of: room.board)
        #expect(try await counter.next(2) == ["old": .file(blank), "new": .file(blank)])
        desk.close()
    }

    @Test func `orders beyond the budget are refused, and those that were answered make place`() async throws {
        let counter = Counter()
        let places = Budget(2)
        let desk = desk(counter, budget: places)
        var room = DrawnRoom()
        try room.draw()
        for number in 1...3 { desk.order(try subject(width: number), of: room.board, reply: "\(number)") }
        counter.open(2)
        let answers = try await counter.next(3)
        guard case .refused(let error) = answers["3"] else {
            Issue.record("the third order was not refused")
            return
        }
        #expect(error.code == .notReady)
        desk.close()
        #expect(places.take() && places.take() && !places.take())
    }

    @Test func `closing waits for no long drawing, and refuses whoever still waits`() async throws {
        let counter = Counter()
        let desk = desk(counter)
        var room = DrawnRoom()
        try room.draw(3000)
        desk.order(try subject(), of: room.board, reply: "long")
        desk.order(try subject(width: 50), of: room.board, reply: "waiting")
        counter.open(2)
        desk.close()
        for (_, answer) in try await counter.next(2) {
            guard case .refused(let error) = answer else {
                Issue.record("the drawing was finished first")
                continue
            }
            #expect(error.code == .notReady)
        }
    }

    @Test func `canvases that nobody asks for are given back`() async throws {
        let renderer = BoardRenderer(ServerConfiguration(), byteLimit: 64 << 20)
        let easel = Easel(renderer, name: "test", idleTime: .milliseconds(20))
        var room = DrawnRoom()
        try room.draw(3)
        let board = room.board
        let subject = try subject()
        let drawn = AsyncStream<Int> { stream in
            easel.draw { renderer in
                _ = try? renderer.png(of: board, subject, at: MonotonicClock.now())
                stream.yield(renderer.byteCount)
                stream.finish()
            }
        }
        for await bytes in drawn { #expect(bytes > 0) }
        try await withDeadline(.seconds(10)) {
            while !renderer.isEmpty { await Task.yield() }
        }
    }
}
