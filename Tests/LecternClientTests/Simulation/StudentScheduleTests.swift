import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore
@testable import LecternClient

@Suite("A student, whatever the network does") struct StudentScheduleTests {
    @Test("ends with the board of the room, and never skips or repeats an operation", arguments: TestSeed.choose(40))
    func schedules(seed: UInt64) throws {
        var random = LecternClient.SeededGenerator(seed: seed)
        let room = try #require(
            ModelRoom(
                room: "life-1", isClearUndoable: Bool.random(using: &random),
                tail: Int.random(in: 0...60, using: &random), seed: seed))
        var student = VirtualStudent(room: room, seed: seed)
        student.loss = [0, 0.02, 0.3].randomElement(using: &random) ?? 0
        student.repeats = [0, 0.3].randomElement(using: &random) ?? 0
        student.latency = [0, 30, 400].randomElement(using: &random) ?? 0
        student.outages = [5, 40].randomElement(using: &random) ?? 5
        student.restores = [0, 3].randomElement(using: &random) ?? 0
        student.newLives = [0, 0, 1].randomElement(using: &random) ?? 0
        student.pointsPerShard = [Int.max, 3].randomElement(using: &random) ?? .max
        try student.run(for: .seconds(60), isActive: true)
        // Nothing tells a student of an incarnation without an operation but the mark at the end of the one before,
        // which may be lost.
        while student.room.index == 0 { student.room.act() }
        student.calm()
        try student.run(for: .seconds(40), isActive: false)
        let session = student.session
        #expect(session.board.index == student.room.index)
        #expect(session.digest == student.room.boards.last?.boardDigest)
        #expect(session.board.visible.map(\.index) == student.room.boards.last?.visible)
        #expect(session.report.isSound)
        #expect(session.report.overflows == 0)
        #expect(session.deadline == nil, "nothing waits any more")
        for stroke in session.board.visible {
            let isSame = stroke.message.bytes == student.room.operations[Int(stroke.index) - 1].bytes
            #expect(isSame, "stroke \(stroke.index) is what the room has")
        }
    }

    @Test("sees every operation in a quiet network, with one join", arguments: TestSeed.choose(5))
    func quiet(seed: UInt64) throws {
        let room = try #require(ModelRoom(room: "life-1", isClearUndoable: false, tail: 10, seed: seed))
        var student = VirtualStudent(room: room, seed: seed)
        student.latency = 0
        try student.run(for: .seconds(1), isActive: false)
        try student.run(for: .seconds(20), isActive: true)
        try student.run(for: .seconds(5), isActive: false)
        let report = student.session.report
        #expect(report.applied == Int(student.room.index))
        #expect(report.applied > 100)
        #expect(report.joins == 1 && report.rejoins == 0 && report.gaps == 0 && report.repeats == 0)
    }
}

/// A student and the model of a room with a bad network between them, in virtual time.
struct VirtualStudent {
    private enum Event {
        case released(ReleasedMessage)
        case marked(Mark)
        case request(JoinRequest, ticket: Int)
        case reply(JoinReply, ticket: Int)
        case failure(ticket: Int)
    }

    private static let step = Duration.milliseconds(5)

    var room: ModelRoom
    private(set) var session = StudentSession()
    private(set) var cursor: UInt64 = 0
    private var lives = 1
    private var now = Duration.zero
    private var inFlight: [(time: Duration, event: Event)] = []
    private var isConnected = false
    private var random: LecternClient.SeededGenerator
    private let seed: UInt64
    /// Share of lost messages and of repeated ones.
    var loss = 0.0
    var repeats = 0.0
    /// Longest latency in milliseconds; messages overtake each other.
    var latency = 20
    /// Chances in a thousand, each step.
    var outages = 0
    var restores = 0
    var newLives = 0
    var pointsPerShard = Int.max
    /// The last applied operation, to detect gaps and repeats.
    private var told: (room: String, index: UInt64)?

    init(room: ModelRoom, seed: UInt64) {
        self.room = room
        self.seed = seed
        random = LecternClient.SeededGenerator(seed: seed)
    }

    /// Runs the class for this long.
    mutating func run(for length: Duration, isActive: Bool) throws {
        let end = now + length
        while now < end {
            if isActive {
                if chance(outages) { isConnected ? disconnect() : connect() }
                if chance(restores) { cursor -= min(cursor, UInt64.random(in: 0...20, using: &random)) }
                if chance(newLives) { try beginLife() }
                if chance(60) { room.act() }
            } else if !isConnected {
                connect()
            }
            if cursor < room.index, chance(100) { try release() }
            if cursor > 0, Int((now / Self.step).rounded()).isMultiple(of: 200) {
                let digest = room.boards[Int(cursor)].boardDigest
                post(.marked(Mark(room: room.room, index: cursor, digest: digest, video: nil)))
            }
            try deliver()
            perform(session.wake(at: now))
            now += Self.step
        }
    }

    /// Ends losses and repeats.
    mutating func calm() {
        loss = 0
        repeats = 0
    }

    private mutating func chance(_ thousandths: Int) -> Bool {
        Int.random(in: 0..<1000, using: &random) < thousandths
    }

    private mutating func connect() {
        isConnected = true
        perform(session.connected(at: now))
    }

    private mutating func disconnect() {
        isConnected = false
        inFlight = []
        session.disconnected()
    }

