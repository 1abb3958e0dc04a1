// A lesson that goes on while a test disturbs servers and daemons. Afterwards the `Verdict` compares what everyone was told
// with a model that is folded from the journal.

import LecternClient
import Locking
import Logging
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// A lesson over a NATS server with two teachers, the video clocks of two cohorts and a student in each, during which a
/// test disturbs servers and daemons.
struct Lesson: Sendable {
    struct Plan: Sendable {
        var seed: UInt64
        var room = "lesson"
        var partitions = 1
        /// Only strokes, each message sent once and without delay: for measurements.
        var isPlain = false
        /// Average interval between a teacher's actions.
        var pace = Duration.milliseconds(40)
        /// Whether messages between the service and clients may get lost, so that students have to join again.
        var mayLose = false
        /// Whether the daemons have `history.clear=final`.
        var areClearsFinal = false
        var authors = ["anna", "bert"]
        /// The cohorts and the delays of their video.
        var delays: [(cohort: String, delay: Duration)] = [
            ("main", .milliseconds(300)), ("hls", .milliseconds(1000)),
        ]

        init(seed: UInt64 = TestSeed.choose(), isPlain: Bool = false, mayLose: Bool = false) {
            (self.seed, self.isPlain, self.mayLose) = (seed, isPlain, mayLose)
        }
    }

    let plan: Plan
    /// The connection of teachers and observers.
    let connection: NATSConnection
    let address: RoomAddress
    let teachers: [TestTeacher]
    let observers: [CohortObserver]
    let students: [TestStudent]
    private let video: Video
    /// The records read from the journal, by sequence.
    private let records = Locked<[UInt64: StoredRecord]>([:])

