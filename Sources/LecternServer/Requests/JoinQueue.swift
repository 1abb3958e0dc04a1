import Dispatch
import Foundation
import Locking
import StrokeWire
import Whiteboard

/// Answers joins on threads of its own, apart from those that release operations and those that render.
///
/// Equal requests that wait at the same time share one reply, encoded once from the newest of their snapshots: nobody
/// gets a board older than their request. Rooms are divided among the threads by name; many who wait for one large board
/// get it in turns, between those of other rooms. Bounded by a ``ReplyBudget``; requests beyond are answered `not-ready`.
/// Safe from any thread.
final class JoinQueue: Sendable {
    /// The content of a reply: equal keys share one.
    private struct Key: Hashable {
        let room: RoomIncarnation
        let view: RoomFeed
        /// The operations after this one; nil for the board.
        let after: UInt64?
        /// The position whose board was asked for; nil for the newest.
        let index: UInt64?
        let encoding: WireEncoding
        let part: JoinRequest.Part
    }

    private struct Pending {
        var snapshot: CatchUp
        var bytes: Int
        var replies: [String]
    }

    private let queues: [DispatchQueue]
    private let configuration: ServerConfiguration
    private let sink: ReplySink
    private let turns: ReplyTurns
    private let pending = Locked<[Key: Pending]>([:])

    init(_ configuration: ServerConfiguration, budget: ReplyBudget<RoomID>, sink: ReplySink) {
        // Half of the cores; the other half is for the rooms.
        let count = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
        queues = (0..<count).map { DispatchQueue(label: "lectern.joins.\($0)") }
        self.configuration = configuration
        self.sink = sink
        turns = ReplyTurns(budget)
    }

    /// Queues the reply made from a snapshot of the room; returns at once.
    /// - Parameter request: what was asked for.
    /// - Returns: false if the bound was reached and `not-ready` was answered.
    func answer(
        _ snapshot: CatchUp, of room: RoomID, _ view: RoomFeed, to request: JoinRequest = JoinRequest(),
        reply: String
    ) -> Bool {
        let incarnation = RoomIncarnation(room: room, incarnation: snapshot.incarnation)
        var after: UInt64?
        if case .tail(let operations) = snapshot.content { after = snapshot.index - UInt64(operations.count) }
        let key = Key(
            room: incarnation, view: view, after: after, index: request.index, encoding: request.encoding,
            part: request.part)
        guard let isFirst = pending.withLock({ add(snapshot, key, reply, to: &$0) }) else {
            sink.refuse(reply, .busy)
            return false
        }
        if isFirst { queue(of: room).async { self.make(key) } }
        return true
    }

    private func queue(of room: RoomID) -> DispatchQueue {
        queues[Int(UInt(bitPattern: room.hashValue) % UInt(queues.count))]
    }

    /// - Returns: whether it is the first request for the reply; nil where the bound is reached.
    private func add(_ snapshot: CatchUp, _ key: Key, _ reply: String, to pending: inout [Key: Pending]) -> Bool? {
        let room = key.room.room
        let bytes = snapshot.byteEstimate
        guard let index = pending.index(forKey: key) else {
            guard turns.reserve(room, bytes: bytes) else { return nil }
            pending[key] = Pending(snapshot: snapshot, bytes: bytes, replies: [reply])
            return true
        }
        let isNewer = snapshot.index > pending.values[index].snapshot.index
        guard turns.reserve(room, bytes: isNewer ? bytes - pending.values[index].bytes : 0) else { return nil }
        if isNewer {
            pending.values[index].snapshot = snapshot
            pending.values[index].bytes = bytes
        }
        pending.values[index].replies.append(reply)
        return false
    }

    private func make(_ key: Key) {
        guard let pending = pending.withLock({ $0.removeValue(forKey: key) }) else { return }
        let room = key.room.room
        let bytes =
            turns.isClosing
            ? []
            : pending.snapshot.encoded(
                palette: configuration.palette, style: configuration.inkName,
                features: configuration.room.intake.wire.features, as: key.encoding)
        turns.answer(
            pending.replies[...], of: room, bytes: bytes.count, reserved: pending.bytes, on: queue(of: room)
        ) { [sink, turns] reply in
            if turns.isClosing { sink.refuse(reply, .shuttingDown) } else { sink.send(bytes, reply) }
        }
    }

    /// Finishes the replies being made and refuses the requests that wait.
    func close() {
        turns.close()
        for queue in queues { queue.sync {} }
    }

    var isClosing: Bool { turns.isClosing }

    var isIdle: Bool { turns.isIdle }
}
