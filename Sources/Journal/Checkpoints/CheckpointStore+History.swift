import NATSClient
import StrokeWire

extension CheckpointStore {
    /// Manifests of one room that are looked at; the stream keeps fewer, unless an operator made it otherwise.
    static let maxHistory = 16

    /// The usable manifest before that one, if there is one: for a state that turned out to be damaged.
    public func manifest(before newer: CheckpointManifest) async throws(JournalError) -> CheckpointManifest? {
        let usable = try await manifests(of: newer.room).compactMap { try? CheckpointManifest(decoding: $0) }
        return usable.prefix { $0 != newer }.last
    }

    /// The newest usable manifest of a room.
    func newestUsable(_ room: RoomID) async throws(JournalError) -> CheckpointManifest? {
        try await manifests(of: room).compactMap { try? CheckpointManifest(decoding: $0) }.last { $0.room == room }
    }

    /// The stored manifests of a room, oldest first.
    private func manifests(of room: RoomID) async throws(JournalError) -> [[UInt8]] {
        let streams = streams(of: RoomAddress.partition(of: room, among: partitions))
        var bodies: [[UInt8]] = []
        var next: UInt64 = 1
        do throws(JetStreamError) {
            while bodies.count < Self.maxHistory,
                let message = try await jetStream.nextMessage(
                    streams.checkpoint, subject: streams.manifest(of: room), from: next)
            {
                bodies.append(message.payload)
                next = message.sequence + 1
            }
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
        return bodies
    }
}