    private init(_ plan: Plan, _ connection: NATSConnection, _ studentsConnection: NATSConnection) throws {
        self.plan = plan
        self.connection = connection
        let room = try #require(RoomID(plan.room))
        let address = RoomAddress(root: "ink", room: room, partitions: plan.partitions)
        self.address = address
        let start = ContinuousClock.now
        video = Video(start: start, delay: .zero)
        teachers = try plan.authors.enumerated().map { number, author in
            try TestTeacher(
                author, connection, address: address.description, seed: plan.seed &* 31 &+ UInt64(number),
                isPlain: plan.isPlain, pace: plan.pace)
        }
        observers = try plan.delays.map { cohort, delay in
            try CohortObserver(
                connection, address: address.description, cohort: cohort, video: Video(start: start, delay: delay))
        }
        students = try plan.delays.map {
            TestStudent(studentsConnection, address: address, cohort: try #require(CohortName($0.cohort)))
        }
    }

    /// Runs the lesson while `body` runs, then waits until all clients are complete, and judges the result.
    static func hold(
        _ plan: Plan, on url: String, _ body: @Sendable (Lesson) async throws -> Void
    ) async throws -> Verdict {
        var settings = NATSSettings(url: url, name: "class")
        settings.pingInterval = .milliseconds(500)
        settings.reconnectWait = .milliseconds(5) ... .milliseconds(50)
        let connections = [NATSConnection(settings, logger: .silent), NATSConnection(settings, logger: .silent)]
        do {
            for connection in connections {
                do { try await connection.connect(within: .seconds(1), keepTrying: true) } catch {}
            }
            let lesson = try Lesson(plan, connections[0], connections[1])
            let verdict = try await lesson.run(body)
            for connection in connections { await connection.close() }
            print(verdict)
            return verdict
        } catch {
            for connection in connections { await connection.close() }
            throw error
        }
    }

    /// Runs the lesson on a NATS server of its own, and expects everything that must hold.
    @discardableResult
    static func hold(
        _ plan: Plan, configuration: String? = nil, _ body: @Sendable (NATSTestServer, Lesson) async throws -> Void
    ) async throws -> Verdict {
        try await NATSTestServer.with(jetStream: true, configuration: configuration) { nats in
            let verdict = try await hold(plan, on: nats.url) { try await body(nats, $0) }
            verdict.expect()
            return verdict
        }
    }

    private func run(_ body: @Sendable (Lesson) async throws -> Void) async throws -> Verdict {
        try await withThrowingTaskGroup(of: Void.self) { audience in
            for observer in observers {
                let subject = "\(address).clock.\(observer.cohort)"
                audience.addTask { await observer.video.publish(to: subject, connection) }
            }
            for student in students { audience.addTask { try await student.follow() } }
            defer { audience.cancelAll() }
            try await withThrowingTaskGroup(of: Void.self) { writing in
                for teacher in teachers { writing.addTask { try await teacher.write(video) } }
                do {
                    try await body(self)
                } catch {
                    writing.cancelAll()
                    throw error
                }
                for teacher in teachers { teacher.stop() }
                try await writing.waitForAll()
            }
            return try await conclude()
        }
    }

    private func conclude() async throws -> Verdict {
        var verdict: Verdict?
        do {
            try await eventually("all clients are complete", every: .milliseconds(100)) {
                let now = try await judge()
                verdict = now
                return now.isComplete ? () : nil
            }
        } catch {
            guard let verdict else { throw error }
            verdict.expect()
            throw Unexpected("\(error): \(verdict)")
        }
        guard let verdict else { throw Unexpected("no verdict") }
        if plan.mayLose {
            for teacher in teachers {
                for number in verdict.unanswered(teacher) { try await teacher.ask(again: number) }
            }
            return try await eventually("every number is answered") {
                let now = try await judge()
                return teachers.allSatisfy { now.unanswered($0).isEmpty } ? now : nil
            }
        }
        return verdict
    }

    /// The verdict on the current state.
    private func judge() async throws -> Verdict {
        try await remember()
        let all = records.withLock { $0.values.sorted { $0.sequence < $1.sequence } }
        return Verdict(
            plan: plan, model: try ModelRoom(all, room: address.room.text, areClearsFinal: plan.areClearsFinal),
            teachers: teachers, observers: observers,
            positions: students.map(\.position))
    }

    /// Reads the journal and keeps its records, also if the stream deletes them later: a full stream of nats-server 2.9
    /// deletes its oldest record for a small new one, although it is configured to refuse new ones.
    func remember() async throws {
        for record in try await connection.readBack("INK_LOG_\(address.partition)") {
            records.withLock { $0[record.sequence] = record }
        }
    }
}

/// Conditions that tests wait for during a lesson.
extension Lesson {
    /// Returns when `count` more operations have been released to every cohort.
    func goesOn(by count: UInt64 = 12, within limit: Duration = .hangLimit) async throws {
        let goals = observers.map { $0.index + count }
        try await eventually(
            "operations are released", within: limit, is: zip(observers, goals).allSatisfy { $0.index >= $1 })
    }

    /// A new student joins, follows until it has caught up with the cohort, and leaves.
    func welcomeNewcomer() async throws {
        let newcomer = TestStudent(connection, address: address, cohort: .main)
        let following = Task { try await newcomer.follow() }
        defer { following.cancel() }
        try await eventually("the newcomer has joined", is: newcomer.position.index > 0)
        try await goesOn()
        let goal = observers[0].index
        try await eventually("the newcomer has what the others have", is: newcomer.position.index >= goal)
        let position = newcomer.position
        let seen = observers[0].sightings.first { $0.index == position.index }
        #expect(seen?.digest == position.digest)
        #expect(position.report?.isSound == true && position.report?.gaps == 0, "\(position.problems)")
    }
}

/// The video of a cohort: media time starts with the lesson and reaches the cohort after a delay.
struct Video: Sendable {
    let start: ContinuousClock.Instant
    let delay: Duration

    /// Media time shown at an instant, in milliseconds.
    func time(at instant: ContinuousClock.Instant = .now) -> Double {
        (start.duration(to: instant) - delay) / .milliseconds(1)
    }

