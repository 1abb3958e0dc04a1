import Foundation
import StrokeWire
import Testing

@testable import ClientCore
@testable import LecternClient

@Suite("An outbox file") struct OutboxFileTests {
    private let address: RoomAddress
    private let author: AuthorID

    init() throws {
        address = RoomAddress(root: "ink", room: try #require(RoomID("lesson-7")), partitions: 1)
        author = try #require(AuthorID("ann"))
    }

    private let records: [OutboxRecord] = [
        .message(number: 1, order: 0, isStroke: true, bytes: Array("{\"n\":1,\n \"d\":[]}".utf8)),
        .message(number: 2, order: 1024, isStroke: false, bytes: Array("\\n \\\n\n\\".utf8)),
        .stored(number: 1, order: 0), .settled(number: 1, .applied(index: .max)),
        .message(number: 1 << 53, order: 0, isStroke: true, bytes: []), .settled(number: 2, .gaveUp),
        .settled(number: 1 << 53, .rejected(.tooManyPoints)),
    ]

    private func withPath(_ body: (String) throws -> Void) rethrows {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func open(_ path: String, session: String? = nil) throws(OutboxFileError) -> OutboxFile {
        try OutboxFile(path: path, address: address, author: author, session: session)
    }

    private func cause(_ body: () throws -> Void) -> OutboxFileError.Cause? {
        do {
            try body()
        } catch {
            return (error as? OutboxFileError)?.cause
        }
        return nil
    }

    @Test func `gives every kind of record back`() {
        for record in records {
            let line = OutboxLine.encoded(record.content)
            #expect(line.count { $0 == UInt8(ascii: "\n") } == 1)
            let content = OutboxLine.content(of: line.dropLast())
            #expect(content.flatMap(OutboxRecord.init) == record)
        }
    }

    @Test func `keeps session and records from one run to the next`() throws {
        try withPath { path in
            var expected = OutboxHistory(session: "s")
            var session: String? = "s"
            for record in records {
                let file = try open(path, session: session)
                #expect(file.history == expected)
                #expect(file.session == "s")
                session = nil
                try file.append([record])
                expected.append(record)
            }
            #expect(try open(path, session: "s").history == expected)
        }
    }

    @Test func `cut off at any byte, has the records that are whole, and goes on after them`() throws {
        try withPath { path in
            do {
                let file = try open(path, session: "s")
                try file.append(records)
            }
            let whole = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            for length in 0...whole.count {
                try Data(whole[..<length]).write(to: URL(fileURLWithPath: path))
                let lines = whole[..<length].count { $0 == UInt8(ascii: "\n") }
                var expected = OutboxHistory(session: "s")
                for record in records.prefix(max(0, lines - 1)) { expected.append(record) }
                do {
                    let file = try open(path, session: lines == 0 ? "s" : nil)
                    #expect(file.history == expected)
                    try file.append([.settled(number: 77, .gaveUp)])
                    expected.append(.settled(number: 77, .gaveUp))
                }
                #expect(try open(path).history == expected)
            }
        }
    }

    @Test func `is one publisher's at a time`() throws {
        try withPath { path in
            let first = try open(path)
            #expect(cause { _ = try open(path) } == .inUse)
            try first.append([records[0]])
            withExtendedLifetime(first) {}
        }
    }

    @Test("is refused, and stays as it is, when it is another room's, author's or session's, or no outbox")
    func foreign() throws {
        try withPath { path in
            do { _ = try open(path, session: "s") }
            let other = RoomAddress(root: "ink", room: try #require(RoomID("other")), partitions: 1)
            #expect(
                cause { _ = try OutboxFile(path: path, address: other, author: author) }
                    == .otherOwner("ann in ink.0.lesson-7"))
            #expect(cause { _ = try open(path, session: "t") } == .otherSession("s"))
            for contents in ["{\"n\":1}", "{\"n\":1}\n", "01234567 lecture", "01234567 lectern-outbox 1 x\n", "\n"] {
                try Data(contents.utf8).write(to: URL(fileURLWithPath: path))
                #expect(cause { _ = try open(path) } == .notAnOutbox)
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(contents.utf8))
            }
        }
    }

    @Test func `is refused when a byte of a line that is not the last was changed`() throws {
        try withPath { path in
            do { try open(path, session: "s").append(records) }
            var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            let second = (bytes.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 12
            bytes[second] ^= 1
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            #expect(cause { _ = try open(path) } == .damaged(line: 2))
        }
    }

    @Test func `says why it cannot be opened`() {
        guard case .unreadable? = cause({ _ = try open("/nowhere/outbox") }) else {
            Issue.record("a file in a folder that is not there was opened")
            return
        }
    }
}

@Suite("A publisher that is started again with its outbox") struct PublisherRestartTests {
    private static let header: OutboxHeader? = AuthorID("a").flatMap { author in
        RoomID("r").map { room in
            OutboxHeader(address: RoomAddress(root: "ink", room: room, partitions: 1), author: author, session: "s")
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
        let history = try OutboxLines(file).history(of: "s")
        var session = TeacherSession(
            try history.rest(of: plan), session: "s",
            ids: MessageIDs(room: "r", author: "a", session: "s", run: run), answerTimeout: .seconds(10))
        session.resume(history)
        return session
    }

    @Test func `goes on where it was, whichever byte of the file was the last one that was written`() throws {
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
            // The process ended during a write, or after one and before the next.
            let whole = writes.first { $0.after == length }?.world
            let torn = writes.first { $0.after > length }?.world
            for var world in [whole, torn].compactMap({ $0 }) {
                world.replaceTeacher(by: try resumed(plan, Array(file[..<length]), run: "\(length)"))
                let isDone = world.run(within: .seconds(60))
                #expect(isDone)
                let report = world.session.report
                #expect(report.isComplete && report.hasArrived)
                #expect(report.applied == operations)
                // A message may be stored twice to get an answer, but only once under its first id.
                let firstIDs = world.journal?.stored.map(\.messageID).filter { !$0.contains("-") } ?? []
                #expect(firstIDs.count == plan.messages.count)
                #expect(Set(world.service.applied).count == world.service.applied.count)
                #expect(world.service.applied == [1, 2, 3, 4])
            }
        }
    }

    @Test func `has nothing to do, and the same to say, once everything was settled`() throws {
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

    @Test func `begins with what is left of the lesson at once`() throws {
        let plan = try plan()
        var history = OutboxHistory(session: "s")
        for message in plan.messages.prefix(4) { history.append(OutboxRecord(message)) }
        let rest = try history.rest(of: plan)
        #expect(rest.map(\.number) == [4])
        #expect(rest.first?.due == .zero)
        #expect(history.outbox.waiting.map(\.key.number) == [1, 2, 3])
        #expect(history.outbox.waiting.map(\.messages.count) == [1, 2, 1])
    }

    @Test func `keeps what was applied until a checkpoint holds it`() throws {
        var history = OutboxHistory(session: "s")
        for message in try plan().messages.prefix(4) { history.append(OutboxRecord(message)) }
        for number in 1...3 { history.append(.settled(number: Int64(number), .applied(index: UInt64(number)))) }
        #expect(history.outbox.uncovered.map(\.key.number) == [1, 2, 3])
        #expect(history.outbox.uncovered.map(\.messages.count) == [1, 2, 1])
        let covered = OutboxRecord.covered(number: 2, incarnation: "log-1")
        #expect(OutboxRecord(covered.content) == covered)
        history.append(covered)
        #expect(history.outbox.uncovered.map(\.key.number) == [3])
        #expect(history.outbox.room == "log-1")
    }

    @Test func `gives again what the log has lost, when it ended after it was told so and before it gave it`() throws {
        let plan = try plan()
        var file = try #require(Self.header).line
        var records = plan.messages.map { OutboxRecord($0) }
        records += plan.messages.map { .stored(number: $0.number, order: $0.order) }
        records += (1...4).map { .settled(number: $0, .applied(index: UInt64($0))) }
        records += [.covered(number: 2, incarnation: "log-1"), .covered(number: 2, incarnation: "log.1-9")]
        file += records.flatMap { OutboxLine.encoded($0.content) }
        func next(_ session: inout TeacherSession) -> String? {
            guard case .send(_, let messageID, _) = session.next(at: .zero) else { return nil }
            return messageID
        }
        var session = try resumed(plan, file, run: "1")
        #expect(next(&session) == "r/a/s/3/0-1-1")
        #expect(next(&session) == "r/a/s/4/0-1-1")
        for number in 3...4 { session.receive(.applied(number: Int64(number), index: 9), at: .zero) }
        #expect(session.report.applied == 4)
        // Once they are answered, no later run gives them again.
        file += session.takeRecords().flatMap { OutboxLine.encoded($0.content) }
        var last = try resumed(plan, file, run: "2")
        #expect(next(&last) == nil)
        #expect(last.report.applied == 4)
    }

    @Test func `refuses a lesson that has another message under a number that went out`() throws {
        var history = OutboxHistory(session: "s")
        history.append(.message(number: 3, order: 0, isStroke: true, bytes: [1]))
        #expect(throws: OutboxHistory.LessonMismatch(number: 3)) { try history.rest(of: try plan()) }
    }
}
