internal import Cryptography
public import Foundation
public import NATSClient

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A folder with copies of all streams of a root: rooms' logs, checkpoints, assets and audit log, and a list of them with
/// their hashes.
///
/// Consistent while classes run: of each partition the checkpoints are copied before the log, so that the log goes on where
/// they end. Records that expire or are trimmed meanwhile do no harm where the copied checkpoints hold them; otherwise both
/// are copied again. Assets come last: what a log names was there before. Checkpoints whose log is gone are copied, too: rooms go
/// on from them when it comes back from an older backup.
public struct StreamBackup: Sendable {
    /// A progress report.
    public enum Progress: Sendable {
        case began(stream: String, bytes: UInt64)
        case went(stream: String, bytes: UInt64)
        case done(stream: String, messages: UInt64)
        /// The log has given records back meanwhile.
        case again(stream: String)
    }

    /// Why a backup is not made, or a folder is not restored.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        case noStreams(root: String)
        /// Rooms are being moved to another number of partitions.
        case moving(copy: String)
        case notEmpty(folder: String)
        case noBackup(folder: String)
        case newer(version: Int)
        case damaged(file: String)
        case missing(file: String)
        case exists(streams: [String])
        case neverStill(stream: String)
        /// Records were removed that no checkpoint is known to hold.
        case uncovered(stream: String, from: UInt64, through: UInt64)
        case notPermitted(stream: String, String)

        public var description: String {
            switch self {
            case .noStreams(let root): "there are no logs of the root \(root)"
            case .moving(let copy):
                "there is \(copy): a lectern repartition runs, or was interrupted; have it done first, or run it again"
            case .notEmpty(let folder): "\(folder) is not empty"
            case .noBackup(let folder): "\(folder) has no backup: \(StreamBackup.listName) is missing or cannot be read"
            case .newer(let version): "the backup is of a newer release (format \(version))"
            case .damaged(let file): "\(file) is damaged: its bytes are not those that were written"
            case .missing(let file): "\(file) is missing or cannot be read"
            case .exists(let streams):
                "there are streams already: \(streams.joined(separator: ", ")); --replace deletes them first"
            case .neverStill(let stream): "\(stream) gives records back faster than it can be copied; try again later"
            case .uncovered(let stream, let from, let through):
                """
                uncovered: records \(from) to \(through) of \(stream) are gone by their age, and no checkpoint is known to \
                hold them; does a daemon read the log, and does it keep up? Give the log a longer max_age, or try again
                """
            case .notPermitted(let stream, let why):
                """
                \(stream) gives records back while it is copied, and whether checkpoints hold them cannot be read: \(why)
                """
            }
        }

        /// The failure of a log of which records were removed through one, while those through another were in checkpoints.
        fileprivate init(_ stream: String, removedThrough last: UInt64, covered: Result<UInt64, JetStreamError>) {
            switch covered {
            case .success(let covered) where covered < last:
                self = .uncovered(stream: stream, from: covered + 1, through: last)
            case .success: self = .neverStill(stream: stream)
            case .failure(let error): self = .notPermitted(stream: stream, "\(error)")
            }
        }
    }

    /// The list of what is in the folder.
    struct List: Codable, Equatable {
        struct Stream: Codable, Equatable {
            var name: String
            var file: String
            /// The JSON that the server restores it with.
            var request: String
            var messages: UInt64
            var sha256: String
        }

        var format = 1
        var root: String
        /// UTC, ISO 8601.
        var made: String
        var streams: [Stream]
    }

    static let listName = "backup.json"
    /// Copies of a partition at most, until one is consistent.
    private static let attempts = 5
    /// Bytes of a file that are read at a time.
    private static let readBytes = 128 << 10

    private let root: String
    private let folder: URL
    private let jetStream: JetStream

    public init(root: String, folder: URL, connection: NATSConnection) {
        self.root = root
        self.folder = folder
        jetStream = JetStream(connection, timeout: .seconds(10))
    }
}

