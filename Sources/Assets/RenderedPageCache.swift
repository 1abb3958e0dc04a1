public import StrokeWire

/// Encoded pictures of assets' pages, as many as fit a number of bytes; the least recently used go first.
///
/// A picture depends on its key alone, so that an entry is never wrong.
public struct RenderedPageCache: Sendable {
    /// What a picture shows.
    public struct Key: Sendable, Hashable {
        public let asset: AssetID
        /// From 0.
        public let page: Int
        /// In pixels.
        public let width: Int

        public init(asset: AssetID, page: Int, width: Int) {
            self.asset = asset
            self.page = page
            self.width = width
        }
    }

    private struct Entry {
        let picture: [UInt8]
        /// The number of the use; higher ones are later.
        var lastUse: UInt64
    }

    /// What an entry takes beside its picture, about.
    private static let entryBytes = 256

    private let byteLimit: Int
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0
    /// About what all entries take.
    public private(set) var byteCount = 0

    /// - Parameter byteLimit: of all entries together.
    public init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The picture; counts as a use.
    public mutating func picture(_ key: Key) -> [UInt8]? {
        guard let index = entries.index(forKey: key) else { return nil }
        uses += 1
        entries.values[index].lastUse = uses
        return entries.values[index].picture
    }

    /// Keeps a picture, unless it alone is beyond the limit.
    public mutating func insert(_ picture: [UInt8], for key: Key) {
        let bytes = picture.count + Self.entryBytes
        guard bytes <= byteLimit else { return }
        remove(key)
        while byteCount + bytes > byteLimit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            remove(oldest.key)
        }
        uses += 1
        entries[key] = Entry(picture: picture, lastUse: uses)
        byteCount += bytes
    }

    /// Removes the pictures of an asset.
    public mutating func removeAll(of asset: AssetID) {
        for key in entries.keys where key.asset == asset { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { byteCount -= entry.picture.count + Self.entryBytes }
    }
}
