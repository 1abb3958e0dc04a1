import AssetOpener
import Assets
import Journal
import Locking
import Logging
import Metrics
import StrokeWire
import Synchronization

/// The assets of all rooms: takes files, and gives pictures of their pages.
///
/// Safe from any task. What waits is bounded by the opener's queue; pictures are kept within a number of bytes.
final class AssetLibrary: Sendable {
    private let store: AssetStore
    private let sweepInterval: Duration
    private let metrics: ServerMetrics
    private let opener: AssetOpener
    private let logger: Logger
    /// Bytes of rendered pages that are kept.
    private static let pictureBytes = 32 << 20
    /// What a picture takes beside its bytes, about.
    private static let entryBytes = 256
    private let pictures: Locked<LRUCache<PageKey, [UInt8]>>
    /// How often assets have gone: what is rendered meanwhile is not kept.
    private let erasures = Atomic(0)

    /// - Parameter sweepInterval: how often what nobody uses is looked for, at least; an hour where it is longer.
    init(
        store: AssetStore, opener: AssetOpener, sweepInterval: Duration, metrics: ServerMetrics, logger: Logger
    ) {
        self.store = store
        self.sweepInterval = sweepInterval
        self.metrics = metrics
        self.opener = opener
        self.logger = logger
        pictures = Locked(LRUCache(byteLimit: Self.pictureBytes))
    }

    /// Between sweeps of what nobody uses, at most; of several daemons each sweeps.
    private static let longestSweepInterval: Duration = .seconds(3600)

    /// Makes the stream, then sweeps it now and then, and says which assets are used, until cancelled.
    func run(_ use: AssetUse) async {
        await provision()
        await withDiscardingTaskGroup { group in
            group.addTask { await use.run { await self.touch($0) } }
            group.addTask { await self.sweep() }
        }
    }

    private func provision() async {
        await retrying(pauses: .seconds(1) ... .seconds(60)) { () async throws(AssetStoreError) in
            try await store.provision()
        } onFailure: {
            logger.warning("assets cannot be kept yet", metadata: ["error": "\($0)"])
        }
    }

