// The client: what it reads and sends, in virtual time against a model of the service and a network (`Simulation`), and over
// a real nats-server against a service that does as the test says (`NATS`).

import Foundation
import LecternClient
import StrokeWire
import TestSupport
import Testing

@testable import LecternDemo

@Suite("Reading a lesson") struct LessonReadingTests {
    /// A row of the table in the recordings' description.
    struct Recording: Sendable, CustomTestStringConvertible {
        let lesson: SampleLesson
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

    @Test(.needsRecordedLessons, arguments: recordings)
    func `finds in each recording what its description says`(_ recording: Recording) throws {
        let lesson = try Lesson(ndjson: recording.lesson.bytes())
        let statistics = LessonStatistics(lesson)
        #expect(statistics.messages == recording.messages)
        #expect(statistics.strokes == recording.strokes)
        #expect(statistics.elements == recording.elements)
        #expect(statistics.commands == recording.commands)
        #expect(statistics.points == recording.points)
        #expect(statistics.shardedStrokes == recording.sharded)
        #expect(Int((statistics.duration / .seconds(1)).rounded()) == recording.seconds)
    }

    @Test("writes what it read, byte for byte", arguments: SampleLesson.available)
    func roundTrip(_ sample: SampleLesson) throws {
        let bytes = try sample.bytes()
        #expect(try Lesson(ndjson: bytes).ndjson == bytes)
    }

    @Test func `skips empty lines, takes CR LF, and needs no line end at the end`() throws {
        let text = "\r\n{\"n\":1,\"a\":2,\"t\":5}\r\n  \n\n{\"n\":2,\"a\":3,\"t\":9}"
        let lesson = try Lesson(ndjson: Array(text.utf8))
        #expect(lesson.messages.map(\.header.action) == [.undo, .redo])
        #expect(
            String(decoding: lesson.ndjson, as: UTF8.self) == "{\"n\":1,\"a\":2,\"t\":5}\n{\"n\":2,\"a\":3,\"t\":9}\n")
    }

    @Test func `tells the line and the fault of the first bad message`() {
        let text = "{\"n\":1,\"a\":2}\n\n{\"n\":2,\"a\":9}\n{\"n\":}\n"
        let error = #expect(throws: LessonError.self) { try Lesson(ndjson: Array(text.utf8)) }
        #expect(error?.line == 3)
        #expect(error?.rejection.code == .unknownAction)
        #expect(error?.rejection.field == "a")
        #expect(error?.description.hasPrefix("line 3: unknown-action at a: ") == true)
    }

    @Test func `an empty file is an empty lesson`() throws {
        let lesson = try Lesson(ndjson: [])
        #expect(lesson.messages.isEmpty)
        #expect(lesson.duration == .zero)
    }
}

@Suite("Reading a lesson file") struct LessonFileTests {
    /// A path of no file.
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ndjson").path

    private func failure() -> LessonFileError? {
        #expect(throws: LessonFileError.self) { try Lesson(contentsOfFile: path) }
    }

    @Test func `a file that is not there is told by its name`() {
        let error = failure()
        #expect(error?.cause == .missing)
        #expect(error?.description == "\(path): no such file")
    }

    @Test func `an empty name is that of no file`() {
        #expect(throws: LessonFileError.self) { try Lesson(contentsOfFile: "") }
    }

    @Test func `a directory is told from a file`() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(failure()?.description == "\(path): is a directory")
    }

    @Test("a file that may not be read is told as such", .enabled(if: geteuid() != 0, "root may read everything"))
    func notPermitted() throws {
        #expect(FileManager.default.createFile(atPath: path, contents: Data(), attributes: [.posixPermissions: 0]))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(failure()?.description == "\(path): permission denied")
    }

    @Test func `a line that is no message is told with the file and its number`() throws {
        try Data("{\"n\":1,\"a\":2}\n{\"n\":2,\"a\":9}\n".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(failure()?.description.hasPrefix("\(path): line 2: unknown-action at a: ") == true)
    }
}

@Suite("When a message of a lesson is due") struct LessonTimingTests {
    private func due(_ lines: String...) throws -> [Duration] {
        try Lesson(ndjson: Array(lines.joined(separator: "\n").utf8)).messages.map(\.due)
    }

    @Test func `a stroke when the pen is up, 60 points a second`() throws {
        let points = (0..<31).map { "{\"x\":\($0),\"y\":0}" }.joined(separator: ",")
        #expect(try due("{\"n\":1,\"t\":1000,\"d\":[\(points)]}") == [.milliseconds(1500)])
    }