/// Making one.
extension StreamBackup {
    /// Makes a backup in the folder, which must be empty or missing. The list is written last: without it there is no backup.
    /// When this returns, all of it is on disk.
    public func make(_ tell: (Progress) -> Void) async throws {
        // Those that get an entry.
        var parents: [URL] = []
        // Of `missing/..` the last component cannot be taken off.
        while case let place = parents.last ?? folder, place.lastPathComponent != "..",
            !FileManager.default.fileExists(atPath: place.path)
        {
            parents.append(place.deletingLastPathComponent())
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty else {
            throw Failure.notEmpty(folder: folder.path)
        }
        let stem = PartitionStreams.stem(root)
        let names = try await jetStream.streamNames(beginningWith: "\(stem)_")
        let logs = names.filter { $0.dropFirst(stem.count).wholeMatch(of: /_LOG_[0-9]+/) != nil }
        // They alone may have the rooms.
        if let copy = names.first(where: { $0.hasPrefix("\(stem)_MOVING_") }) { throw Failure.moving(copy: copy) }
        let orphans = names.filter { name in
            name.dropFirst(stem.count).wholeMatch(of: /_CHECKPOINT_([0-9]+)/)
                .map { !names.contains("\(stem)_LOG_\($0.1)") } ?? false
        }
        guard !logs.isEmpty || !orphans.isEmpty else { throw Failure.noStreams(root: root) }
        var streams: [List.Stream] = []
        for orphan in orphans { streams.append(try await copy(orphan, tell).stream) }
        for log in logs {
            let checkpoints = "\(stem)_CHECKPOINT_\(log.split(separator: "_").last ?? "")"
            streams += try await partition(log, names.contains(checkpoints) ? checkpoints : nil, tell)
        }
        for name in ["\(stem)_ASSETS", AuditLog.stream(of: root), RevocationStore.stream(root)]
        where names.contains(name) {
            streams.append(try await copy(name, tell).stream)
        }
        let list = List(root: root, made: Date().formatted(.iso8601), streams: streams)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let path = folder.appendingPathComponent(Self.listName)
        try encoder.encode(list).write(to: path, options: .atomic)
        for place in [path, folder] + parents { try Self.flush(place) }
    }

    /// Has a file, or the entries of a folder, written to disk.
    private static func flush(_ place: URL) throws {
        let descriptor = open(place.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // Entries can be made in a folder that cannot be read.
            guard errno == EACCES else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            return
        }
        defer { close(descriptor) }
        // Some file systems sync no folders.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    private func partition(
        _ log: String, _ checkpoints: String?, _ tell: (Progress) -> Void
    ) async throws -> [List.Stream] {
        guard let checkpoints else { return [try await copy(log, tell).stream] }
        var first: UInt64 = 0
        for _ in 0..<Self.attempts {
            let before = try await jetStream.streamInfo(log).firstSequence
            let covered = try await covered(of: log)
            let (saved, header) = try await copy(checkpoints, tell)
            let (records, logHeader) = try await copy(log, tell)
            first = logHeader.firstSequence
            // The checkpoints that were copied hold what was covered before.
            if first <= max(1, before, ((try? covered.get()) ?? 0) + 1) { return [saved, records] }
            // No other checkpoints: the copies are what a daemon finds on the server.
            if try await jetStream.streamInfo(checkpoints).lastSequence == header.lastSequence {
                return [saved, records]
            }
            tell(.again(stream: log))
        }
        throw Failure(log, removedThrough: first - 1, covered: try await covered(of: log))
    }

    /// The last record of a log that checkpoints hold with all before it; 0 where that is not known. A failure where the user
    /// may not ask.
    private func covered(of log: String) async throws -> Result<UInt64, JetStreamError> {
        guard let partition = Int(log.split(separator: "_").last ?? "") else { return .success(0) }
        let streams = PartitionStreams(root: root, partition: partition)
        let identity = StreamIdentity(.log, of: try await jetStream.streamInfo(log))
        do throws(JetStreamError) {
            let message = try await jetStream.lastMessage(streams.checkpoint, subject: streams.coverage)
            // That of a newer release says nothing to this one.
            guard let message, let coverage = try? Coverage(decoding: message.payload), coverage.log == identity.text
            else { return .success(0) }
            return .success(coverage.covered)
        } catch {
            guard case .connection(.notPermitted) = error else { throw error }
            return .failure(error)
        }
    }

    private func copy(
        _ name: String, _ tell: (Progress) -> Void
    ) async throws -> (stream: List.Stream, header: StreamSnapshotHeader) {
        let file = "\(name).snapshot"
        let path = folder.appendingPathComponent(file)
        try Data().write(to: path)
        let handle = try FileHandle(forWritingTo: path)
        defer { try? handle.close() }
        var hash = SHA256()
        var bytes: UInt64 = 0
        tell(.began(stream: name, bytes: try await jetStream.streamInfo(name).bytes))
        let header = try await jetStream.snapshot(of: name) { part in
            try handle.write(contentsOf: part)
            hash.update(part)
            bytes += UInt64(part.count)
            tell(.went(stream: name, bytes: bytes))
        }
        try handle.synchronize()
        tell(.done(stream: name, messages: header.messages))
        let stream = List.Stream(
            name: name, file: file, request: String(decoding: header.request, as: UTF8.self),
            messages: header.messages, sha256: hash.finalize().hexadecimal)
        return (stream, header)
    }
}

/// Restoring one.
extension StreamBackup {
    /// Checks every file by its hash.
    /// - Returns: the names of the streams, in the order in which they are restored.
    @discardableResult
    public static func verify(_ folder: URL) throws -> [String] {
        let list = try list(folder)
        for stream in list.streams {
            let file = folder.appendingPathComponent(stream.file)
            guard FileManager.default.isReadableFile(atPath: file.path) else {
                throw Failure.missing(file: stream.file)
            }
            guard try hash(of: file) == stream.sha256 else {
                throw Failure.damaged(file: stream.file)
            }
        }
        return restoreOrder(list).map(\.name)
    }