    private mutating func beginLife() throws {
        lives += 1
        room = try #require(
            ModelRoom(room: "life-\(lives)", isClearUndoable: true, tail: 30, seed: seed &+ UInt64(lives)))
        cursor = 0
    }

    private mutating func release() throws {
        cursor += 1
        for message in try room.released(cursor, pointsPerShard: pointsPerShard) { post(.released(message)) }
    }

    private mutating func post(_ event: Event) {
        guard isConnected else { return }
        for _ in 0..<(random.unit() < repeats ? 2 : 1) where random.unit() >= loss {
            inFlight.append((now + .milliseconds(Int.random(in: 0...latency, using: &random)), event))
        }
    }

    private mutating func deliver() throws {
        let due = inFlight.filter { $0.time <= now }
        inFlight.removeAll { $0.time <= now }
        for (_, event) in due {
            switch event {
            case .released(let message): perform(session.receive(message, at: now))
            case .marked(let mark): perform(session.receive(mark, at: now))
            case .request(let request, let ticket):
                post(.reply(try room.reply(to: request, at: cursor), ticket: ticket))
            case .reply(let reply, let ticket): perform(session.joined(reply, ticket: ticket, at: now))
            case .failure(let ticket): perform(session.joinFailed(.unanswered("timeout"), ticket: ticket, at: now))
            }
        }
    }

    private mutating func perform(_ actions: [StudentAction]) {
        for action in actions {
            switch action {
            case .join(let request, let ticket):
                post(.request(request, ticket: ticket))
                inFlight.append((now + .milliseconds(500), .failure(ticket: ticket)))
            case .emit(.joined(let room, let index, _, _)): told = (room, index)
            case .emit(.applied(let operation, let room, let digest)):
                #expect(told?.index == operation.index - 1, "operation \(operation.index) follows")
                #expect(told?.room == room || told?.room == "")
                if room == self.room.room { #expect(digest == self.room.boards[Int(operation.index)].boardDigest) }
                told = (room, operation.index)
            case .emit(.problem), .emit(.wet): break
            }
        }
    }
}

/// The protocol's test vectors of students: what a client receives, what it asks for, and which board it has.
@Suite struct `The protocol's test vectors of students` {
    @Test func `ask, show and have the stated boards`() throws {
        for vector in try ProtocolVectors.cases("students.json", of: StudentVector.self, atLeast: 21) {
            var run = StudentRun()
            for step in vector.steps {
                let seen = try run.perform(step)
                let place = Comment(rawValue: "\(vector.name), \(step.at) ms")
                #expect(seen.asks == (try (step.asks ?? []).map { try AnyJSON.decode(Array($0.utf8)) }), place)
                if let index = step.index { #expect(run.session.board.index == index, place) }
                if let visible = step.visible {
                    #expect(run.session.board.visible.map(\.index) == visible, place)
                    #expect(run.session.digest == BoardDigest(of: visible), place)
                }
                if let papers = step.papers { #expect(run.session.board.pages.papers.map(\.page) == papers, place) }
                if let shows = step.shows { #expect(seen.shows == shows, place) }
            }
        }
    }
}

/// A session that is given the steps of a vector.
private struct StudentRun {
    private(set) var session = StudentSession()
    private var ticket = 0

    /// Passes the time up to a step, then performs it.
    /// - Returns: the join requests and the operations applied one by one meanwhile.
    mutating func perform(_ step: StudentVector.Step) throws -> (asks: [AnyJSON], shows: [UInt64]) {
        let now = Duration.milliseconds(step.at)
        var actions: [StudentAction] = []
        while let deadline = session.deadline, deadline <= now { actions += session.wake(at: deadline) }
        if let isConnected = step.connected {
            if isConnected { actions += session.connected(at: now) } else { session.disconnected() }
        }
        if let headers = step.headers {
            let body = Array(try #require(step.body).utf8)
            actions += session.receive(try ReleasedMessage(bytes: body) { headers[$0] }, at: now)
        }
        if let mark = step.mark { actions += session.receive(try Mark(decoding: Array(mark.utf8)), at: now) }
        if let reply = step.reply { actions += try receive(Array(reply.utf8), at: now) }
        var seen: (asks: [AnyJSON], shows: [UInt64]) = ([], [])
        for action in actions {
            switch action {
            case .join(let request, let ticket):
                self.ticket = ticket
                seen.asks.append(try AnyJSON.decode(request.encoded()))
            case .emit(.applied(let operation, _, _)): seen.shows.append(operation.index)
            case .emit: break
            }
        }
        return seen
    }

    private mutating func receive(_ reply: [UInt8], at now: Duration) throws -> [StudentAction] {
        if reply.isEmpty { return session.joinFailed(.unanswered("no reply in time"), ticket: ticket, at: now) }
        if let error = RequestError(decoding: reply) {
            return session.joinFailed(.refused(error.message), ticket: ticket, at: now)
        }
        return session.joined(try JoinReply(decoding: reply), ticket: ticket, at: now)
    }
}

private struct StudentVector: Decodable {
    struct Step: Decodable {
        let at: Int
        let connected: Bool?
        let headers: [String: String]?
        let body: String?
        let reply: String?
        let mark: String?
        let asks: [String]?
        let index: UInt64?
        let visible: [UInt64]?
        let shows: [UInt64]?
        let papers: [Int]?
    }

    let name: String
    let steps: [Step]
}
