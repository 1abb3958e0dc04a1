public import Assets
internal import Cryptography
public import Logging
public import NATSClient
public import StrokeWire

/// The files that are placed on boards, in the stream `<ROOT>_ASSETS`, each stored once for all rooms.
///
/// An asset is a manifest, on `<root>.assets.<id>.manifest`, and the parts of its bytes, on
/// `<root>.assets.<id>.<upload>.<i>`. The parts are written first, so that a stored manifest names stored parts; without a
/// manifest an asset is not there. The parts of each upload have subjects of their own: two uploads of one file at the same
/// time harm each other as little as one that was cut off. A manifest is written again when its asset is used; one that was
/// not for the journal's `maxAge` and a quarter goes, with all that belongs to it, in a ``sweep(at:)``: what is kept for
/// `maxAge` after it was written does not outlive an asset that it uses, though not every use is written.
///
/// A value; any thread.
public struct AssetStore: Sendable {
    /// What a stored message takes beside its payload, about.
    private static let messageBytes = 256

    let settings: JournalSettings
    private let maxBytes: Int64
    let roomBytes: Int64
    let subjects: AssetSubjects
    private let jetStream: JetStream
    private let logger: Logger

    /// - Parameters:
    ///   - root: the first tokens of all subjects.
    ///   - maxBytes: of all assets together; -1: no limit.
    ///   - roomBytes: of the assets that were uploaded to one room; -1: no limit.
    public init(
        root: String, settings: JournalSettings, maxBytes: Int64, roomBytes: Int64 = -1, connection: NATSConnection,
        logger: Logger
    ) {
        self.settings = settings
        self.maxBytes = maxBytes
        self.roomBytes = roomBytes
        self.logger = logger
        subjects = AssetSubjects(root: root)
        jetStream = JetStream(connection, timeout: settings.timeout)
    }

    /// Creates the stream where there is none. An existing one is not changed; differences are logged.
    ///
    /// It has no limit of its own: JetStream would take that space from other streams at once, and refuse the stream where
    /// there is less.
    public func provision() async throws(AssetStoreError) {
        var stream = StreamConfiguration(name: subjects.stream, subjects: [subjects.all])
        stream.replicas = settings.replicas
        stream.maxMessagesPerSubject = 1
        stream.discard = .new
        stream.duplicateWindow = settings.duplicateWindow
        _ = try await onStream { () throws(JetStreamError) in try await jetStream.provision(stream, logger: logger) }
    }

    private func failure(_ error: JetStreamError) -> AssetStoreError {
        error.isFull ? .full : .stream(name: subjects.stream, error)
    }

    private func onStream<Value>(
        _ body: () async throws(JetStreamError) -> Value
    ) async throws(AssetStoreError) -> Value {
        do throws(JetStreamError) {
            return try await body()
        } catch {
            throw failure(error)
        }
    }

    /// The newest message of a subject; nil also where the stream has not been made yet.
    func message(_ subject: String) async throws(AssetStoreError) -> StoredMessage? {
        do throws(JetStreamError) {
            return try await jetStream.lastMessage(subjects.stream, subject: subject)
        } catch {
            if error.isStreamMissing { return nil }
            throw failure(error)
        }
    }
}

/// Writing.
extension AssetStore {
    /// Stores an asset; where it is stored already, only that it is used.
    ///
    /// - Parameter manifest: of these bytes.
    /// - Throws: `.full`, `.disturbed`; then nothing of it is left.
    public func save(_ bytes: [UInt8], _ manifest: AssetManifest) async throws(AssetStoreError) {
        for attempt in 0..<Self.attempts {
            guard try await touchWhole(manifest.id) == nil else { return }
            try await checkSpace(bytes.count)
            if try await store(bytes, manifest) { return }
            // Maybe nothing was deleted, and the stream cannot read what it has stored.
            guard attempt > 0 else { continue }
            _ = try await onStream { () throws(JetStreamError) in
                try await jetStream.leaveDamagedFile(of: subjects.stream, filler: subjects.filler, logger: logger)
            }
        }
        throw .disturbed
    }

    /// Attempts to store an asset of which something is deleted meanwhile.
    private static let attempts = 4