    /// Makes the streams of a backup, after all its files have been checked. Others of its root may not stay: logs of another
    /// number of partitions, or of another time, would not be those of one service.
    ///
    /// Logs come last: a daemon that waits for its streams goes on when all are there.
    /// - Parameter replacing: whether streams of the root that exist are deleted; else they are an error.
    public func restore(replacing: Bool = false, _ tell: (Progress) -> Void) async throws {
        try Self.verify(folder)
        let list = try Self.list(folder)
        let stem = PartitionStreams.stem(list.root)
        let own = Set(list.streams.map(\.name))
        let taken = try await jetStream.streamNames(beginningWith: "").filter { name in
            own.contains(name)
                || name.hasPrefix(stem)
                    && name.dropFirst(stem.count).wholeMatch(
                        of: /_(MOVING_)?((LOG|CHECKPOINT)_[0-9]+|ASSETS|AUDIT|REVOKED)/) != nil
        }
        guard taken.isEmpty || replacing else { throw Failure.exists(streams: taken) }
        // By name, so that revocations go last: as long as they are there, a daemon that starts makes no empty logs.
        for stream in taken.sorted() { try await jetStream.delete(stream) }
        for stream in Self.restoreOrder(list) {
            let header = try StreamSnapshotHeader(stream: stream.name, request: Array(stream.request.utf8))
            let handle = try FileHandle(forReadingFrom: folder.appendingPathComponent(stream.file))
            defer { try? handle.close() }
            tell(.began(stream: stream.name, bytes: header.bytes))
            var bytes: UInt64 = 0
            try await jetStream.restore(header) {
                guard let part = try handle.read(upToCount: Self.readBytes), !part.isEmpty else { return nil }
                bytes += UInt64(part.count)
                tell(.went(stream: stream.name, bytes: bytes))
                return Array(part)
            }
            tell(.done(stream: stream.name, messages: header.messages))
        }
    }

    private static func list(_ folder: URL) throws -> List {
        guard let bytes = try? Data(contentsOf: folder.appendingPathComponent(listName)),
            let list = try? JSONDecoder().decode(List.self, from: bytes)
        else { throw Failure.noBackup(folder: folder.path) }
        guard list.format == 1 else { throw Failure.newer(version: list.format) }
        // The list may come from anywhere: a file of it lies in the folder.
        guard list.streams.allSatisfy({ !$0.file.contains("/") && !$0.file.hasPrefix(".") }) else {
            throw Failure.damaged(file: listName)
        }
        return list
    }

    private static func restoreOrder(_ list: List) -> [List.Stream] {
        list.streams.filter { !$0.name.contains("_LOG_") } + list.streams.filter { $0.name.contains("_LOG_") }
    }

    private static func hash(of file: URL) throws -> String {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        var hash = SHA256()
        while let part = try handle.read(upToCount: readBytes), !part.isEmpty { hash.update(Array(part)) }
        return hash.finalize().hexadecimal
    }
}
