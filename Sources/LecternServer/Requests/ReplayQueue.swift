import Dispatch
import Journal
import Locking
import Logging
import StrokeWire
import Whiteboard

/// Answers requests for recorded lessons, from the journal.
///
/// One lesson is read at a time; the last ones are kept, and read on from where they were. Bounded: beyond
/// ``mostPending`` requests that wait, and beyond half of it for one room, the answer is `not-ready`; a lesson of more than
/// ``mostBytes`` is `too-large`; all that are kept have ``keptBytes`` at most, or are one. Lessons that were refused for good
/// are remembered, ``mostRefusals`` of them, and not read again. Safe from any thread.
final class ReplayQueue: Sendable {
    static let mostPending = 64
    static let mostBytes = 256 << 20
    static let keptBytes = 512 << 20
    static let mostRefusals = 1024

    private struct Request: Sendable {
        let room: RoomID
        let incarnation: String
        let last: UInt64
        let body: ReplayRequest
        let reply: String
    }

    /// A lesson as far as it was read.
    private struct Lesson {
        var recording: RecordedRoom
        /// The last record of the journal that is in it.
        var sequence: UInt64
    }

    /// What is kept between requests.
    private struct Memory {
        var lessons = LRUCache<RoomID, Lesson>(byteLimit: keptBytes, keepsNewest: true)
        /// Why lessons cannot be replayed, now or later. Each counts as one byte.
        var refusals = LRUCache<RoomIncarnation, RequestError>(byteLimit: mostRefusals)

        mutating func forget(_ rooms: Set<RoomID>) {
            guard !rooms.isEmpty else { return }
            lessons.removeAll { rooms.contains($0) }
            refusals.removeAll { rooms.contains($0.room) }
        }
    }

    private let configuration: ServerConfiguration
    private let sink: ReplySink
    private let logger: Logger
    private struct Waiting {
        /// By their rooms.
        var requests = FairQueue<RoomID, Request>()
        /// Rooms whose lessons are to be dropped.
        var forgotten: Set<RoomID> = []
        var isClosing = false
    }

    private let waiting = Locked(Waiting())
    /// One element for each request.
    private let arrivals: AsyncStream<Void>.Continuation
    private let task: Locked<Task<Void, Never>?>
    private let stream: AsyncStream<Void>
    /// Makes and sends replies, which takes long and waits for the socket.
    private let queue = DispatchQueue(label: "lectern.replays")

    init(_ configuration: ServerConfiguration, sink: ReplySink, logger: Logger) {
        self.configuration = configuration
        self.sink = sink
        self.logger = logger
        (stream, arrivals) = AsyncStream.makeStream(of: Void.self)
        task = Locked(nil)
    }

    /// Begins to answer. Before it, and without a journal, requests are refused.
    func start(reading journal: JetStreamJournal) {
        let task = Task.detached { [self] in
            var memory = Memory()
            for await _ in stream {
                let (request, forgotten, isClosing) = waiting.withLock { waiting in
                    defer { waiting.forgotten = [] }
                    return (waiting.requests.popFirst(), waiting.forgotten, waiting.isClosing)
                }
                memory.forget(forgotten)
                guard let request else {
                    if isClosing { return }
                    continue
                }
                await answer(request, &memory, journal)
            }
        }
        self.task.withLock { $0 = task }
    }

    /// Queues the answer to a request; returns at once.
    /// - Parameters:
    ///   - incarnation: that of the room.
    ///   - last: the last operation that may be seen.
    func answer(
        _ body: ReplayRequest, of room: RoomID, incarnation: String, through last: UInt64, reply: String
    ) {
        guard task.withLock({ $0 != nil }) else { return sink.refuse(reply, .noRecordings) }
        let request = Request(room: room, incarnation: incarnation, last: last, body: body, reply: reply)
        let refusal = waiting.withLock { waiting -> RequestError? in
            guard !waiting.isClosing else { return .shuttingDown }
            guard waiting.requests.count < Self.mostPending,
                waiting.requests.count(of: room) < Self.mostPending / 2
            else { return .busy }
            waiting.requests.append(request, of: room)
            return nil
        }
        if let refusal { return sink.refuse(reply, refusal) }
        arrivals.yield()
    }

    /// Drops the lessons of a room; without a journal there are none.
    func forget(_ room: RoomID) {
        guard task.withLock({ $0 != nil }) else { return }
        waiting.withLock { _ = $0.forgotten.insert(room) }
        arrivals.yield()
    }