    private func sweep() async {
        while !Task.isCancelled {
            do throws(AssetStoreError) {
                let deleted = try await store.sweep()
                if deleted > 0 { logger.info("unused assets deleted", metadata: ["messages": "\(deleted)"]) }
                metrics.assetBytes.set(try await store.usedBytes())
            } catch {
                guard !Task.isCancelled else { return }
                logger.warning("unused assets cannot be deleted", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: min(Self.longestSweepInterval, sweepInterval))
        }
    }

    /// Says that an asset is used, so that it stays.
    /// - Returns: false where the store does not answer.
    private func touch(_ id: AssetID) async -> Bool {
        do throws(AssetStoreError) {
            try await store.touch(CollectionOfOne(id))
            return true
        } catch {
            logger.warning("the use of an asset cannot be noted", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Stores a file that was uploaded to a room; it is opened first unless it is known already.
    ///
    /// - Parameter password: of an encrypted PDF, which is stored without encryption.
    /// - Throws: `.unreadable`, `.needsPassword`, `.tooLarge`, `.full`, `.roomFull`, `.noSandbox`, `.busy`; `.unavailable`
    ///   when JetStream does not answer.
    func add(_ bytes: [UInt8], password: String? = nil, to room: RoomID) async throws(AssetError) -> AssetManifest {
        do throws(AssetError) {
            var bytes = bytes
            if let password {
                bytes = try await opener.decrypted(bytes, id: AssetID(hashOf: bytes), password: password)
            }
            let manifest = try await store(bytes, for: room)
            metrics.assetUploads.count(.stored)
            if let bytes = try? await store.usedBytes() { metrics.assetBytes.set(bytes) }
            return manifest
        } catch {
            metrics.assetUploads.count(AssetUploadOutcome(error))
            throw error
        }
    }

    private func store(_ bytes: [UInt8], for room: RoomID) async throws(AssetError) -> AssetManifest {
        guard bytes.count <= AssetLimits.bytes else { throw .tooLarge("it has \(bytes.count) bytes") }
        let id = AssetID(hashOf: bytes)
        let manifest: AssetManifest
        if let known = try await stored(id) {
            manifest = known
        } else {
            manifest = try await opener.inspect(bytes, id: id)
        }
        try await inStore { () throws(AssetStoreError) in try await store.save(bytes, manifest, for: room) }
        return manifest
    }

    /// Notes that a stored file comes to a further room.
    /// - Throws: `.unknown` where it is not there; `.unavailable`.
    func note(_ id: AssetID, in room: RoomID) async throws(AssetError) -> AssetManifest {
        let manifest = try await inStore { () throws(AssetStoreError) in try await store.note(id, in: room) }
        guard let manifest else { throw .unknown }
        return manifest
    }

    /// What a picture of a page is kept as; a picture depends on that alone.
    struct PageKey: Sendable, Hashable {
        let asset: AssetID
        /// From 0.
        let page: Int
        /// In pixels.
        let width: Int
    }

    /// The key of a picture.
    ///
    /// - Parameters:
    ///   - page: from 0.
    ///   - width: in pixels; nil for the page's own. See ``AssetPage/renderedSize(width:of:)`` for what comes of it.
    /// - Throws: `.unknown` where there is no such page; `.unavailable`.
    func key(of id: AssetID, page: Int, width: Int?) async throws(AssetError) -> PageKey {
        guard let manifest = try await stored(id), manifest.pages.indices.contains(page) else { throw .unknown }
        let size = manifest.pages[page]
        let own = Int(min(max(size.width.rounded(), 1), Double(AssetLimits.renderedWidth)))
        let columns = size.renderedSize(width: width ?? own, of: manifest.format).width
        return PageKey(asset: id, page: page, width: columns)
    }

    /// A picture that is kept; counts as a use.
    func cachedPicture(_ key: PageKey) -> [UInt8]? {
        pictures.withLock { $0.value(key, at: MonotonicClock.now()) }
    }

    /// Drops the pictures of assets that are gone.
    func forget(_ assets: [AssetID]) {
        erasures.add(1, ordering: .relaxed)
        pictures.withLock { $0.removeAll { assets.contains($0.asset) } }
    }

    /// An asset that was read.
    struct File: Sendable {
        let manifest: AssetManifest
        let bytes: [UInt8]
    }

    /// A page as a PNG file.
    ///
    /// - Parameters:
    ///   - key: as ``key(of:page:width:)`` gives it.
    ///   - file: what was read last; then what was read for this page, so that the next page of it is not read again.
    /// - Throws: as ``key(of:page:width:)`` and ``add(_:to:)``.
    func picture(_ key: PageKey, reusing file: inout File?) async throws(AssetError) -> [UInt8] {
        if let picture = cachedPicture(key) { return picture }
        let before = erasures.load(ordering: .relaxed)
        if file?.manifest.id != key.asset {
            file = nil
            guard let manifest = try await stored(key.asset) else { throw .unknown }
            file = File(manifest: manifest, bytes: try await bytes(of: key.asset))
        }
        guard let file else { throw .unknown }
        let picture = try await opener.png(file.bytes, file.manifest, page: key.page, width: key.width)
        pictures.withLock {
            guard erasures.load(ordering: .relaxed) == before else { return }
            $0.insert(picture, key, bytes: picture.count + Self.entryBytes, at: MonotonicClock.now())
        }
        return picture
    }

    /// A page's pixels, for a canvas; see ``picture(_:reusing:)``.
    func pixels(of id: AssetID, page: Int, width: Int) async throws(AssetError) -> AssetPixels {
        guard let manifest = try await stored(id) else { throw .unknown }
        return try await opener.pixels(try await bytes(of: id), manifest, page: page, width: width)
    }

    func wasUploaded(_ id: AssetID, to room: RoomID) async throws(AssetError) -> Bool {
        try await inStore { () throws(AssetStoreError) in try await store.wasUploaded(id, to: room) }
    }

    private func stored(_ id: AssetID) async throws(AssetError) -> AssetManifest? {
        try await inStore { () throws(AssetStoreError) in try await store.manifest(of: id) }
    }

    private func bytes(of id: AssetID) async throws(AssetError) -> [UInt8] {
        let bytes = try await inStore { () throws(AssetStoreError) in try await store.bytes(of: id) }
        guard let bytes else { throw .unknown }
        return bytes
    }

    private func inStore<Value>(
        _ body: () async throws(AssetStoreError) -> Value
    ) async throws(AssetError) -> Value {
        do throws(AssetStoreError) {
            return try await body()
        } catch {
            switch error {
            case .full: throw .full
            case .roomFull(let limit): throw .roomFull(limit: limit)
            case .disturbed, .stream:
                logger.warning("the store of assets cannot be used", metadata: ["error": "\(error)"])
                throw .unavailable
            }
        }
    }
}
