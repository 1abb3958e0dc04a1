import Foundation
import Ink
import Raster
import StrokeWire

/// Real handwriting, which lies beside the repository and is not a part of it.
enum Handwriting {
    /// The folder of the lessons; `LECTERN_SHARED_DATA` may name another place than `../shared/data`.
    private static let lessons: URL = {
        if let path = ProcessInfo.processInfo.environment["LECTERN_SHARED_DATA"] {
            return URL(fileURLWithPath: path).appendingPathComponent("lessons")
        }
        let support = URL(fileURLWithPath: #filePath).deletingLastPathComponent().resolvingSymlinksInPath()
        return support.appendingPathComponent("../../../../shared/data/lessons").standardizedFileURL
    }()

    static let isPresent = FileManager.default.fileExists(atPath: lessons.path)

    /// The drawn strokes of a lesson in their order, without undo, redo and clear.
    static func strokes(_ lesson: String, style: InkStyle) throws -> [PaintedStroke] {
        let text = try Data(contentsOf: lessons.appendingPathComponent("\(lesson).ndjson"))
        var strokes: [PaintedStroke] = []
        var last: Int64?
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let bytes = [UInt8](line)
            let message = try StrokeMessage(decoding: bytes)
            guard message.action == .draw else { continue }
            let points = message.decodePoints(of: bytes)
            if message.number == last {
                strokes[strokes.count - 1].stroke.points += points
            } else {
                strokes.append(
                    PaintedStroke(
                        stroke: InkStroke(
                            element: message.element, style: style, width: message.width, points: points),
                        colour: RGB(Palette.standard[message.colour] ?? 0)))
            }
            last = message.number
        }
        return strokes
    }
}
