import Foundation
import TestSupport

/// Strokes to write with: real handwriting where the recorded lessons are beside the package, else drawn circles.
enum Handwriting {
    static let strokes: [[ModelMessage.Point]] = {
        let messages = [RecordedLesson.cursiveShort, .pencil].flatMap { (try? $0.messages()) ?? [] }
        let recorded = messages.compactMap { try? ModelMessage($0).points }.filter { $0.count >= 4 }
        return recorded.isEmpty ? (0..<50).map(circle) : recorded
    }()

    private static func circle(_ number: Int) -> [ModelMessage.Point] {
        (0..<40).map { step in
            let angle = Double(step) * .pi / 20
            return ModelMessage.Point(
                x: 100 + Double(number) + (60 * cos(angle)).rounded(), y: 200 + (60 * sin(angle)).rounded())
        }
    }
}