    /// Writes the parts and the manifest of an asset.
    /// - Returns: false where nothing of it is left: parts were deleted before the manifest named them.
    private func store(_ bytes: [UInt8], _ manifest: AssetManifest) async throws(AssetStoreError) -> Bool {
        let stored = StoredAssetManifest(
            asset: manifest, upload: String(UInt64.random(in: .min ... .max), radix: 36),
            parts: (bytes.count + partBytes - 1) / partBytes)
        var written: [UInt64] = []
        do throws(AssetStoreError) {
            for number in 0..<stored.parts {
                let part = Array(bytes[number * partBytes..<min(bytes.count, (number + 1) * partBytes)])
                written.append(try await publish(part, to: subjects.part(number, of: stored)))
            }
            // Another upload of the same file may have been quicker.
            if try await touchWhole(manifest.id) == nil {
                let named = try await publish(stored.encoded(), to: subjects.manifest(of: manifest.id))
                // An erasure deletes parts that have no manifest yet. Where it does so from now on, it takes the manifest, too.
                if try await isWhole(stored) { return true }
                await discard([named] + written)
                return false
            }
        } catch {
            await discard(written)
            throw error
        }
        await discard(written)
        return true
    }

    /// Says that assets are used, so that they stay. Those that are not there are passed over.
    public func touch(_ ids: some Collection<AssetID> & Sendable) async throws(AssetStoreError) {
        for id in ids { _ = try await touch(id) }
    }

    /// Writes a manifest again, where that of long ago is there.
    /// - Parameter now: by this process's clock, in nanoseconds since 1970.
    func touch(
        _ id: AssetID, at now: Int64 = WallClock.now()
    ) async throws(AssetStoreError) -> StoredAssetManifest? {
        guard let (manifest, message) = try await newest(id) else { return nil }
        // Not at every use: an eighth of the age is soon enough. One of the future is that of a clock which is behind.
        let age = Duration.nanoseconds(abs(now - message.time))
        if settings.maxAge > .zero, age > settings.maxAge / 8 {
            guard try await rewrite(message, subjects.manifest(of: id)) else { return try await newest(id)?.manifest }
        }
        return manifest
    }

    /// Writes a message again, unless it is the newest of its subject no more: a manifest that was deleted meanwhile must not
    /// come back without its parts.
    /// - Returns: whether it was written.
    private func rewrite(_ message: StoredMessage, _ subject: String) async throws(AssetStoreError) -> Bool {
        do throws(JetStreamError) {
            _ = try await jetStream.publish(
                message.payload, to: subject, headers: ["Nats-Expected-Last-Subject-Sequence": "\(message.sequence)"])
            return true
        } catch {
            if error.isOutOfDate { return false }
            throw failure(error)
        }
    }

    /// The manifest of an asset that is there with all its parts; nil, so that it is stored again, for any other.
    private func touchWhole(_ id: AssetID) async throws(AssetStoreError) -> StoredAssetManifest? {
        guard let manifest = try await touch(id) else { return nil }
        guard try await isWhole(manifest) else {
            logger.warning("parts of an asset are missing; it is stored again", metadata: ["asset": "\(id)"])
            return nil
        }
        return manifest
    }

    private func isWhole(_ manifest: StoredAssetManifest) async throws(AssetStoreError) -> Bool {
        try await messages(subjects.parts(of: manifest)).count == manifest.parts
    }

    /// Uploads at the same time may together go beyond the limit, each once.
    private func checkSpace(_ bytes: Int) async throws(AssetStoreError) {
        let info = try await info()
        let limits = [maxBytes, info.configuration.maxBytes].filter { $0 > 0 }
        guard let limit = limits.min() else { return }
        let needed = bytes + (bytes / partBytes + 2) * Self.messageBytes
        guard Int64(clamping: info.bytes) + Int64(needed) <= limit else { throw .full }
    }

    private func info() async throws(AssetStoreError) -> StreamInfo {
        return try await onStream { () throws(JetStreamError) in try await jetStream.streamInfo(subjects.stream) }
    }

    /// The sequence of the stream's newest message; 0 also where the stream has not been made yet.
    public func lastSequence() async throws(AssetStoreError) -> UInt64 {
        do throws(JetStreamError) {
            return try await jetStream.streamInfo(subjects.stream).lastSequence
        } catch {
            if error.isStreamMissing { return 0 }
            throw failure(error)
        }
    }

    /// Bytes that all assets take.
    public func usedBytes() async throws(AssetStoreError) -> Int64 { Int64(clamping: try await info().bytes) }

    /// The bytes of a part; fewer than the limit where the server allows no such message.
    private var partBytes: Int { min(AssetLimits.partBytes, jetStream.connection.maxBody) }

    func publish(_ bytes: [UInt8], to subject: String) async throws(AssetStoreError) -> UInt64 {
        return try await onStream { () throws(JetStreamError) in
            try await jetStream.publish(bytes, to: subject).sequence
        }
    }

