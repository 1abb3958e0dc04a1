import LecternClient
import StrokeWire
import TestSupport
import Testing

@Suite("Reading a lesson")
struct LessonReadingTests {
    /// What the table in the recordings' description says.
    struct Recording: Sendable, CustomTestStringConvertible {
        let lesson: RecordedLesson
        let messages: Int
        let elements: [Element: Int]
        let commands: [Action: Int]
        let points: Int
        let sharded: Int
        let seconds: Int

        var testDescription: String { lesson.rawValue }
        var strokes: Int { elements.values.reduce(0, +) }
    }

    static let recordings = [
        Recording(
            lesson: .cursiveShort, messages: 125,
            elements: [.freehand: 54, .line: 3, .ellipse: 3, .eraser: 5], commands: [.undo: 9, .redo: 2],
            points: 3690, sharded: 21, seconds: 84),
        Recording(
            lesson: .cursiveLong, messages: 1565,
            elements: [.freehand: 1081, .line: 25, .ellipse: 9, .rectangle: 15, .eraser: 17],
            commands: [.undo: 76, .redo: 21, .clear: 5], points: 35209, sharded: 220, seconds: 907),
        Recording(
            lesson: .pencil, messages: 102, elements: [.freehand: 27, .eraser: 1],
            commands: [.undo: 3, .redo: 3, .clear: 1], points: 3929, sharded: 25, seconds: 63),
    ]

    @Test(
        "finds in each recording what its description says", .needsRecordedLessons, arguments: recordings)
    func statistics(_ recording: Recording) throws {
        let lesson = try Lesson(contentsOfFile: recording.lesson.path)
        let statistics = LessonStatistics(lesson)
        #expect(statistics.messages == recording.messages)
        #expect(statistics.strokes == recording.strokes)
        #expect(statistics.elements == recording.elements)
        #expect(statistics.commands == recording.commands)
        #expect(statistics.points == recording.points)
        #expect(statistics.shardedStrokes == recording.sharded)
        #expect(Int((statistics.duration / .seconds(1)).rounded()) == recording.seconds)
    }

    @Test("writes what it read, byte for byte", .needsRecordedLessons, arguments: RecordedLesson.allCases)
    func roundTrip(_ recording: RecordedLesson) throws {
        let bytes = try recording.bytes()
        #expect(try Lesson(ndjson: bytes).ndjson == bytes)
    }

    @Test("skips empty lines, takes CR LF, and needs no line end at the end")
    func lineEnds() throws {
        let text = "\r\n{\"n\":1,\"a\":2,\"t\":5}\r\n  \n\n{\"n\":2,\"a\":3,\"t\":9}"
        let lesson = try Lesson(ndjson: Array(text.utf8))
        #expect(lesson.messages.map(\.header.action) == [.undo, .redo])
        #expect(
            String(decoding: lesson.ndjson, as: UTF8.self) == "{\"n\":1,\"a\":2,\"t\":5}\n{\"n\":2,\"a\":3,\"t\":9}\n")
    }

    @Test("tells the line and the fault of the first bad message")
    func badLine() {
        let text = "{\"n\":1,\"a\":2}\n\n{\"n\":2,\"a\":9}\n{\"n\":}\n"
        let error = #expect(throws: LessonError.self) { try Lesson(ndjson: Array(text.utf8)) }
        #expect(error?.line == 3)
        #expect(error?.rejection.code == .unknownAction)
        #expect(error?.rejection.field == "a")
        #expect(error?.description.hasPrefix("line 3: unknown-action at a: ") == true)
    }

    @Test("an empty file is an empty lesson")
    func empty() throws {
        let lesson = try Lesson(ndjson: [])
        #expect(lesson.messages.isEmpty)
        #expect(lesson.duration == .zero)
    }
}