    @Test func `all shards of a stroke at its end`() throws {
        let point = "{\"x\":1,\"y\":1}"
        let two = "\(point),\(point)"
        let end = Duration.milliseconds(600) + .milliseconds(4000) / 60
        #expect(
            try due(
                "{\"n\":1,\"t\":600,\"s\":3,\"o\":0,\"d\":[\(two)]}",
                "{\"n\":1,\"t\":600,\"s\":3,\"o\":1,\"d\":[\(two)]}",
                "{\"n\":1,\"t\":600,\"s\":3,\"o\":2,\"d\":[\(point)]}") == [end, end, end])
    }

    @Test func `a stroke with times of its own at its last one`() throws {
        #expect(
            try due("{\"n\":1,\"t\":100,\"d\":[{\"x\":1,\"y\":1,\"m\":0},{\"x\":1,\"y\":1,\"m\":730.5}]}")
                == [.microseconds(830_500)])
    }

    @Test func `a command at its time, one without a time with what is before it`() throws {
        #expect(
            try due("{\"n\":1,\"a\":4,\"t\":250}", "{\"n\":2,\"a\":2}", "{\"n\":3,\"a\":3,\"t\":100}")
                == [.milliseconds(250), .milliseconds(250), .milliseconds(250)])
    }

    @Test("on another time line a lesson begins with its first time, and keeps its points and what has no time")
    func moved() throws {
        let points = #"{"x":1,"y":2,"m":0},{"x":3,"y":4.50,"m":400}"#
        let lines = [
            #"{"n":1,"t":1795462459000,"d":[\#(points)]}"#, #"{"n":2,"a":2}"#, #"{"n":3,"a":3,"t":1795462460500}"#,
        ]
        let lesson = try Lesson(ndjson: Array(lines.joined(separator: "\n").utf8))
        let moved = lesson.moved(to: 7000)
        #expect(moved.messages.map(\.header.time) == [7000, nil, 8500])
        #expect(moved.messages.map(\.due) == [.milliseconds(400), .milliseconds(400), .milliseconds(1500)])
        #expect(moved.messages[0].interior.elementsEqual(points.utf8))
        // As one who reads it anew has it.
        #expect(try Lesson(ndjson: moved.ndjson).messages.map(\.header) == moved.messages.map(\.header))
    }

    @Test func `times from outside never trap, however far they lie`() throws {
        let lines = [
            "{\"n\":1,\"a\":2,\"t\":-9223372036854775808}", "{\"n\":2,\"a\":2,\"t\":9223372036854775807}",
            "{\"n\":3,\"t\":9223372036854775807,\"d\":[{\"x\":1,\"y\":1,\"m\":1e300}]}",
            "{\"n\":4,\"d\":[{\"x\":1,\"y\":1,\"m\":-1e300}]}",
        ]
        let lesson = try Lesson(ndjson: Array(lines.joined(separator: "\n").utf8))
        #expect(lesson.messages[0].due == .zero)
        let plan = PublishPlan(lesson, speed: 0)
        #expect(plan.messages.count == 4)
        #expect(lesson.moved(to: .max).messages.count == 4)
    }

    @Test(arguments: SampleLesson.available)
    func `in lessons of handwriting, at the time their description gives`(_ sample: SampleLesson) throws {
        let lesson = try Lesson(ndjson: sample.bytes())
        var expected: [Int64: (count: Int, last: Double?)] = [:]
        for message in lesson.messages {
            let json = try JSONSerialization.jsonObject(with: Data(message.bytes)) as? [String: Any]
            let points = json?["d"] as? [[String: Double]] ?? []
            let last = points.last?["m"]
            let known = expected[message.header.number] ?? (0, nil)
            expected[message.header.number] = (
                known.count + points.count, last.map { max($0, known.last ?? 0) } ?? known.last
            )
        }
        for message in lesson.messages {
            let stroke = try #require(expected[message.header.number])
            let time = Double(try #require(message.header.time))
            let length = stroke.last ?? Double(max(0, stroke.count - 1)) * 1000 / 60
            let isCommand = message.header.action != .draw
            #expect(abs(message.due / .milliseconds(1) - (isCommand ? time : time + length)) < 0.001)
        }
        #expect(zip(lesson.messages, lesson.messages.dropFirst()).allSatisfy { $0.due <= $1.due })
    }
}

@Suite("Cutting a lesson's strokes anew") struct LessonCuttingTests {
    @Test(
        "keeps every operation, every point byte for byte, and all times",
        arguments: SampleLesson.short, [1, 2, 7, 24, 100, 100_000])
    func identity(_ sample: SampleLesson, _ points: Int) throws {
        let lesson = try Lesson(ndjson: sample.bytes())
        let cut = try lesson.cut(pointsPerShard: points)
        #expect(operations(of: cut) == operations(of: lesson))
        #expect(cut.messages.allSatisfy { $0.header.points.count <= points })
        #expect(cut.duration == lesson.duration)
        let dues = Dictionary(lesson.messages.map { ($0.header.number, $0.due) }) { first, _ in first }
        #expect(cut.messages.allSatisfy { $0.due == dues[$0.header.number] })
        // The result is a valid lesson.
        #expect(try Lesson(ndjson: cut.ndjson).messages == cut.messages)
    }

