import StrokeWire
import Testing

@testable import LecternClient

@Suite("A publisher that is started again with its outbox")
struct PublisherRestartTests {
    private static let header: OutboxHeader? = AuthorID("a").flatMap { author in
        RoomID("r").map { room in
            OutboxHeader(
                owner: OutboxHeader.Owner(
                    address: RoomAddress(root: "ink", room: room, partitions: 1), author: author),
                session: "s")
        }
    }

    /// Strokes, one of them in shards, an undo, and line breaks and backslashes where JSON has them.
    private func plan() throws -> PublishPlan {
        let lines = [
            #"{"n":1,"t":0,"d":[{"x":1,"y":1}]}"#, #"{"n":2,"t":0,"s":2,"o":0,"d":[{"x":1,"y":1}]}"#,
            #"{"n":2,"t":0,"s":2,"o":1,"d":[{"x":2,"y":"# + " \t" + #"1}],"note":"\\n"}"#, #"{"n":3,"a":2,"t":60}"#,
            #"{"n":4,"t":120,"d":[{"x":3,"y":3}]}"#,
        ]
        return PublishPlan(try Lesson(ndjson: Array(lines.joined(separator: "\n").utf8)))
    }

    private func world(_ plan: PublishPlan) -> VirtualClass {
        var world = VirtualClass(plan, seed: 1)
        world.journal = VirtualJournal()
        world.latency = 3...3
        world.step = .milliseconds(3)
        return world
    }

    private func resumed(_ plan: PublishPlan, _ file: [UInt8], run: String) throws -> TeacherSession {
        let history = try OutboxLines(file).history()
        var session = TeacherSession(
            try history.rest(of: plan), session: "s",
            ids: MessageIDs(room: "r", author: "a", session: "s", run: run), patience: .seconds(10))
        session.resume(history)
        return session
    }

    @Test("goes on where it was, whichever byte of the file was the last one that was written")
    func everyByte() throws {
        let plan = try plan()
        let header = try #require(Self.header).line
        var first = world(plan)
        first.session = try resumed(plan, header, run: "0")
        var file = header
        var writes: [(before: Int, after: Int, world: VirtualClass)] = []
        let isDone = first.run(within: .seconds(60)) { records, world in
            let before = file.count
            file += records.flatMap { OutboxLine.encoded($0.content) }
            writes.append((before, file.count, world))
        }
        #expect(isDone)
        #expect(first.session.report.isComplete)
        let operations = first.session.report.applied

        for length in header.count...file.count {
            // The process ended in the middle of a write; or, at the end of one, at any time before the next.
            let whole = writes.first { $0.after == length }?.world
            let torn = writes.first { $0.after > length }?.world
            for var world in [whole, torn].compactMap({ $0 }) {
                world.replaceTeacher(by: try resumed(plan, Array(file[..<length]), run: "\(length)"))
                let isDone = world.run(within: .seconds(60))
                #expect(isDone)
                let report = world.session.report
                #expect(report.isComplete && report.hasArrived)
                #expect(report.applied == operations)
                // Some may be in the journal once more, for an answer; but never one under its first id.
                let firstIDs = world.journal?.stored.map(\.messageID).filter { !$0.contains("-") } ?? []
                #expect(firstIDs.count == plan.messages.count)
                #expect(Set(world.service.applied).count == world.service.applied.count)
                #expect(world.service.applied == [1, 2, 3, 4])
            }
        }
    }

    @Test("has nothing to do, and the same to say, once everything was settled")
    func finished() throws {
        let plan = try plan()
        var file = try #require(Self.header).line
        var first = world(plan)
        first.session = try resumed(plan, file, run: "0")
        first.service.rejects = [3]
        let isDone = first.run(within: .seconds(60)) { records, _ in
            file += records.flatMap { OutboxLine.encoded($0.content) }
        }
        #expect(isDone)
        var second = try resumed(plan, file, run: "1")
        let step = second.next(at: .zero)
        #expect(step == .finish)
        #expect(second.report.applied == 3)
        #expect(second.report.rejected == [.nothingToUndo: 1])
        #expect(second.report.stored == 5)
        #expect(second.report.lastIndex == 3)
        #expect(!second.report.isComplete)
    }

    @Test("begins with what is left of the lesson at once")
    func times() throws {
        let plan = try plan()
        var history = OutboxHistory()
        for message in plan.messages.prefix(4) { history.append(OutboxRecord(message)) }
        let rest = try history.rest(of: plan)
        #expect(rest.map(\.number) == [4])
        #expect(rest.first?.due == .zero)
        #expect(history.unsettled.map(\.message.number) == [1, 2, 2, 3])
    }

    @Test("refuses a lesson that has another message under a number that went out")
    func otherLesson() throws {
        var history = OutboxHistory()
        history.append(.message(number: 3, order: 0, isStroke: true, bytes: [1]))
        #expect(throws: OutboxHistory.OtherLesson(number: 3)) { try history.rest(of: try plan()) }
    }
}
