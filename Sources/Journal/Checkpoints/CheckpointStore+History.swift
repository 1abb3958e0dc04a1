import NATSClient
import StrokeWire

extension CheckpointStore {
    /// Manifests of one room that are looked at; the stream keeps fewer, unless an operator made it otherwise.
    static let maxHistory = 16

    /// The best usable manifest after that one, if there is one: for a state that turned out to be damaged.
    public func manifest(before better: CheckpointManifest) async throws(JournalError) -> CheckpointManifest? {
        let usable = Self.usable(try await manifests(of: better.room), of: better.room, log: better.log)
        return usable.prefix { $0 != better }.last
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
