internal import Foundation
package import StrokeWire
package import Testing

/// Handwriting as the stroke messages of a teacher: made here, so that every clone has some, and recorded, where
/// `../shared/data` or the folder that `LECTERN_SHARED_DATA` names is there.
package enum SampleLesson: String, CaseIterable, Sendable {
    /// A hand on a trackpad: points alone.
    case madeHand = "made-hand"
    /// A pen: with force, angles and times.
    case madePen = "made-pen"
    case cursiveShort = "cursive-short"
    case cursiveLong = "cursive-long"
    case pencil

    package static let made: [SampleLesson] = [.madeHand, .madePen]
    package static let recorded: [SampleLesson] = [.cursiveShort, .cursiveLong, .pencil]
    package static let recordedAreThere = recorded.allSatisfy { FileManager.default.isReadableFile(atPath: $0.path) }

    /// The lessons of this clone.
    package static let available = made + (recordedAreThere ? recorded : [])

    /// The short ones of them.
    package static let short = available.filter { $0 != .cursiveLong }

    /// Where a recording is.
    private var path: String {
        let folder = EnvironmentVariable("LECTERN_SHARED_DATA").text ?? PackageRoot.path(to: "../shared/data")
        return "\(folder)/lessons/\(rawValue).ndjson"
    }

    /// The messages in their order, one a line.
    package func bytes() throws -> [UInt8] {
        switch self {
        case .madeHand: LessonMaker.hand.bytes
        case .madePen: LessonMaker.pen.bytes
        case .cursiveShort, .cursiveLong, .pencil: Array(try Data(contentsOf: URL(filePath: path)))
        }
    }

    /// The messages in their order.
    package func messages() throws -> [[UInt8]] {
        try bytes().split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    /// The messages of all lessons.
    package static func allMessages() throws -> [[UInt8]] { try available.flatMap { try $0.messages() } }

    /// How many strokes are drawn, and how many its last board has.
    package var strokeCounts: (drawn: Int, left: Int) {
        switch self {
        case .madeHand: LessonMaker.hand.strokeCounts
        case .madePen: LessonMaker.pen.strokeCounts
        case .cursiveShort: (65, 58)
        case .cursiveLong: (1147, 171)
        case .pencil: (28, 14)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips what is about the recordings themselves where they are not there, and says so.
    package static var needsRecordedLessons: Self {
        .enabled(if: SampleLesson.recordedAreThere, "needs ../shared/data/lessons, or LECTERN_SHARED_DATA")
    }
}

/// A stroke of a lesson, joined from its shards.
package struct SampleStroke {
    package let element: Element
    package let width: Double
    /// `0xRRGGBB`.
    package let colour: UInt32
    package fileprivate(set) var points: [StrokePoint]
}

extension SampleLesson {
    /// The drawn strokes in their order, without undo, redo and clear.
    package func strokes() throws -> [SampleStroke] {
        var strokes: [SampleStroke] = []
        var last: Int64?
        for bytes in try messages() {
            let message = try StrokeMessage(decoding: bytes)
            guard message.action == .draw else { continue }
            let points = message.decodePoints(of: bytes)
            if message.number == last {
                strokes[strokes.count - 1].points += points
            } else {
                strokes.append(
                    SampleStroke(
                        element: message.element, width: message.width, colour: Palette.standard[message.colour] ?? 0,
                        points: points))
            }
            last = message.number
        }
        return strokes
    }
}
