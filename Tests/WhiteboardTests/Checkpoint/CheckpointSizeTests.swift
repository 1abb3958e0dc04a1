import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite("Size of a checkpoint", .needsRecordedLessons)
struct CheckpointSizeTests {
    @Test("Of a board of handwriting it is that of the packed strokes and a few bytes each", arguments: [false, true])
    func handwriting(isReleased: Bool) throws {
        for lesson in RecordedLesson.allCases {
            var probe = try RoomProbe(hearing: lesson)
            if isReleased {
                probe.clock(1e7, .main, #","d":true"#)
                // What was logged long before the last operation is kept no more.
                probe.wait(.seconds(61))
                probe.send(draw(1), by: .bob)
            }
            let bytes = probe.room.checkpoint().encoded()
            let strokes = (isReleased ? probe.room.head.visible.map(\.stroke) : probe.applied.compactMap(\.stroke))
            let points = strokes.reduce(0) { $0 + $1.pointCount }
            let packed = strokes.reduce(0) { $0 + $1.message.byteCount }
            let over = Double(bytes.count - packed) / Double(strokes.count)
            print(
                """
                \(lesson.rawValue), \(isReleased ? "released" : "held"): \(bytes.count) bytes, \(bytes.count / strokes.count) a \
                stroke, \(over) over its packed points, \(Double(bytes.count) / Double(points)) a point
                """)
            #expect(over <= (isReleased ? 45 : 64))
            let restored = try Room(
                restoring: bytes, configuration: probe.room.configuration, at: probe.now, logClockAhead: .zero)
            #expect(
                restored.head.visible.map(\.stroke.message.bytes) == probe.room.head.visible.map(\.stroke.message.bytes)
            )
        }
    }
}

extension Whiteboard.Operation {
    fileprivate var stroke: Stroke? {
        if case .draw(let stroke) = effect { stroke } else { nil }
    }
}
