import Foundation
import StrokeWire
import Testing

@testable import LecternClient

@Suite("An outbox file")
struct OutboxFileTests {
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

    @Test("gives every kind of record back")
    func roundTrip() {
        for record in records {
            let line = OutboxLine.encoded(record.content)
            #expect(line.count { $0 == UInt8(ascii: "\n") } == 1)
            let content = OutboxLine.content(of: line.dropLast())
            #expect(content.flatMap(OutboxRecord.init) == record)
        }
    }

    @Test("keeps session and records from one run to the next")
    func runs() throws {
        try withPath { path in
            var expected = OutboxHistory()
            var session: String?
            for record in records {
                let file = try open(path)
                #expect(file.history == expected)
                #expect(session == nil || file.session == session)
                session = file.session
                try file.append([record])
                expected.append(record)
            }
            #expect(try open(path, session: session).history == expected)
        }
    }

    @Test("cut off at any byte, has the records that are whole, and goes on after them")
    func truncation() throws {
        try withPath { path in
            do {
                let file = try open(path, session: "s")
                try file.append(records)
            }
            let whole = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            for length in 0...whole.count {
                try Data(whole[..<length]).write(to: URL(fileURLWithPath: path))
                let lines = whole[..<length].count { $0 == UInt8(ascii: "\n") }
                var expected = OutboxHistory()
                for record in records.prefix(max(0, lines - 1)) { expected.append(record) }
                do {
                    let file = try open(path)
                    #expect(file.history == expected)
                    #expect(lines == 0 || file.session == "s")
                    try file.append([.settled(number: 77, .gaveUp)])
                    expected.append(.settled(number: 77, .gaveUp))
                }
                #expect(try open(path).history == expected)
            }
        }
    }

    @Test("is one publisher's at a time")
    func locked() throws {
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
                #expect(cause { _ = try open(path) } == .foreign)
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(contents.utf8))
            }
        }
    }

    @Test("is refused when a byte of a line that is not the last was changed")
    func damage() throws {
        try withPath { path in
            do { try open(path, session: "s").append(records) }
            var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            let second = (bytes.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 12
            bytes[second] ^= 1
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            #expect(cause { _ = try open(path) } == .damaged(line: 2))
        }
    }

    @Test("says why it cannot be opened")
    func missing() {
        guard case .unreadable? = cause({ _ = try open("/nowhere/outbox") }) else {
            Issue.record("a file in a folder that is not there was opened")
            return
        }
    }
}
