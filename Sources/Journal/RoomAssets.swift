public import Assets
import NATSClient
public import StrokeWire

/// Which rooms an asset was uploaded to: a record on `<root>.assets.<id>.in-room.<room>` for each, which goes with the asset.
///
/// The records of a room are what its assets are counted by: so the limit holds over restarts, whichever daemon takes an
/// upload.
struct RoomAssetRecord: Sendable, Equatable, Codable {
    /// Bytes of the asset.
    var bytes: Int

    func encoded() -> [UInt8] { HashedJSON.encode(self) }

    /// Nil when the bytes are damaged.
    init?(decoding bytes: [UInt8]) {
        guard let record = HashedJSON.decode(Self.self, from: bytes), record.bytes >= 0 else { return nil }
        self = record
    }

    init(bytes: Int) {
        self.bytes = bytes
    }

    /// What it counts for. Small files count for more than they have: the records of a room are read at each upload, and
    /// this bounds their number.
    var countedBytes: Int64 { Int64(max(bytes, Self.leastBytes)) }

    static let leastBytes = 16 << 10
}

extension AssetStore {
    /// Stores an asset that was uploaded to a room.
    ///
    /// - Parameter manifest: of these bytes.
    /// - Throws: `.full`, `.roomFull`; then nothing of it is left.
    public func save(_ bytes: [UInt8], _ manifest: AssetManifest, for room: RoomID) async throws(AssetStoreError) {
        let isKnown = try await wasUploaded(manifest.id, to: room)
        // Written first, and then all are counted: of uploads at the same time none can miss the other.
        let record = RoomAssetRecord(bytes: manifest.bytes)
        let sequence = try await publish(record.encoded(), to: subjects.record(of: manifest.id, in: room))
        do throws(AssetStoreError) {
            if !isKnown, roomBytes >= 0, try await usedBytes(of: room) > roomBytes { throw .roomFull(limit: roomBytes) }
            try await save(bytes, manifest)
        } catch {
            if !isKnown { await delete([sequence]) }
            throw error
        }
    }

    /// Whether an asset was uploaded to a room, as long as it is there.
    public func wasUploaded(_ id: AssetID, to room: RoomID) async throws(AssetStoreError) -> Bool {
        try await message(subjects.record(of: id, in: room)) != nil
    }

    /// Bytes of the assets that were uploaded to a room, each counted once.
    public func usedBytes(of room: RoomID) async throws(AssetStoreError) -> Int64 {
        try await messages(subjects.records(of: room), withPayloads: true)
            .reduce(0) { $0 + (RoomAssetRecord(decoding: $1.payload)?.countedBytes ?? 0) }
    }
}
