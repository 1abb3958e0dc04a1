internal import ClientRuntime
internal import Foundation
internal import Locking
public import StrokeWire
internal import Whiteboard

/// A teacher who draws, through a gateway: samples of a pen and commands become strokes of the room, and students see them while
/// they are drawn.
///
/// ``run(_:)`` sends, and follows the head of the room. Beside it, ``withSession(_:)`` gives the pen's samples and the commands to
/// the `DrawingSession`, which has what is to be shown above the room's board: on the main actor, say, where touches come.
/// Without a connection the teacher draws on; what waits goes out later. With an ``OutboxFile`` it survives the process.
///
/// Memory: 80 MiB of events that wait to be read at most, and what `DrawingSession` and `BoardPlayout` say.
public final class Teacher: Sendable {
    /// What happens to a teacher.
    public enum Event: Sendable {
        /// Of what is drawn here.
        case drawing(DrawingEvent)
        /// Of the room's board at its head, as ``Student`` reports it.
        case board(Student.Event)
    }

    private enum Input: Sendable {
        case stream(EventStream.Input)
        /// Somebody has used the session.
        case session
        case answered(Int, [UInt8])
        case failed(Int, GatewayError)
        case looked(RoomSummary?, isKnown: Bool)
    }

    private struct State {
        var session: DrawingSession
        /// The queue of the run that is on.
        var inputs: EventQueue<Input>?
        /// Whether that knows of the last use of the session.
        var isTold = false
        /// Without a file: whether the author writes here.
        var writesHere = false
    }

    /// What the teacher has said of wet ink is worth little after this.
    private static let wetTimeout = Duration.seconds(5)

    private let gateway: Gateway
    private let room: RoomID
    private let author: AuthorID
    private let outbox: OutboxFile?
    private let start = ContinuousClock.now
    private let state: Locked<State>

    /// - Parameters:
    ///   - gateway: where strokes go.
    ///   - room: the room.
    ///   - author: who draws; with tokens, the one that the token names.
    ///   - name: what the author is called on boards; nil for the author.
    ///   - outbox: keeps what waits; nil for memory alone.
    public init(gateway: Gateway, room: RoomID, author: AuthorID, name: String? = nil, outbox: OutboxFile? = nil) {
        (self.gateway, self.room, self.author, self.outbox) = (gateway, room, author, outbox)
        let session = DrawingSession(
            author: author.text, name: name, startTime: Date().timeIntervalSince1970 * 1000,
            seed: .random(in: .min ... .max))
        state = Locked(State(session: session))
    }

    /// Uses the session, from any thread, also while nobody runs the teacher.
    ///
    /// - Parameter body: gets the session, and the time for its methods. Others wait meanwhile; do not use this teacher in it.
    public func withSession<Result>(_ body: (inout DrawingSession, _ now: Duration) -> Result) -> Result {
        let now = start.duration(to: .now)
        let (result, inputs) = state.withLock { state in
            let result = body(&state.session, now)
            defer { state.isTold = true }
            return (result, state.isTold ? nil : state.inputs)
        }
        inputs?.put(.session)
        return result
    }

    /// Sends what is drawn and follows the room until `handle` returns false or the task is cancelled. One call at a time; what
    /// waits then goes out with the next one.
    ///
    /// - Parameter handle: called with each event in order, and with the room's board at its head, which may be some events
    ///   ahead; runs on the caller's executor.
    /// - Throws: where the gateway does not permit to follow the room, and `already-running`. All else is tried again; what the
    ///   gateway says to strokes is in the event `DrawingEvent.sending`.
    /// - Returns: the board.
    public func run(_ handle: (Event, borrowing BoardPlayout) -> Bool) async throws(GatewayError) -> BoardPlayout {
        // Answers are few, and none may be lost: only what the stream sends is bounded.
        let inputs = EventQueue<Input>(bound: .max, bytes: EventStream.queueBytes)
        let isFirst = state.withLock { state in
            guard state.inputs == nil else { return false }
            state.inputs = inputs
            return true
        }
        guard isFirst else { throw GatewayError("already-running", "The teacher is running already.") }
        var requests: Requests = [:]
        var follower = BoardFollower(
            stream: EventStream(of: room, .head, over: gateway, silenceLimit: EventStreamState.silenceLimit) {
                inputs.put(.stream($0), bytes: $1)
            }, playout: BoardPlayout(followsPlayer: false, isHead: true))
        follower.playout.ownAuthor = author
        var reader = inputs.reader()
        defer {
            reader.cancelAlarm()
            follower.stream.close()
            for task in requests.values { task.cancel() }
            end()
        }
        state.withLock { $0.session.rightChanged(true, at: start.duration(to: .now)) }
        var outputs = try follower.stream.open(at: start.duration(to: .now))
        var dropped = 0
        while true {
            let now = start.duration(to: .now)
            follower.playout.ownSession = state.withLock { $0.session.session }
            var goesOn = try follower.act(on: outputs, nil, at: now) { output, playout in
                note(output, playout, at: now)
                guard let event = Student.Event(output, playout) else { return true }
                return handle(.board(event), playout)
            }
            let wake = goesOn ? perform(inputs, &requests, follower.playout, handle) : .end
            if case .end = wake { goesOn = false }
            guard goesOn, !Task.isCancelled else { return follower.playout }
            var deadline = follower.deadline
            if case .at(let time?) = wake { deadline = min(deadline ?? time, time) }
            let input = await reader.next(until: deadline.map { start + $0 })
            outputs = try receive(input, &follower, &requests)
            if inputs.dropped > dropped {
                dropped = inputs.dropped
                outputs += try follower.stream.inputLost(at: start.duration(to: .now))
            }
        }
    }

