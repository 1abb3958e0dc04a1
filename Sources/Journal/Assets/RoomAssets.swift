public import Assets
import NATSClient
public import StrokeWire

/// Which rooms an asset was uploaded to, or came to with a copied page: a record on `<root>.assets.<id>.in-room.<room>` for
/// each, which goes with the asset.
///
/// The records of a room are what its assets are counted by: so the limit holds over restarts, whichever daemon takes an
/// upload.
struct RoomAssetRecord: Sendable, Equatable, Codable {
    var bytes: Int
}

extension RoomAssetRecord {
    func encoded() -> [UInt8] { HashedJSON.encode(self) }

    /// Nil when the bytes are damaged.
    init?(decoding bytes: [UInt8]) {
        guard let record = HashedJSON.decode(Self.self, from: bytes), record.bytes >= 0 else { return nil }
        self = record
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
    /// - Throws: `.full`, `.roomFull`, `.disturbed`; then nothing of it is left.
    public func save(_ bytes: [UInt8], _ manifest: AssetManifest, for room: RoomID) async throws(AssetStoreError) {
        let isKnown = try await wasUploaded(manifest.id, to: room)
        // Written first, and then all are counted: of uploads at the same time none can miss the other.
        let record = RoomAssetRecord(bytes: manifest.bytes)
        let sequence = try await publish(record.encoded(), to: subjects.record(of: manifest.id, in: room))
        do throws(AssetStoreError) {
            if !isKnown, roomBytes >= 0, try await usedBytes(of: room) > roomBytes { throw .roomFull(limit: roomBytes) }
            try await save(bytes, manifest)
        } catch {
            if !isKnown { await discard([sequence]) }
            throw error
        }
        // An erasure of the room takes the record from before its decision: now the file is of the next life.
        _ = try? await publish(record.encoded(), to: subjects.record(of: manifest.id, in: room))
    }

    /// Notes that a stored asset comes to a room with a copied page: from then on no erasure of another room takes it. It
    /// counts as one that was uploaded, and is taken beyond the room's limit too.
    /// - Returns: the asset; nil, and nothing is noted, where it is not there.
    @discardableResult
    public func note(_ id: AssetID, in room: RoomID) async throws(AssetStoreError) -> AssetManifest? {
        guard let known = try await manifest(of: id) else { return nil }
        let isKnown = try await wasUploaded(id, to: room)
        let record = RoomAssetRecord(bytes: known.bytes)
        let sequence = try await publish(record.encoded(), to: subjects.record(of: id, in: room))
        // An erasure or a sweep that has not seen this record has deleted the manifest before.
        if let manifest = try await touch(id) { return manifest.asset }
        if !isKnown { await discard([sequence]) }
        return nil
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

/// Tells whether an asset came to a room before or after a decision to erase it.
///
/// By the sequences of the stream of assets. Times do not tell: the servers that lead this stream and the log may have
/// different clocks.
public struct AssetBoundary: Sendable, Equatable {
    /// The life of the room that an asset came to.
    public enum Life: Sendable {
        case ended, next
        /// It came at the moment of the decision.
        case unclear
    }

    /// The stream's last sequence shortly before the decision.
    public var before: UInt64
    /// The stream's last sequence shortly after the decision; nil for an erasure that goes on from the decision of an
    /// earlier attempt.
    public var after: UInt64?
    /// When the log took the decision, in nanoseconds since 1970.
    public var decidedAt: Int64

    /// How far the clocks of two servers may differ. Used without `after` only, and only to keep assets.
    static let maxClockSkew: Duration = .seconds(60)

    public init(before: UInt64, after: UInt64?, decidedAt: Int64) {
        self.before = before
        self.after = after
        self.decidedAt = decidedAt
    }

    /// - Parameters:
    ///   - sequence: of the record that the asset came.
    ///   - time: of that record, in nanoseconds since 1970.
    public func life(sequence: UInt64, time: Int64) -> Life {
        if sequence <= before { return .ended }
        let isNext = after.map { sequence > $0 } ?? (.nanoseconds(time - decidedAt) > Self.maxClockSkew)
        return isNext ? .next : .unclear
    }

    func life(_ message: AssetStore.Listed) -> Life { life(sequence: message.sequence, time: message.time) }
}

/// Giving up what an erased room has brought.
extension AssetStore {
    /// What became of an asset of an erased room.
    public enum Erasure: Sendable {
        case gone
        /// Another room has it, or the next life of this one.
        case inUse
        /// It is there, and may be of the life that ended.
        case left
    }

    /// The assets that came to a room before a decision, or at the moment of it.
    public func uploads(to room: RoomID, _ boundary: AssetBoundary) async throws(AssetStoreError) -> Set<AssetID> {
        Set(
            try await messages(subjects.records(of: room)).filter { boundary.life($0) != .next }.compactMap {
                subjects.asset(ofSubject: $0.subject)
            })
    }

    /// Deletes an asset, unless it came to another room too, or to this one since a decision.
    ///
    /// Whoever uploads it meanwhile finds it whole, or finds that it is not there and stores it anew. The record that it came
    /// to the room stays: by that an erasure that is repeated finds it.
    /// - Throws: when something of it may be left.
    public func erase(
        _ id: AssetID, of room: RoomID, _ boundary: AssetBoundary
    ) async throws(AssetStoreError) -> Erasure {
        var rest = try await messages(subjects.everything(of: id))
        if let reason = reason(toKeep: id, of: room, boundary, rest) { return reason }
        // An upload writes its record before it looks for the manifest, and its parts after both. A manifest may be written
        // again meanwhile, as it is from time to time while the asset is used.
        let subject = subjects.manifest(of: id)
        while let manifest = try await message(subject) {
            try await delete([manifest.sequence])
            rest = try await messages(subjects.everything(of: id))
            guard let reason = reason(toKeep: id, of: room, boundary, rest), tornManifest(manifest, rest) == nil else {
                continue
            }
            _ = try await publish(manifest.payload, to: subject)
            return reason
        }
        try await delete(rest.filter { !subjects.isRecord($0.subject) && $0.subject != subject }.map(\.sequence))
        // An upload may have found its parts there and named them before they were deleted: they go, but no others, so that an
        // upload that begins again is not disturbed each time.
        while let manifest = try await message(subject) {
            rest = try await messages(subjects.everything(of: id))
            guard let torn = tornManifest(manifest, rest) else {
                return reason(toKeep: id, of: room, boundary, rest) ?? .left
            }
            let parts = rest.filter { subjects.isPart($0.subject, of: torn) }
            try await delete([manifest.sequence] + parts.map(\.sequence))
        }
        return .gone
    }

    /// A manifest that names parts that are not among an asset's messages; nil for one that is whole.
    private func tornManifest(_ manifest: StoredMessage, _ messages: [Listed]) -> StoredAssetManifest? {
        // What another release has written is not for this one to judge.
        guard let manifest = StoredAssetManifest(decoding: manifest.payload) else { return nil }
        return messages.count { subjects.isPart($0.subject, of: manifest) } == manifest.parts ? nil : manifest
    }

    /// Why an asset is not deleted, by its messages; nil where it is.
    private func reason(
        toKeep id: AssetID, of room: RoomID, _ boundary: AssetBoundary, _ messages: [Listed]
    ) -> Erasure? {
        let own = subjects.record(of: id, in: room)
        let lives = messages.filter { subjects.isRecord($0.subject) }.map { record in
            record.subject == own ? boundary.life(record) : .next
        }
        if lives.contains(.next) { return .inUse }
        return lives.contains(.unclear) ? .left : nil
    }

    /// Deletes the record that an asset came to a room before a decision.
    public func eraseRecord(
        of id: AssetID, in room: RoomID, _ boundary: AssetBoundary
    ) async throws(AssetStoreError) {
        guard let record = try await message(subjects.record(of: id, in: room)),
            boundary.life(sequence: record.sequence, time: record.time) == .ended
        else { return }
        try await delete([record.sequence])
    }
}
