import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// A class on a NATS server: two teachers, the video of two cohorts, and students of both, while something happens to
/// what is between them.
struct Lesson: Sendable {
    struct Plan: Sendable {
        var seed: UInt64
        var room = "lesson"
        var partitions = 1
        /// Strokes alone, and every message sent once and at once: for measuring.
        var isPlain = false
        /// Each teacher's, on average.
        var pace = Duration.milliseconds(40)
        /// Whether messages may get lost between the service and the class, so that students have to ask again.
        var mayLose = false
        var teachers = ["anna", "bert"]
        /// The cohorts, and how late the video reaches them.
        var delays: [(cohort: String, delay: Duration)] = [
            ("main", .milliseconds(300)), ("hls", .milliseconds(1000)),
        ]

        init(seed: UInt64) {
            self.seed = seed
        }
    }

    let plan: Plan
    /// The class's own connection.
    let connection: NATSConnection
    let address: RoomAddress
    let pens: [Pen]
    let witnesses: [Witness]
    let pupils: [Pupil]
    private let video: Video
    /// What was read of the journal, by its place there.
    private let records = Locked<[UInt64: StoredRecord]>([:])

    private init(_ plan: Plan, _ connection: NATSConnection, _ pupilsConnection: NATSConnection) throws {
        self.plan = plan
        self.connection = connection
        let room = try #require(RoomID(plan.room))
        let address = RoomAddress(root: "ink", room: room, partitions: plan.partitions)
        self.address = address
        let start = ContinuousClock.now
        video = Video(start: start, delay: .zero)
        pens = try plan.teachers.enumerated().map { number, author in
            try Pen(
                author, connection, address: address.description, seed: plan.seed &* 31 &+ UInt64(number),
                isPlain: plan.isPlain, pace: plan.pace)
        }
        witnesses = try plan.delays.map { cohort, delay in
            try Witness(
                connection, address: address.description, cohort: cohort,
                video: Video(start: start, delay: delay))
        }
        pupils = try plan.delays.map {
            Pupil(pupilsConnection, address: address, cohort: try #require(CohortName($0.cohort)))
        }
    }

    /// Holds the lesson while `body` runs, then waits until everybody has everything, and judges.
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

    private func run(_ body: @Sendable (Lesson) async throws -> Void) async throws -> Verdict {
        try await withThrowingTaskGroup(of: Void.self) { audience in
            for witness in witnesses {
                let subject = "\(address).clock.\(witness.cohort)"
                audience.addTask { await witness.video.publish(to: subject, connection) }
            }
            for pupil in pupils { audience.addTask { try await pupil.follow() } }
            defer { audience.cancelAll() }
            try await withThrowingTaskGroup(of: Void.self) { teachers in
                for pen in pens { teachers.addTask { try await pen.write(video) } }
                do {
                    try await body(self)
                } catch {
                    teachers.cancelAll()
                    throw error
                }
                for pen in pens { pen.stop() }
                try await teachers.waitForAll()
            }
            return try await conclude()
        }
    }

    private func conclude() async throws -> Verdict {
        var verdict: Verdict?
        do {
            try await eventually("everybody has everything", every: .milliseconds(100)) {
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
            for pen in pens {
                for number in verdict.unanswered(pen) { try await pen.ask(again: number) }
            }
            return try await eventually("every number is answered") {
                let now = try await judge()
                return pens.allSatisfy { now.unanswered($0).isEmpty } ? now : nil
            }
        }
        return verdict
    }

    /// How things stand now.
    private func judge() async throws -> Verdict {
        try await remember()
        let all = records.withLock { $0.values.sorted { $0.sequence < $1.sequence } }
        return Verdict(
            plan: plan, model: try ModelRoom(all, room: address.room.text), pens: pens, witnesses: witnesses,
            standings: pupils.map(\.standing))
    }

    /// Reads the journal, and keeps what it has now even if it has it no more later: a full stream of nats-server 2.9
    /// lets its oldest record go for a small new one, although it was told to refuse the new.
    func remember() async throws {
        for record in try await connection.readBack("INK_LOG_\(address.partition)") {
            records.withLock { $0[record.sequence] = record }
        }
    }
}