    /// The requests under way, by their ids; the one for the room's state has 0.
    private typealias Requests = [Int: Task<Void, Never>]

    private func receive(
        _ input: Input?, _ follower: inout BoardFollower, _ requests: inout Requests
    ) throws(GatewayError) -> [EventStream.Output] {
        let now = start.duration(to: .now)
        switch input {
        case nil: return try follower.stream.receive(nil, at: now)
        case .stream(let input): return try follower.stream.receive(input, at: now)
        case .session: break
        case .answered(let id, let body):
            requests[id] = nil
            state.withLock { $0.session.answered(id, with: body, at: now) }
        case .failed(let id, let error):
            requests[id] = nil
            state.withLock { $0.session.failed(id, GatewayFailure(error), at: now) }
        case .looked(let summary, let isKnown):
            requests[0] = nil
            let isWriting = isKnown ? summary?.writers?.contains(author.text) ?? false : nil
            let isMuted = isKnown ? summary?.muted?.contains(author.text) ?? false : nil
            state.withLock { $0.session.looked(isWriting: isWriting, isMuted: isMuted, at: now) }
        }
        return []
    }

    /// Tells the session what the board says.
    private func note(_ output: BoardFollower.Output, _ playout: borrowing BoardPlayout, at now: Duration) {
        guard case .action(let action) = output else { return }
        let board = playout.board
        state.withLock { state in
            switch action {
            case .joined, .applied:
                if case .applied(let operation, _, _) = action, operation.author == author {
                    state.session.boardShows(operation.bytes, at: now)
                }
                state.session.boardChanged(width: board.size.width, height: board.size.height)
                state.session.boardChanged(pages: board.pages)
                state.session.boardChanged(index: board.index)
            case .incarnation(let incarnation):
                state.session.joined(incarnation: incarnation)
            case .covered(let covered, _) where covered.author == author:
                state.session.covered(session: covered.session ?? "", number: covered.number)
            case .restart:
                state.session.left()
            default:
                break
            }
        }
    }

    private enum Wake {
        case at(Duration?)
        case end
    }

    /// Carries out what the session wants, until it waits.
    private func perform(
        _ inputs: EventQueue<Input>, _ requests: inout Requests, _ playout: borrowing BoardPlayout,
        _ handle: (Event, borrowing BoardPlayout) -> Bool
    ) -> Wake {
        state.withLock { $0.isTold = false }
        while true {
            let now = start.duration(to: .now)
            switch state.withLock({ $0.session.next(at: now) }) {
            case .event(let event):
                guard handle(.drawing(event), playout) else { return .end }
            case .load:
                // Without a file the session has what an earlier run has left.
                let loaded = outbox?.load()
                state.withLock { state in
                    let wroteHere = loaded?.writesHere ?? state.writesHere
                    state.session.loaded(loaded?.records, wroteHere: wroteHere, at: now)
                }
            case .store(let write):
                let isKept = outbox?.store(write) ?? false
                state.withLock { $0.session.stored(write.id, isKept: isKept, at: now) }
            case .note(let writesHere):
                outbox?.note(writesHere: writesHere)
                state.withLock { $0.writesHere = writesHere }
            case .post(let post):
                requests[post.id] = send(post, inputs)
            case .look:
                requests[0] = look(inputs)
            case .wait(let time):
                return .at(time)
            }
        }
    }

    private func send(_ post: DrawingPost, _ inputs: EventQueue<Input>) -> Task<Void, Never> {
        let path = "api/rooms/\(room.text)/\(post.target == .wet ? "wet" : "strokes")"
        let request = GatewayRequest(
            method: "POST", path: path, query: [("author", author.text)],
            headers: [("Content-Type", "application/x-ndjson"), (HeaderName.session, post.session)], body: post.body,
            timeout: post.target == .wet ? Self.wetTimeout : .seconds(40))
        return Task { [gateway] in
            do throws(GatewayError) {
                inputs.put(.answered(post.id, try await gateway.answer(to: request, limit: StrokeResults.maximumBytes)))
            } catch {
                inputs.put(.failed(post.id, error))
            }
        }
    }

    private func look(_ inputs: EventQueue<Input>) -> Task<Void, Never> {
        Task { [gateway, room] in
            do throws(GatewayError) {
                let answer = try await gateway.answer(
                    to: GatewayRequest(path: "api/rooms/\(room.text)"), limit: 1 << 20)
                let summary = try? RoomSummary(decoding: answer)
                inputs.put(.looked(summary, isKnown: summary != nil))
            } catch {
                // A room that nobody has written to has no writers, and nobody is muted there.
                inputs.put(.looked(nil, isKnown: error.status == 404))
            }
        }
    }

    /// The run is over: what is under the pen is given up, and students are told.
    private func end() {
        let post = state.withLock { state in
            defer {
                state.session.rightChanged(false, at: start.duration(to: .now))
                state.session.left()
                (state.inputs, state.isTold) = (nil, false)
            }
            return state.session.leave()
        }
        // It outlives the caller's task, and ends after its time at the latest.
        if let post { _ = send(post, EventQueue(bound: 1)) }
    }
}
