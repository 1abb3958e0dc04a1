import Assets
import Foundation
import Hosting
import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer

/// Texts in the files of a NATS server's store.
struct StoreFiles {
    private let files: [(name: String, bytes: Data)]

    init(_ server: NATSTestServer) throws {
        guard let folder = server.store else { throw Unexpected("the server has no store") }
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        files = names.compactMap { name in
            (try? Data(contentsOf: URL(filePath: folder).appending(path: name))).map { (name, $0) }
        }
        guard files.contains(where: { $0.bytes.count > 1000 }) else {
            throw Unexpected("there is nothing in \(folder)")
        }
    }

    func contains(_ pattern: some Sequence<UInt8>) -> Bool { !places(of: pattern).isEmpty }

    /// Where it is found first in each file: the file's name, and what is around it.
    func places(of pattern: some Sequence<UInt8>) -> [String] {
        let pattern = Data(pattern)
        return files.compactMap { name, bytes in
            guard let found = bytes.range(of: pattern) else { return nil }
            let around = bytes[max(found.lowerBound - 60, 0)..<min(found.upperBound + 60, bytes.count)]
            return "\(name) at \(found.lowerBound) of \(bytes.count): \(String(decoding: around, as: UTF8.self))"
        }
    }
}

/// What a room is known by.
struct RoomState: Equatable {
    let incarnation: String
    let index: UInt64
    let digest: BoardDigest

    init(_ reply: JoinReply) {
        (incarnation, index, digest) = (reply.room, reply.index, reply.digest)
    }
}

struct SampleFile {
    let bytes: [UInt8]
    let manifest: AssetManifest
    var id: AssetID { manifest.id }

    init(_ text: String) throws {
        bytes = Array(String(repeating: text, count: 20_000).utf8)
        let page = try #require(AssetPage(width: 595, height: 842))
        manifest = try #require(
            AssetManifest(id: AssetID(hashOf: bytes), format: .pdf, bytes: bytes.count, pages: [page]))
    }
}

extension DurableClass {
    /// The accounts of a server on which the service may not publish to a subject.
    static func accounts(denying subject: String) -> String {
        """
        accounts: {
          A: { jetstream: enabled, users: [
            { user: service, password: service, permissions: { publish: { deny: "\(subject)" } } },
            { user: test, password: test } ] }
        }
        """
    }

    /// Runs a body while a daemon runs that may not publish to a subject.
    static func serve(
        denying subject: String, _ adjust: @Sendable (inout ServerConfiguration) -> Void = { _ in },
        _ body: @Sendable (DurableClass) async throws -> Void
    ) async throws {
        try await NATSTestServer.with(jetStream: true, configuration: accounts(denying: subject)) { nats in
            let configuration = ServerConfiguration.test {
                $0.journal = JournalSettings()
                $0.journal?.timeout = .seconds(1)
                adjust(&$0)
            }
            let daemon = try await RunningDaemon(configuration, nats) {
                ($0.user, $0.password) = ("service", "service")
            }
            let client = NATSConnection(NATSSettings(nats, user: "test"), logger: .silent)
            try await client.connect()
            try await body(DurableClass(nats: nats, client: client, configuration: configuration))
            await client.close()
            try await daemon.stop()
        }
    }

    var journal: JournalSettings { configuration.journal ?? JournalSettings() }

    var assets: AssetStore {
        AssetStore(root: "ink", settings: journal, maxBytes: 1 << 30, connection: client, logger: .silent)
    }

    /// Erases a room as a daemon does that is asked to.
    @discardableResult
    func erase(
        _ address: RoomAddress, by command: String = UUID().uuidString,
        onProgress: @escaping @Sendable (CommandProgress) -> Void = { _ in }
    ) async throws -> (sequence: UInt64, what: String) {
        try await RoomErasure(configuration, settings: journal, connection: client, logger: .silent)
            .erase(address.room, by: command, onProgress: onProgress)
    }

    func manifest(of address: RoomAddress) async throws -> CheckpointManifest? {
        let log = try await client.journal(of: configuration.partitions).log(of: address.room)
        return try await client.checkpoints(of: configuration.partitions).manifest(of: address.room, log: log)
    }

    /// Waits until the newest checkpoint holds a record, and gives its state.
    func savedState(of address: RoomAddress, through sequence: UInt64) async throws -> [UInt8] {
        try await eventually("the room is saved through \(sequence)") {
            guard let manifest = try await manifest(of: address), manifest.sequence >= sequence,
                let state = manifest.state
            else { return nil }
            return try await client.checkpoints(of: configuration.partitions).bytes(of: state, room: address.room)
        }
    }

    func lastSequence(_ partition: Int = 0) async throws -> UInt64 {
        try await JetStream(client).streamInfo("INK_LOG_\(partition)").lastSequence
    }

    func messages(_ subject: String, in stream: String) async throws -> [UInt64] {
        var found: [UInt64] = []
        let settings = OrderedConsumerSettings(stream: stream, start: 1, filterSubject: subject)
        try await JetStream(client).readToEnd(
            settings, logger: .silent, decode: { _, metadata in metadata.streamSequence }, take: { found.append($0) })
        return found
    }
}

let quickCheckpoints: @Sendable (inout ServerConfiguration) -> Void = {
    $0.checkpoints = CheckpointSchedule(interval: .milliseconds(300), operations: 10, cursors: .milliseconds(200))
    $0.upkeepInterval = .milliseconds(200)
}

/// A message that shows an asset.
func image(_ number: Int, _ asset: AssetID) -> String {
    #"{"n":\#(number),"e":5,"i":"\#(asset)","w":400,"h":300,"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#
}