    private struct Operation: Equatable {
        let number: Int64
        let action: Action
        let element: Element
        let time: Int64?
        let points: [UInt8]
    }

    private func operations(of lesson: Lesson) -> [Operation] {
        var shards: [[LessonMessage]] = []
        for message in lesson.messages {
            if message.header.isSharded, shards.last?.first?.header.number == message.header.number {
                shards[shards.count - 1].append(message)
            } else {
                shards.append([message])
            }
        }
        return shards.map { shards in
            let header = shards[0].header
            return Operation(
                number: header.number, action: header.action, element: header.element, time: header.time,
                points: ShardJoiner.join(shards.map(\.interior)))
        }
    }
}

@Suite("The lesson that comes with Lectern") struct DemoLessonTests {
    private static let seeds = TestSeed.choose(5)

    @Test func `is the same for the same seed, and another for another`() throws {
        #expect(try DemoLesson.make(seed: 5).messages == DemoLesson.make(seed: 5).messages)
        #expect(try DemoLesson.make(seed: 5).ndjson != DemoLesson.make(seed: 6).ndjson)
    }

    @Test("is read back as it was written, whatever the seed", arguments: seeds)
    func valid(_ seed: UInt64) throws {
        let lesson = try DemoLesson.make(seed: seed)
        #expect(try Lesson(ndjson: lesson.ndjson).messages == lesson.messages)
    }

    @Test("has some hundred strokes of all kinds in about a minute and a half", arguments: seeds)
    func size(_ seed: UInt64) throws {
        let statistics = LessonStatistics(try DemoLesson.make(seed: seed))
        #expect(200...400 ~= statistics.strokes)
        #expect(Duration.seconds(75) <= statistics.duration && statistics.duration <= .seconds(110))
        #expect(Set(statistics.elements.keys) == Set([.freehand, .line, .ellipse, .rectangle, .eraser]))
        #expect(Set(statistics.commands.keys) == [.undo, .redo, .clear])
        #expect(statistics.commands[.clear] == 1)
        #expect(statistics.shardedStrokes >= 3)
    }

    @Test func `uses several colours and widths`() throws {
        let strokes = try DemoLesson.make().messages.filter { $0.header.action == .draw }
        #expect(Set(strokes.map(\.header.colour)).count >= 5)
        #expect(Set(strokes.map(\.header.width)).count >= 4)
    }

    @Test("counts its operations from 1, and its media time never goes back", arguments: seeds)
    func order(_ seed: UInt64) throws {
        let messages = try DemoLesson.make(seed: seed).messages
        var number: Int64 = 0
        for message in messages {
            #expect(message.header.number == number || message.header.number == number + 1)
            number = message.header.number
        }
        let times = messages.compactMap(\.header.time)
        #expect(times.count == messages.count)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func `never takes back or does again what is not there`() throws {
        var (done, undone) = (0, 0)
        var numbers: Set<Int64> = []
        for message in try DemoLesson.make().messages where numbers.insert(message.header.number).inserted {
            switch message.header.action {
            case .draw: (done, undone) = (done + 1, 0)
            case .undo: (done, undone) = (done - 1, undone + 1)
            case .redo: (done, undone) = (done + 1, undone - 1)
            case .clear: (done, undone) = (0, 0)
            case .turn, .arrange, .paper, .remove: break
            }
            #expect(done >= 0 && undone >= 0)
        }
    }

    @Test("stays on the board", arguments: seeds)
    func board(_ seed: UInt64) throws {
        for message in try DemoLesson.make(seed: seed).messages {
            for point in message.header.decodePoints(of: message.bytes) {
                #expect(0...1024 ~= point.x && 0...768 ~= point.y)
            }
        }
    }

    @Test func `its alphabet has every letter that it writes`() {
        for case .write(let text, _, _, _) in DemoScript.firstBoard + DemoScript.secondBoard {
            for letter in text where letter != " " && letter != "^" && letter != "_" {
                #expect(Alphabet.letters[letter] != nil, "\(letter)")
            }
        }
    }

    @Test("every letter is well formed: strokes of places within its grid", arguments: Alphabet.letters.keys.sorted())
    func glyph(_ letter: Character) throws {
        let strokes = try #require(Alphabet.strokes(of: letter))
        let text = try #require(Alphabet.letters[letter])
        #expect(strokes.joined().count == text.split { " |".contains($0) }.count)
        for stroke in strokes {
            #expect(!stroke.isEmpty)
            #expect(stroke.allSatisfy { 0...14 ~= $0.x && 0...20 ~= $0.y })
        }
    }
}
