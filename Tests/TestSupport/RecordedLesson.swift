internal import Foundation

/// Real handwriting as stroke messages.
package enum RecordedLesson: String, CaseIterable, Sendable {
    case cursiveShort = "cursive-short"
    case cursiveLong = "cursive-long"
    case pencil

    package static let areThere = allCases.allSatisfy { FileManager.default.isReadableFile(atPath: $0.path) }

    /// Where the recording is.
    package var path: String { "\(SharedData.folder)/lessons/\(rawValue).ndjson" }

    package func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    /// The messages in their order.
    package func messages() throws -> [[UInt8]] {
        try bytes().split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    /// The messages of all recordings.
    package static func allMessages() throws -> [[UInt8]] { try allCases.flatMap { try $0.messages() } }
}
