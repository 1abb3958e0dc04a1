import Dispatch
import Foundation
import Ink
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

    private struct State {
        var pending: [Key: Pending] = [:]
        var budget: ReplyBudget
        var isClosing = false
    }

    private let queues: [DispatchQueue]
    private let palette: Palette
    private let style: String
    private let features: BoardFeatures
    private let sink: ReplySink
    private let state: Locked<State>

    init(palette: Palette, style: String, features: BoardFeatures, budget: ReplyBudget, sink: ReplySink) {
        // Half of the cores; the other half is for the rooms.
        let count = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
        queues = (0..<count).map { DispatchQueue(label: "lectern.joins.\($0)") }
        self.palette = palette
        self.style = style
        self.features = features
        self.sink = sink
        state = Locked(State(budget: budget))
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
        switch state.withLock({ Self.add(snapshot, key, reply, to: &$0) }) {
        case .first?:
            queue(of: room).async { self.make(key) }
            return true
        case .another?:
            return true
        case nil:
            sink.refuse(reply, .busy)
            return false
        }
    }

    private func queue(of room: RoomID) -> DispatchQueue {
        queues[Int(UInt(bitPattern: room.hashValue) % UInt(queues.count))]
    }

    private enum Order { case first, another }

    private static func add(
        _ snapshot: CatchUp, _ key: Key, _ reply: String, to state: inout State
    ) -> Order? {
        let room = key.room.room
        let bytes = snapshot.byteEstimate
        guard let index = state.pending.index(forKey: key) else {
            guard state.budget.reserve(room, bytes: bytes) else { return nil }
            state.pending[key] = Pending(snapshot: snapshot, bytes: bytes, replies: [reply])
            return .first
        }
        let isNewer = snapshot.index > state.pending.values[index].snapshot.index
        let more = isNewer ? bytes - state.pending.values[index].bytes : 0
        guard state.budget.reserve(room, bytes: more) else { return nil }
        if isNewer {
            state.pending.values[index].snapshot = snapshot
            state.pending.values[index].bytes = bytes
        }
        state.pending.values[index].replies.append(reply)
        return .another
    }

    private func make(_ key: Key) {
        let (pending, isClosing) = state.withLock { ($0.pending.removeValue(forKey: key), $0.isClosing) }
        guard let pending else { return }
        let bytes =
            isClosing
            ? []
            : pending.snapshot.encoded(palette: palette, style: style, features: features, as: key.encoding)
        send(bytes, to: pending.replies[...], of: key.room.room, reserved: pending.bytes)
    }

    /// Sends a reply to as many as one turn has, and to the others when it is their turn again.
    private func send(_ bytes: [UInt8], to replies: ArraySlice<String>, of room: RoomID, reserved: Int) {
        let (isClosing, turn) = state.withLock { ($0.isClosing, $0.budget.turn(bytes: bytes.count)) }
        let count = isClosing ? replies.count : turn
        for reply in replies.prefix(count) {
            if isClosing { sink.refuse(reply, .shuttingDown) } else { sink.send(bytes, reply) }
        }
        let rest = replies.dropFirst(count)
        state.withLock {
            $0.budget.release(
                room, requests: replies.count - rest.count, bytes: rest.isEmpty ? reserved : 0)
        }
        guard !rest.isEmpty else { return }
        // Queues are waited for at the end: what has not been queued by then is refused here.
        guard !self.isClosing else { return send([], to: rest, of: room, reserved: reserved) }
        queue(of: room).async { self.send(bytes, to: rest, of: room, reserved: reserved) }
    }

    /// Finishes the replies being made and refuses the requests that wait.
    func close() {
        state.withLock { $0.isClosing = true }
        for queue in queues { queue.sync {} }
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Whether no request is pending.
    var isIdle: Bool { state.withLock { $0.budget.isUnused } }
}
