import Ink
import LecternClient
import StrokeWire

/// The freehand strokes of a lesson, each joined from its shards.
struct LessonHandwriting {
    /// The messages of a stroke, in the order of its shards.
    private let strokes: [[LessonMessage]]

    let boardWidth, boardHeight: Double

    init(_ lesson: Lesson) {
        var strokes: [[LessonMessage]] = []
        for message in lesson.messages
        where message.header.action == .draw && message.header.element == .freehand {
            if let last = strokes.last?.last?.header, last.isSharded, last.number == message.header.number {
                strokes[strokes.count - 1].append(message)
            } else {
                strokes.append([message])
            }
        }
        self.strokes = strokes.map { $0.sorted { $0.header.shardOrder < $1.header.shardOrder } }
        boardWidth = strokes.first?.first?.header.boardWidth ?? 1024
        boardHeight = strokes.first?.first?.header.boardHeight ?? 768
    }

    var isEmpty: Bool { strokes.isEmpty }
    var count: Int { strokes.count }

    var pointsPerStroke: Double {
        Double(strokes.joined().reduce(0) { $0 + $1.header.points.count }) / Double(max(count, 1))
    }

    /// How often the strokes are drawn in a round: a few thousand strokes in all, so that the caches are those of the
    /// renderer and not of the one before it.
    var passes: Int { max(1, 4000 / max(count, 1)) }

    /// The strokes, with points in memory.
    func strokes(_ element: Element, _ style: InkStyle) -> [InkStroke] {
        var strokes: [InkStroke] = []
        forEachDecoded(element, style) { strokes.append($0) }
        return strokes
    }

    /// Decodes all messages and calls with each stroke, joined.
    func forEachDecoded(_ element: Element, _ style: InkStyle, _ body: (InkStroke) -> Void) {
        var shard: [StrokePoint] = []
        for messages in strokes {
            var points: [StrokePoint] = []
            var width = 1.0
            for message in messages {
                guard let header = try? StrokeMessage(decoding: message.bytes, points: &shard) else { continue }
                points += shard
                width = header.width
            }
            body(InkStroke(element: element, style: style, width: width, points: points))
        }
    }
}
