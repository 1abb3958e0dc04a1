import Foundation
import LecternClient
import StrokeWire
import TestSupport
import Testing

@Suite("When a message of a lesson is due")
struct LessonTimingTests {
    private func due(_ lines: String...) throws -> [Duration] {
        try Lesson(ndjson: Array(lines.joined(separator: "\n").utf8)).messages.map(\.due)
    }

    @Test("a stroke when the pen is up, 60 points a second")
    func stroke() throws {
        let points = (0..<31).map { "{\"x\":\($0),\"y\":0}" }.joined(separator: ",")
        #expect(try due("{\"n\":1,\"t\":1000,\"d\":[\(points)]}") == [.milliseconds(1500)])
    }

    @Test("all shards of a stroke at its end")
    func shards() throws {
        let point = "{\"x\":1,\"y\":1}"
        let two = "\(point),\(point)"
        let end = Duration.milliseconds(600) + .milliseconds(4000) / 60
        #expect(
            try due(
                "{\"n\":1,\"t\":600,\"s\":3,\"o\":0,\"d\":[\(two)]}",
                "{\"n\":1,\"t\":600,\"s\":3,\"o\":1,\"d\":[\(two)]}",
                "{\"n\":1,\"t\":600,\"s\":3,\"o\":2,\"d\":[\(point)]}") == [end, end, end])
    }

    @Test("a stroke with times of its own at its last one")
    func ownTimes() throws {
        #expect(
            try due("{\"n\":1,\"t\":100,\"d\":[{\"x\":1,\"y\":1,\"m\":0},{\"x\":1,\"y\":1,\"m\":730.5}]}")
                == [.microseconds(830_500)])
    }

    @Test("a command at its time, one without a time with what is before it")
    func commands() throws {
        #expect(
            try due("{\"n\":1,\"a\":4,\"t\":250}", "{\"n\":2,\"a\":2}", "{\"n\":3,\"a\":3,\"t\":100}")
                == [.milliseconds(250), .milliseconds(250), .milliseconds(250)])
    }

    @Test("times from outside never trap, however far they lie")
    func extremes() throws {
        let lines = [
            "{\"n\":1,\"a\":2,\"t\":-9223372036854775808}", "{\"n\":2,\"a\":2,\"t\":9223372036854775807}",
            "{\"n\":3,\"t\":9223372036854775807,\"d\":[{\"x\":1,\"y\":1,\"m\":1e300}]}",
            "{\"n\":4,\"d\":[{\"x\":1,\"y\":1,\"m\":-1e300}]}",
        ]
        let lesson = try Lesson(ndjson: Array(lines.joined(separator: "\n").utf8))
        #expect(lesson.messages[0].due == .zero)
        let plan = PublishPlan(lesson, speed: 0)
        #expect(plan.messages.count == 4)
    }

    @Test(
        "in the recordings, at the time their description gives",
        .needsRecordedLessons, arguments: RecordedLesson.allCases)
    func recordings(_ recording: RecordedLesson) throws {
        let lesson = try Lesson(contentsOfFile: recording.path)
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