    private func answer(_ request: Request, _ memory: inout Memory, _ journal: JetStreamJournal) async {
        let now = MonotonicClock.now()
        let life = RoomIncarnation(room: request.room, incarnation: request.incarnation)
        if let error = memory.refusals.value(life, at: now) { return sink.refuse(request.reply, error) }
        var lesson = memory.lessons.remove(request.room)
        if lesson?.recording.incarnation != request.incarnation { lesson = nil }
        do throws(RequestError) {
            if lesson.map({ $0.recording.count < request.last }) ?? true {
                lesson = try await read(request, after: lesson, &memory.refusals, journal)
            }
            guard let lesson else { throw .gone }
            memory.lessons.insert(lesson, request.room, bytes: lesson.recording.byteEstimate, at: now)
            guard let page = lesson.recording.page(request.body, through: request.last) else {
                throw .unknownIndex
            }
            await queue.run { [configuration, sink] in
                sink.send(
                    page.encoded(
                        palette: configuration.palette, style: configuration.inkName,
                        features: configuration.room.intake.wire.features), request.reply)
            }
        } catch {
            sink.refuse(request.reply, error)
            // What was read before an outage is read on after it.
            if error.code == .notReady, let lesson {
                memory.lessons.insert(lesson, request.room, bytes: lesson.recording.byteEstimate, at: now)
            }
        }
    }

    /// Reads a lesson, or what it lacks.
    private func read(
        _ request: Request, after known: Lesson?, _ refusals: inout LRUCache<RoomIncarnation, RequestError>,
        _ journal: JetStreamJournal
    ) async throws(RequestError) -> Lesson {
        guard let life = LogPlace(request.incarnation), life.sequence > 0 else { throw .gone }
        var reading: Reading
        do throws(JournalError) {
            let log = try await journal.log(of: request.room)
            // A lesson that was moved to this log has other sequences here.
            let before = life.log == log ? life.sequence - 1 : 0
            let lesson =
                known
                ?? Lesson(recording: RecordedRoom(configuration: configuration.room), sequence: before)
            reading = Reading(life: life, log: log, lesson: lesson, hasBegun: known != nil)
            try await journal.read(request.room, after: lesson.sequence) { reading.take($0) }
        } catch {
            logger.warning(
                "a lesson cannot be read", metadata: ["room": "\(request.room)", "error": "\(error)"])
            throw RequestError(.notReady, "The journal does not answer; ask again in a second.")
        }
        if reading.isTooLarge || reading.hasEnded || !reading.hasBegun {
            let error = reading.isTooLarge ? RequestError.lessonTooLarge : .gone
            let life = RoomIncarnation(room: request.room, incarnation: request.incarnation)
            refusals.insert(error, life, bytes: 1, at: MonotonicClock.now())
            throw error
        }
        reading.lesson.recording.computeTimes()
        guard reading.lesson.recording.incarnation == request.incarnation,
            reading.lesson.recording.count >= request.last
        else { throw .gone }
        return reading.lesson
    }

    /// Folds the records that are read.
    private struct Reading {
        /// Where the incarnation begins.
        let life: LogPlace
        let log: String
        var lesson: Lesson
        /// Whether the incarnation's first record has come.
        var hasBegun: Bool
        /// Whether the incarnation has ended since it was asked for: what follows is of another one, of which those who
        /// asked may not have been shown anything.
        var hasEnded = false
        var isTooLarge = false

        mutating func take(_ record: JournalRecord) {
            guard record.sequence > lesson.sequence, !isTooLarge, !hasEnded else { return }
            hasBegun = hasBegun || record.place(in: log) == life
            guard hasBegun else { return }
            lesson.sequence = record.sequence
            switch record.content {
            case .message(let author, let session, let bytes):
                lesson.recording.receive(
                    IncomingMessage(author: author, session: session, bytes: bytes, loggedAt: record.loggedAt),
                    incarnation: { [life] in life.description })
            case .control(.full(let through)):
                guard life.isNoLater(than: LogPlace(log: record.place(in: log).log, sequence: through)) else { return }
                lesson.recording.receive(.full(through: through), loggedAt: record.loggedAt)
            case .control(.restore): hasEnded = true
            case .control(let control):
                lesson.recording.receive(control, loggedAt: record.loggedAt)
            }
            if lesson.recording.incarnation.isEmpty { hasEnded = true }
            if lesson.recording.byteEstimate > ReplayQueue.mostBytes { isTooLarge = true }
        }
    }

    /// Refuses the requests that wait. Does not wait for a lesson being read.
    func close() {
        waiting.withLock { $0.isClosing = true }
        while let request = waiting.withLock({ $0.requests.popFirst() }) { sink.refuse(request.reply, .shuttingDown) }
        arrivals.finish()
        task.withLock { $0?.cancel() }
    }
}

extension RequestError {
    fileprivate static let noRecordings = RequestError(
        .gone, "This service keeps no log of lessons: its journal.mode is none.")
    fileprivate static let gone = RequestError(
        .gone, "The journal no longer holds the beginning of the lesson.")
    fileprivate static let lessonTooLarge = RequestError(.tooLarge, "The lesson is too large to be replayed.")
}