    /// Deletes messages and overwrites them on disk; what cannot be deleted is left to a sweep.
    /// - Returns: whether all are deleted.
    @discardableResult
    func discard(_ sequences: [UInt64]) async -> Bool {
        do throws(AssetStoreError) {
            // One after the other: a manifest, which comes first, goes before the parts that it names.
            for sequence in sequences { try await delete([sequence]) }
            return true
        } catch {
            logger.debug("cannot delete a part of an asset", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Deletes messages and overwrites them on disk.
    func delete(_ sequences: [UInt64]) async throws(AssetStoreError) {
        try await onStream { () throws(JetStreamError) in
            try await jetStream.deleteMessages(subjects.stream, sequences, overwriting: true)
        }
    }
}

/// Reading.
extension AssetStore {
    /// The manifest of a stored asset; nil where there is none.
    public func manifest(of id: AssetID) async throws(AssetStoreError) -> AssetManifest? {
        try await newest(id)?.manifest.asset
    }

    /// The bytes of a stored asset, checked by their hash; nil, and logged where they are damaged, when they are not there.
    public func bytes(of id: AssetID) async throws(AssetStoreError) -> [UInt8]? {
        guard let (manifest, _) = try await newest(id) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(manifest.asset.bytes)
        for number in 0..<manifest.parts {
            guard let part = try await message(subjects.part(number, of: manifest)) else {
                return damaged(id, "part \(number) is missing")
            }
            bytes += part.payload
            guard bytes.count <= manifest.asset.bytes else { break }
        }
        guard AssetID(hashOf: bytes) == id else { return damaged(id, "its parts do not match its hash") }
        return bytes
    }

    private func damaged(_ id: AssetID, _ why: String) -> [UInt8]? {
        logger.warning("asset cannot be read", metadata: ["asset": "\(id)", "reason": "\(why)"])
        return nil
    }

    /// The manifest that was written last, and its message; nil where there is none that can be read.
    func newest(
        _ id: AssetID
    ) async throws(AssetStoreError) -> (manifest: StoredAssetManifest, message: StoredMessage)? {
        guard let message = try await message(subjects.manifest(of: id)) else { return nil }
        guard let manifest = StoredAssetManifest(decoding: message.payload), manifest.asset.id == id else {
            logger.warning("the manifest of an asset is damaged", metadata: ["asset": "\(id)"])
            return nil
        }
        return (manifest, message)
    }

    /// A message of the stream.
    struct Listed: Sendable {
        let subject: String
        let sequence: UInt64
        /// Empty where it was not asked for.
        let payload: [UInt8]
        /// In nanoseconds since 1970.
        let time: Int64
    }

    /// The messages of a subject, which may have wildcards.
    func messages(_ subject: String, withPayloads: Bool = false) async throws(AssetStoreError) -> [Listed] {
        try await list(subject, withPayloads: withPayloads).messages
    }

    /// The same, and the server's clock, in nanoseconds since 1970.
    func list(
        _ subject: String, withPayloads: Bool = false
    ) async throws(AssetStoreError) -> (messages: [Listed], serverTime: Int64) {
        var settings = OrderedConsumerSettings(stream: subjects.stream, start: 1, filterSubject: subject)
        settings.headersOnly = !withPayloads
        var found: [Listed] = []
        let serverTime = try await onStream { () throws(JetStreamError) in
            try await jetStream.readToEnd(
                settings, logger: logger, timeout: .seconds(30),
                decode: { message, metadata in
                    Listed(
                        subject: message.subject, sequence: metadata.streamSequence,
                        payload: withPayloads ? message.copyPayload() : [], time: metadata.time)
                }, take: { found.append($0) }
            ).get()
        }
        return (found, serverTime)
    }
}

extension AssetID {
    /// The name of some bytes.
    public init(hashOf bytes: [UInt8]) {
        guard let id = Self(digest: SHA256.hash(bytes).bytes) else {
            preconditionFailure("a SHA-256 has 32 bytes")
        }
        self = id
    }
}

/// Why an asset could not be read or written.
public enum AssetStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    case full
    /// A room has as many bytes of assets as it may have.
    case roomFull(limit: Int64)
    /// Something of it was deleted again and again while it was stored.
    case disturbed
    case stream(name: String, JetStreamError)

    public var description: String {
        switch self {
        case .full: "the stream of assets is full"
        case .roomFull(let limit): "the room has \(limit) bytes of assets, as many as it may have"
        case .disturbed: "the file was erased while it was stored"
        case .stream(let name, let error): "\(name): \(error)"
        }
    }
}
