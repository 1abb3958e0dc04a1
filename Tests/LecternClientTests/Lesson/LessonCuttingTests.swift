import LecternClient
import StrokeWire
import TestSupport
import Testing

@Suite("Cutting a lesson's strokes anew")
struct LessonCuttingTests {
    @Test(
        "keeps every operation, every point byte for byte, and all times",
        .needsRecordedLessons, arguments: [RecordedLesson.cursiveShort, .pencil], [1, 2, 7, 24, 100, 100_000])
    func identity(_ recording: RecordedLesson, _ points: Int) throws {
        let lesson = try Lesson(contentsOfFile: recording.path)
        let cut = try lesson.cut(pointsPerShard: points)
        #expect(operations(of: cut) == operations(of: lesson))
        #expect(cut.messages.allSatisfy { $0.header.points.count <= points })
        #expect(cut.duration == lesson.duration)
        let dues = Dictionary(lesson.messages.map { ($0.header.number, $0.due) }) { first, _ in first }
        #expect(cut.messages.allSatisfy { $0.due == dues[$0.header.number] })
        // A room reads what was written.
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
