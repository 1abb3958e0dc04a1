import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

/// The tests of ClientCore: teachers draw with these devices to a real room; students follow one in `Class`; canvases are
/// compared pixel by pixel with pages drawn at once.
///
/// The service's room behind a gateway, and what devices of its author post to it.
final class DrawingRoom {
    private var room: Room
    private var effects = RoomEffects()
    let author = AuthorID("anna")!
    /// Released operations: their messages.
    private(set) var operations: [(index: UInt64, bytes: [UInt8])] = []
    var incarnation: String { room.incarnation }
    private(set) var wetUpdates: [WetUpdate] = []

    init() {
        var intake = IntakeLimits()
        intake.wire.colours = .rgb
        room = Room(configuration: RoomConfiguration(intake: intake), at: Instant(nanoseconds: 1_000_000_000))
    }

    /// Takes the messages of a post. Returns the body of the answer.
    func post(_ post: DrawingPost, at now: Duration) throws -> [UInt8] {
        let lines = post.body.split(separator: UInt8(ascii: "\n")).map { Array($0) }
        guard post.target == .strokes else {
            for line in lines { wetUpdates.append(try WetUpdate(decoding: line)) }
            return []
        }
        let instant = Instant(nanoseconds: 1_000_000_000) + now
        var results: [Int64: String] = [:]
        for line in lines {
            let message = IncomingMessage(
                author: author, session: post.session, bytes: line, loggedAt: instant, isLimited: false)
            room.receive(message, incarnation: { "log-1" }, at: instant, into: &effects)
            for effect in effects.list {
                switch effect {
                case .head(let operation): operations.append((operation.index, operation.restoredMessage))
                case .feedback(_, let session, .applied(let number, let index)) where session == post.session:
                    results[number] = "\"index\":\(index)"
                case .feedback(_, let session, .rejected(let number?, _, let rejection)) where session == post.session:
                    results[number] = "\"error\":{\"code\":\"\(rejection.code.rawValue)\",\"message\":\"no\"}"
                default: break
                }
            }
            effects.removeAll()
        }
        let texts = try lines.map { line in
            let number = try StrokeMessage(decoding: line, limits: .any).number
            return "{\"n\":\(number),\(results[number] ?? "\"status\":\"held\"")}"
        }
        return Array("{\"results\":[\(texts.joined(separator: ","))]}".utf8)
    }
}

/// What a browser's profile keeps: shared by its tabs.
final class DrawingStore {
    var records: [OperationKey: [UInt8]] = [:]
    var wroteHere = false
    var fails = false
}

/// A page or an app: carries out what a session returns, with faults.
struct DrawingDevice {
    var session: DrawingSession
    let store: DrawingStore
    let room: DrawingRoom
    private(set) var events: [DrawingEvent] = []
    /// Requests that wait for the network.
    var posts: [DrawingPost] = []
    var looks = 0
    private(set) var wake: Duration?
    private var shown: UInt64 = 0

    init(
        _ store: DrawingStore, _ room: DrawingRoom, seed: UInt64, startTime: Double = 1_700_000_000_000,
        at now: Duration
    ) {
        session = DrawingSession(author: "anna", name: "Anna", startTime: startTime, seed: seed)
        (self.store, self.room) = (store, room)
        session.joined(incarnation: room.incarnation)
        session.rightChanged(true, at: now)
        run(at: now)
    }

    mutating func run(at now: Duration) {
        while true {
            switch session.next(at: now) {
            case .event(let event): events.append(event)
            case .load:
                let records = store.records.map { StoredOperation($0.key, bytes: $0.value) }
                session.loaded(store.fails ? nil : records, wroteHere: store.wroteHere, at: now)
            case .store(let write):
                if !store.fails {
                    for record in write.records { store.records[record.key] = record.bytes }
                    for key in write.deleted { store.records[key] = nil }
                }
                session.stored(write.id, isKept: !store.fails, at: now)
            case .note(let writesHere): store.wroteHere = writesHere
            case .post(let post): posts.append(post)
            case .look: looks += 1
            case .wait(let time):
                wake = time
                return
            }
        }
    }

    /// Carries out the first request; its answer arrives or not.
    mutating func exchange(isLost: Bool = false, answerIsLost: Bool = false, at now: Duration) throws {
        guard !posts.isEmpty else { return }
        let post = posts.removeFirst()
        let answer = isLost ? nil : try room.post(post, at: now)
        if let answer, !answerIsLost {
            session.answered(post.id, with: answer, at: now)
        } else {
            session.failed(post.id, .unreachable, at: now)
        }
        run(at: now)
    }

    /// The board of the page shows what the room has.
    mutating func follow(at now: Duration) {
        session.joined(incarnation: room.incarnation)
        for (index, bytes) in room.operations where index > shown {
            session.boardShows(bytes, at: now)
            session.boardChanged(index: index)
            shown = index
        }
        run(at: now)
    }

    /// The request of strokes that waits for the network.
    mutating func takeStrokes() throws -> DrawingPost {
        let place = posts.firstIndex { $0.target == .strokes }
        return posts.remove(at: try #require(place))
    }

    mutating func draw(_ x: Int, points: Int = 3, at now: Duration) {
        let time = Double(now.components.seconds) * 1000
        let change = session.penDown(
            Pen.Pointer(id: 1, kind: .pen), Pen.Sample(x: Double(x), y: 1, time: time), time: nil)
        guard change.hasBegun else { return }
        for place in 1..<points {
            _ = session.penMoved(
                1, kind: .pen, [Pen.Sample(x: Double(x), y: Double(place + 1), time: time + Double(place))], at: now)
        }
        _ = session.penUp(1, at: now)
        run(at: now)
    }

    /// Sends until all is answered and the store has been told.
    mutating func finish(from now: Duration) throws -> Duration {
        var now = now
        for _ in 0..<5000 where session.waitingCount > 0 || !posts.isEmpty {
            try exchange(at: now)
            follow(at: now)
            now = max(now + .milliseconds(50), min(wake ?? now, now + .seconds(20)))
            run(at: now)
        }
        follow(at: now)
        return now
    }
}
