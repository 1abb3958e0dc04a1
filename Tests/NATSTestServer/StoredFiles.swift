internal import Foundation
internal import TestSupport

/// What a power cut leaves of a stopped server's files.
extension NATSTestServer {
    /// Where the newest records were.
    public enum Damage: String, Sendable, CaseIterable {
        /// The file ends there.
        case cut
        case zeros
        case noise
    }

    /// Damages the newest file with messages of a stream from a share of its bytes on.
    package nonisolated func damage(
        _ stream: String, _ damage: Damage, from share: Double, using generator: inout some RandomNumberGenerator
    ) throws {
        try change(stream) { bytes in
            let kept = Int(Double(bytes.count) * share)
            let lost = bytes.count - kept
            bytes.removeLast(lost)
            switch damage {
            case .cut: break
            case .zeros: bytes += [UInt8](repeating: 0, count: lost)
            case .noise: bytes += (0..<lost).map { _ in UInt8.random(in: 0...255, using: &generator) }
            }
        }
    }

    /// Changes the newest file with messages of each stream.
    /// - Parameter stream: how the streams' names begin.
    package nonisolated func change(_ stream: String, _ body: (inout [UInt8]) throws -> Void) throws {
        let files = try files(of: stream).filter { $0.pathExtension == "blk" }
        let folders = Dictionary(grouping: files) { $0.deletingLastPathComponent() }
        guard !folders.isEmpty else { throw Unexpected("no files of \(stream)") }
        for files in folders.values {
            let newest = files.max { number(of: $0) < number(of: $1) }
            guard let newest else { continue }
            var bytes = Array(try Data(contentsOf: newest))
            try body(&bytes)
            try Data(bytes).write(to: newest)
        }
    }

    /// Files with what a server knows of its files with messages.
    package nonisolated func changeIndexes(of stream: String, _ body: (inout [UInt8]) -> Void) throws {
        for file in try files(of: stream) where ["idx", "fss", "db"].contains(file.pathExtension) {
            var bytes = Array(try Data(contentsOf: file))
            body(&bytes)
            try Data(bytes).write(to: file)
        }
    }

    /// Removes files of a stream.
    /// - Parameter suffixes: what their names end with after the dot.
    package nonisolated func removeFiles(of stream: String, _ suffixes: String...) throws {
        for file in try files(of: stream) where suffixes.contains(file.pathExtension) {
            try FileManager.default.removeItem(at: file)
        }
    }

    private nonisolated func number(of file: URL) -> Int { Int(file.deletingPathExtension().lastPathComponent) ?? 0 }

    private nonisolated func files(of stream: String) throws -> [URL] {
        let store = store ?? ""
        return try FileManager.default.subpathsOfDirectory(atPath: store)
            .filter { $0.contains("/\(stream)") && $0.contains("/msgs/") }
            .map { URL(fileURLWithPath: "\(store)/\($0)") }
    }
}
