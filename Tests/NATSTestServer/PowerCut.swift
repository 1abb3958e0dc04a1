internal import Foundation
internal import TestSupport

/// What a power cut takes from the files of a stopped nats-server: their ends, which were not synced yet.
public struct PowerCut: Sendable {
    private let store: String

    /// - Parameter store: the server's `store_dir`.
    public init(_ store: String) { self.store = store }

    /// Cuts what a stream's files have of messages, and the journals of Raft groups that have messages of the same kind.
    ///
    /// A server of a cluster writes each message twice: to its Raft group and to the stream. One whole file makes up for the other.
    /// - Parameters:
    ///   - streams: how their names begin.
    ///   - mark: what a subject of theirs contains, and of no other stream.
    ///   - share: the part of the newest file of each that is kept.
    public func cut(_ streams: String, marked mark: String, keeping share: Double) throws {
        try cut(streams, mark) { Int(Double($0.count) * share) }
    }

    /// As above; keeps what stands before a text.
    public func cut(_ streams: String, marked mark: String, before text: String) throws {
        try cut(streams, mark) { $0.firstRange(of: Array(text.utf8))?.lowerBound ?? $0.count }
    }

    private func cut(_ streams: String, _ mark: String, _ kept: ([UInt8]) -> Int) throws {
        let places = try folders { $0.hasSuffix("/msgs") && ($0.contains("/\(streams)") || $0.contains("/_js_/")) }
        for place in places {
            guard let newest = try blocks(of: place).last else { continue }
            let bytes = Array(try Data(contentsOf: newest))
            // The group of all servers knows the streams, which were made long before.
            if place.contains("/_meta_/") || place.contains("/_js_/") && bytes.firstRange(of: Array(mark.utf8)) == nil {
                continue
            }
            try Data(bytes.prefix(kept(bytes))).write(to: newest)
        }
    }

    private func folders(_ isWanted: (String) -> Bool) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: store).map { "\(store)/\($0)" }.filter(isWanted)
    }

    /// Oldest first.
    private func blocks(of folder: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".blk") }
            .sorted { (Int($0.dropLast(4)) ?? 0) < (Int($1.dropLast(4)) ?? 0) }
            .map { URL(fileURLWithPath: "\(folder)/\($0)") }
    }
}