    /// Publishes the clock until cancelled.
    func publish(to subject: String, _ connection: NATSConnection) async {
        var number = 0
        while !Task.isCancelled {
            let time = time()
            if time >= 0 {
                number += 1
                // Without a connection the sample is lost, as in production.
                try? connection.publish(Array(#"{"m":\#(time),"q":\#(number)}"#.utf8), to: subject)
            }
            try? await Task.sleep(for: .milliseconds(250))
        }
    }
}

/// An operation as a client received it, on whatever way.
struct Sighting: Sendable {
    enum Content: Sendable {
        /// As they came.
        case bytes([UInt8])
        /// Out of a body with several.
        case message(ModelMessage)
    }

    let at: ContinuousClock.Instant
    let index: UInt64
    let author: String
    let reference: UInt64?
    let digest: String
    /// Whether it is marked late. The tail of a join does not say whether a policy released it.
    let isLate: Bool
    let isTail: Bool
    let content: Content

    /// The first difference, nil if there is none.
    func difference(from operation: ModelOperation) -> String? {
        if author != operation.author { return "by \(author), not \(operation.author)" }
        if digest != operation.digest { return "digest \(digest), not \(operation.digest)" }
        if reference != operation.reference { return "about \(reference ?? 0), not \(operation.reference ?? 0)" }
        if operation.isLate, !isLate { return "not marked late" }
        let messages = operation.messages
        switch content {
        case .bytes(let bytes) where !messages[0].isSharded: return bytes == messages[0].bytes ? nil : "other bytes"
        case .bytes(let bytes):
            guard let message = try? ModelMessage(bytes) else { return "cannot be read" }
            return Self.difference(message, messages)
        case .message(let message): return Self.difference(message, messages)
        }
    }

    /// - Parameter shards: those of one operation, which a client gets as one message.
    static func difference(_ message: ModelMessage, _ shards: [ModelMessage]) -> String? {
        if message.number != shards[0].number { return "number \(message.number), not \(shards[0].number)" }
        if message.action != shards[0].action { return "another action" }
        return message.points == shards.flatMap(\.points) ? nil : "other points"
    }
}

extension Sighting {
    /// As it came over NATS.
    init(_ message: borrowing NATSMessage) {
        self.init(
            at: .now, index: message.header("Ink-Index").flatMap { UInt64($0) } ?? 0,
            author: message.header("Ink-Author") ?? "", reference: message.header("Ink-Ref").flatMap { UInt64($0) },
            digest: message.header("Ink-Digest") ?? "", isLate: message.header("Ink-Late") == "1", isTail: false,
            content: .bytes(message.copyPayload()))
    }
}

/// Records every message released to a cohort, repeats included.
final class CohortObserver: Sendable {
    let cohort: String
    let video: Video
    private let seen = Locked<(sightings: [Sighting], rooms: Set<String>)>(([], []))

    init(_ connection: NATSConnection, address: String, cohort: String, video: Video) throws {
        self.cohort = cohort
        self.video = video
        _ = try connection.subscribe("\(address).out.\(cohort)") { [seen] message in
            let (sighting, room) = (Sighting(message), message.header("Ink-Room") ?? "")
            seen.withLock { seen in
                seen.sightings.append(sighting)
                seen.rooms.insert(room)
            }
        }
    }

    var sightings: [Sighting] { seen.withLock { $0.sightings } }

    /// The incarnations of the room.
    var rooms: Set<String> { seen.withLock { $0.rooms } }

    /// The last index seen, 0 before the first.
    var index: UInt64 { seen.withLock { $0.sightings.map(\.index).max() ?? 0 } }
}

/// A student client that follows a cohort, with its current position.
final class TestStudent: Sendable {
    struct Position: Sendable {
        var room = ""
        var index: UInt64 = 0
        var digest = ""
        var report: StudentReport?
        var problems: [String] = []
    }

    let cohort: String
    private let student: Student
    private let state = Locked(Position())

    init(_ connection: NATSConnection, address: RoomAddress, cohort: CohortName) {
        self.cohort = cohort.text
        student = Student(connection: connection, address: address, cohort: cohort, logger: .silent)
    }

    var position: Position { state.withLock { $0 } }

    /// Follows until cancelled.
    func follow() async throws {
        _ = try await student.follow { [state] event, session in
            state.withLock {
                $0.room = session.board.room
                $0.index = session.board.index
                $0.digest = session.digest.description
                $0.report = session.report
                if case .problem(let problem) = event { $0.problems.append(problem.description) }
            }
            return true
        }
    }
}
