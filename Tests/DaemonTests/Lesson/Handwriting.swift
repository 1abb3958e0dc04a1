import Foundation

/// Strokes to write with: real handwriting where the recorded lessons are beside the package, else drawn circles.
enum Handwriting {
    static let strokes: [[ModelMessage.Point]] = {
        let recorded = files.flatMap { file -> [[ModelMessage.Point]] in
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
            return text.split(separator: "\n").compactMap { line in
                (try? ModelMessage(Array(line.utf8)))?.points
            }
        }.filter { $0.count >= 4 }
        return recorded.isEmpty ? (0..<50).map(circle) : recorded
    }()

    private static var files: [URL] {
        let package = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let shared =
            ProcessInfo.processInfo.environment["LECTERN_SHARED_DATA"].map(URL.init(fileURLWithPath:))
            ?? package.deletingLastPathComponent().appendingPathComponent("shared/data")
        return ["cursive-short", "pencil"].map { shared.appendingPathComponent("lessons/\($0).ndjson") }
    }

    private static func circle(_ number: Int) -> [ModelMessage.Point] {
        (0..<40).map { step in
            let angle = Double(step) * .pi / 20
            return ModelMessage.Point(
                x: 100 + Double(number) + (60 * cos(angle)).rounded(), y: 200 + (60 * sin(angle)).rounded())
        }
    }
}
