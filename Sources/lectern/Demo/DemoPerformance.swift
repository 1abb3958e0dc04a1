import Foundation
import LecternClient
import LecternServer
import Logging
import NATSClient
import StrokeWire

/// Plays a lesson to one student: teacher, video clock and student, each on a connection of its own.
struct DemoPerformance: Sendable {
    let stage: DemoStage
    let lesson: Lesson
    let speed: Double
    let latency: Duration
    let logger: Logger

    private var timeline: VideoTimeline { VideoTimeline(latency: latency, speed: speed) }

    struct Outcome: Sendable {
        /// What everybody knew at the end.
        let state: DemoBoard.State
        let session: StudentSession
        let duration: Duration
        /// Of the board as the service has released it; nil when the lesson was ended before its end.
        let picture: [UInt8]?
    }

    /// Runs until the student has seen everything, or the task is cancelled.
    ///
    /// - Parameter show: shows the status, twice a second.
    func run(_ show: @escaping @Sendable (DemoBoard.State, Duration) -> Void) async throws -> Outcome {
        guard let author = AuthorID("teacher") else { throw DemoFailure.notAnswered }
        let cohort = CohortName.main
        let board = DemoBoard(skew: SkewGauge(timeline: timeline, speed: speed))
        let teacher = try await stage.connect("demo teacher")
        let video = try await stage.connect("demo video")
        let viewer = try await stage.connect("demo student")
        let start = ContinuousClock.now
        let clock = Task {
            await VideoClock(
                connection: video, address: stage.address, cohort: cohort, timeline: timeline,
                interval: VideoClock.interval(at: speed), logger: logger
            ).run(firstNumber: 1)
        }
        let status = Task {
            await watch(board, over: viewer) { if $0.isTeacherDone { show($0, start.duration(to: .now)) } }
        }
        let session = Task {
            try await Student(connection: viewer, address: stage.address, cohort: cohort, logger: logger)
                .follow { event, _ in note(event, on: board, at: start.duration(to: .now)) }
        }
        defer {
            status.cancel()
            session.cancel()
            clock.cancel()
        }
        // Shown at the teacher's word, which is newer than the service's then: nothing is logged before it is sent.
        let report = try await Teacher(
            connection: teacher, address: stage.address, author: author, logger: logger
        ).publish(PublishPlan(lesson, speed: speed)) { progress in
            board.update { $0.teacher = progress }
            show(board.state, start.duration(to: .now))
        }
        board.update {
            $0.teacher = report
            $0.isTeacherDone = true
        }
        let seen = try await finish(session, within: latency + .seconds(20), board)
        status.cancel()
        await status.value
        let duration = start.duration(to: .now)
        let picture: [UInt8]?
        do throws(NATSError) {
            picture = try await viewer.requestParts(to: stage.address.subject(.image(cohort))).payload
        } catch .cancelled {
            picture = nil
        }
        clock.cancel()
        _ = await clock.value
        for connection in [teacher, video, viewer] { await connection.close() }
        return Outcome(state: board.state, session: seen, duration: duration, picture: picture)
    }

    /// - Returns: whether the student goes on.
    private func note(_ event: StudentEvent, on board: DemoBoard, at elapsed: Duration) -> Bool {
        var goesOn = true
        board.update { state in
            switch event {
            case .joined(_, let index, _, _): state.released = max(state.released, index)
            case .applied(let operation, _, _):
                state.released = operation.index
                state.skew.note(operation, at: elapsed)
            case .problem(let problem): state.problems.append(problem.description)
            }
            goesOn = !state.isComplete
        }
        return goesOn
    }

    /// Waits until the student has seen the last operation.
    private func finish(
        _ session: Task<StudentSession, any Error>, within limit: Duration, _ board: DemoBoard
    ) async throws -> StudentSession {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline, !Task.isCancelled, !board.state.isComplete {
            try? await Task.sleep(for: .milliseconds(20))
        }
        session.cancel()
        return try await session.value
    }

    /// Asks the service where the room stands, twice a second.
    private func watch(
        _ board: DemoBoard, over connection: NATSConnection, _ show: @Sendable (DemoBoard.State) -> Void
    ) async {
        while !Task.isCancelled {
            if let reply = try? await connection.request(to: stage.address.subject(.info)),
                let room = try? JSONDecoder().decode(RoomStanding.self, from: Data(reply.payload))
            {
                board.update {
                    $0.logged = room.index
                    $0.held = room.cohorts.first?.held ?? 0
                }
            }
            show(board.state)
            try? await Task.sleep(for: .milliseconds(500))
        }
    }
}

/// What the demonstration reads of a room's standing.
private struct RoomStanding: Decodable {
    struct Cohort: Decodable {
        let held: Int
    }

    let index: UInt64
    let cohorts: [Cohort]
}

enum DemoFailure: Error, CustomStringConvertible {
    case notAnswered

    var description: String { "the service did not answer" }
}
