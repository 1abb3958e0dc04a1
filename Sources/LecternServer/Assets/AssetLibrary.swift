import AssetOpener
import Assets
import Journal
import Locking
import Logging
import StrokeWire

/// The assets of all rooms: takes files, and gives pictures of their pages.
///
/// Safe from any task. What waits is bounded by the opener's queue; pictures are kept within a number of bytes.
final class AssetLibrary: Sendable {
    private let store: AssetStore
    private let opener: AssetOpener
    private let logger: Logger
    private let pictures: Locked<RenderedPageCache>

    /// - Parameter pictureBytes: of rendered pages that are kept.
    init(store: AssetStore, opener: AssetOpener, pictureBytes: Int = 32 << 20, logger: Logger) {
        self.store = store
        self.opener = opener
        self.logger = logger
        pictures = Locked(RenderedPageCache(byteLimit: pictureBytes))
    }

    /// Between sweeps of what nobody uses; of several daemons each sweeps.
    private static let sweepInterval: Duration = .seconds(3600)

    /// Makes the stream, then sweeps it now and then, until cancelled.
    func run() async {
        var isThere = false
        var wait: Duration = .seconds(1)
        while !Task.isCancelled {
            do throws(AssetStoreError) {
                if !isThere {
                    try await store.provision()
                    isThere = true
                }
                let deleted = try await store.sweep()
                if deleted > 0 { logger.info("unused assets deleted", metadata: ["messages": "\(deleted)"]) }
            } catch {
                logger.warning("assets cannot be kept yet", metadata: ["error": "\(error)"])
                wait = min(wait * 2, .seconds(60))
            }
            try? await Task.sleep(for: isThere ? Self.sweepInterval : wait)
        }
    }

    /// Stores a file, which is opened first unless it is known already.
    /// - Throws: `.unreadable`, `.tooLarge`, `.full`, `.noSandbox`, `.busy`; `.unavailable` when JetStream does not answer.
    func add(_ bytes: [UInt8]) async throws(AssetError) -> AssetManifest {
        guard bytes.count <= AssetLimits.bytes else { throw .tooLarge("it has \(bytes.count) bytes") }
        let id = AssetID(hashOf: bytes)
        let manifest: AssetManifest
        if let known = try await stored(id) {
            manifest = known
        } else {
            manifest = try await opener.inspect(bytes, id: id)
        }
        do throws(AssetStoreError) {
            try await store.save(bytes, manifest)
        } catch {
            throw failure(error)
        }
        return manifest
    }

    /// A page as a PNG file.
    ///
    /// - Parameters:
    ///   - page: from 0.
    ///   - width: in pixels; see ``AssetPage/renderedSize(width:of:)``.
    /// - Throws: `.unknown` where there is no such page; as ``add(_:)``.
    func picture(of id: AssetID, page: Int, width: Int) async throws(AssetError) -> [UInt8] {
        guard let manifest = try await stored(id), manifest.pages.indices.contains(page) else { throw .unknown }
        let size = manifest.pages[page].renderedSize(width: width, of: manifest.format)
        let key = RenderedPageCache.Key(asset: id, page: page, width: size.width)
        if let picture = pictures.withLock({ $0.picture(key) }) { return picture }
        let picture = try await opener.png(try await bytes(of: id), manifest, page: page, width: size.width)
        pictures.withLock { $0.insert(picture, for: key) }
        return picture
    }

    /// A page's pixels, for a canvas; parameters and errors as of ``picture(of:page:width:)``.
    func pixels(of id: AssetID, page: Int, width: Int) async throws(AssetError) -> AssetPixels {
        guard let manifest = try await stored(id) else { throw .unknown }
        return try await opener.pixels(try await bytes(of: id), manifest, page: page, width: width)
    }

    /// Says that assets are on boards, so that they stay.
    func touch(_ ids: [AssetID]) async {
        do throws(AssetStoreError) {
            try await store.touch(ids)
        } catch {
            logger.warning("the use of assets cannot be noted", metadata: ["error": "\(error)"])
        }
    }

    private func stored(_ id: AssetID) async throws(AssetError) -> AssetManifest? {
        do throws(AssetStoreError) {
            return try await store.manifest(of: id)
        } catch {
            throw failure(error)
        }
    }

    private func bytes(of id: AssetID) async throws(AssetError) -> [UInt8] {
        let bytes: [UInt8]?
        do throws(AssetStoreError) {
            bytes = try await store.bytes(of: id)
        } catch {
            throw failure(error)
        }
        guard let bytes else { throw .unknown }
        return bytes
    }

    private func failure(_ error: AssetStoreError) -> AssetError {
        guard error != .full else { return .full }
        logger.warning("the store of assets cannot be used", metadata: ["error": "\(error)"])
        return .unavailable
    }
}
