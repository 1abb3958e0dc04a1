import NATSClient
import StrokeWire

/// Removing what nobody uses.
extension AssetStore {
    /// Deletes assets that were not used for the journal's `maxAge` and a quarter, and parts that no manifest names. Every daemon may do
    /// it, also at the same time. What goes is as old by the clock of the server, which has given all messages their times, as by
    /// that of this process: a clock that is ahead deletes nothing.
    ///
    /// - Parameter now: by this process's clock, in nanoseconds since 1970.
    /// - Returns: the number of deleted messages.
    @discardableResult
    public func sweep(at now: Int64 = WallClock.now()) async throws(AssetStoreError) -> Int {
        let (messages, serverTime) = try await list(subjects.all)
        return try await sweep(messages, at: min(now, serverTime))
    }

    /// Deletes what nobody uses of some messages.
    func sweep(_ messages: [Listed], at now: Int64) async throws(AssetStoreError) -> Int {
        var assets: [AssetID: [Listed]] = [:]
        for message in messages {
            if let id = subjects.asset(ofSubject: message.subject) { assets[id, default: []].append(message) }
        }
        var deleted = 0
        for (id, messages) in assets {
            let unused = try await unused(messages, of: id, at: now)
            if let manifest = unused.manifest {
                guard await discard([manifest]) else { continue }
                deleted += 1
                // It was used meanwhile, and is written again under another sequence.
                if try await message(subjects.manifest(of: id)) != nil { continue }
            }
            await discard(unused.others)
            deleted += unused.others.count
        }
        return deleted
    }

    /// The sequences of an asset's messages that can go: the manifest where nobody uses the asset, and the others that may
    /// only go when it is gone.
    private func unused(
        _ messages: [Listed], of id: AssetID, at now: Int64
    ) async throws(AssetStoreError) -> (manifest: UInt64?, others: [UInt64]) {
        let listed = messages.first { $0.subject == subjects.manifest(of: id) }
        let others = messages.filter { $0.subject != subjects.manifest(of: id) }
        let lifetime = settings.maxAge * 5 / 4
        // Read again: it may have been written meanwhile.
        let newest = try await newest(id)
        if let newest, newest.message.sequence == listed?.sequence, isOld(newest.message.time, lifetime, at: now) {
            // Not those of an upload that goes on: it finds no manifest and writes its own.
            let age = min(lifetime, Self.tornAge)
            return (newest.message.sequence, others.filter { isOld($0.time, age, at: now) }.map(\.sequence))
        }
        let isNamed = { (message: Listed) in newest.map { subjects.isPart(message.subject, of: $0.manifest) } ?? false }
        let loose = others.filter { !isNamed($0) && (newest == nil || !subjects.isRecord($0.subject)) }
        if newest == nil, listed != nil, let manifest = try await message(subjects.manifest(of: id)),
            StoredAssetManifest.isNewer(manifest.payload)
        {
            return (nil, [])
        }
        // A manifest that cannot be read is in nobody's way: the next upload replaces it.
        guard let last = loose.map(\.time).max(), isOld(last, Self.tornAge, at: now) else { return (nil, []) }
        return (nil, loose.map(\.sequence))
    }

    /// How long parts may wait for their manifest: far longer than an upload takes.
    private static let tornAge: Duration = .seconds(3600)

    private func isOld(_ time: Int64, _ age: Duration, at now: Int64) -> Bool {
        age > .zero && .nanoseconds(now.subtractingReportingOverflow(time).partialValue) > age
    }
}
