import Foundation
import LecternClient
import LecternServer
import Locking
import Logging
import NATSClient
import StrokeWire

/// One lesson with one student: teacher, video clock and student, each with its own connection.
struct DemoRun: Sendable {
    let environment: DemoEnvironment
    let lesson: Lesson
    let speed: Double
    let latency: Duration
    /// Who publishes the lesson.
    let author: AuthorID
    let logger: Logger

    private var timeline: VideoTimeline { VideoTimeline(latency: latency, speed: speed) }

    struct Outcome: Sendable {
        /// The progress at the end.
        let state: DemoProgress.State
        let session: StudentSession
        let duration: Duration
        /// PNG of the released board; nil when the lesson was interrupted.
        let picture: [UInt8]?
        /// PDF of all pages as released; nil when the lesson was interrupted.
        let document: [UInt8]?
    }

    /// Runs until the student has seen everything, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - afterwards: called when the student has seen everything; the video goes on until it returns.
    ///   - tell: tells what happens to the student's pages, a line each.
    ///   - show: shows the status, twice a second.
    func run(
        afterwards: @Sendable (Outcome) async throws -> Void, tell: @escaping @Sendable (String) -> Void,
        _ show: @escaping @Sendable (DemoProgress.State, Duration) -> Void
    ) async throws -> Outcome {
        let progress = DemoProgress(timeline: timeline, speed: speed)
        let teacher = try await environment.connect("demo teacher")
        let video = try await environment.connect("demo video")
        let viewer = try await environment.connect("demo student")
        let start = ContinuousClock.now
        let clock = Task {
            await VideoClock(
                connection: video, address: environment.address, cohort: .main, timeline: timeline,
                interval: VideoClock.interval(at: speed), logger: logger
            ).run(firstNumber: 1)
        }
        let status = Task {
            await watch(progress, over: viewer) { if $0.isTeacherDone { show($0, start.duration(to: .now)) } }
        }
        let session = Task {
            try await Student(
                connection: viewer, address: environment.address, cohort: .main, wetInk: true, logger: logger
            ).follow { event, _ in
                if case .applied(let operation, _, _) = event, let line = operation.story { tell(line) }
                return note(event, on: progress, at: start.duration(to: .now))
            }
        }
        defer {
            status.cancel()
            session.cancel()
            clock.cancel()
        }
        // While the teacher publishes, its reports are newer than the service's state.
        let report = try await Teacher(
            connection: teacher, address: environment.address, author: author, logger: logger
        ).publish(PublishPlan(lesson, speed: speed)) { report in
            progress.update { $0.teacher = report }
            show(progress.state, start.duration(to: .now))
        }
        progress.update {
            $0.teacher = report
            $0.isTeacherDone = true
        }
        let seen = try await finish(session, within: latency + NATSConnection.stallLimit, progress)
        status.cancel()
        await status.value
        let duration = start.duration(to: .now)
        let png = try await picture(ImageRequest(), over: viewer)
        let pdf = try await picture(ImageRequest(format: .pdf), over: viewer)
        let outcome = Outcome(
            state: progress.state, session: seen, duration: duration, picture: pdf == nil ? nil : png, document: pdf)
        try await afterwards(outcome)
        clock.cancel()
        _ = await clock.value
        for connection in [teacher, video, viewer] { await connection.close() }
        return outcome
    }

    /// - Returns: nil when the task is cancelled.
    private func picture(
        _ request: ImageRequest, over connection: NATSConnection
    ) async throws(NATSError) -> [UInt8]? {
        do throws(NATSError) {
            return try await connection.requestParts(
                request.encoded(), to: environment.address.subject(.image(.main)),
                repeatingFor: NATSConnection.stallLimit
            ).payload
        } catch .cancelled {
            return nil
        }
    }

    /// - Returns: whether the student goes on.
    private func note(_ event: StudentEvent, on progress: DemoProgress, at elapsed: Duration) -> Bool {
        var goesOn = true
        progress.update { state in
            switch event {
            case .joined(_, let index, _, _): state.released = max(state.released, index)
            case .applied(let operation, _, _):
                state.released = operation.index
                state.lateness.record(operation, at: elapsed)
            case .wet(let release): if release.author == author { state.growth.record(release, at: elapsed) }
            case .problem(let problem): state.problems.append(problem.description)
            }
            goesOn = !state.isComplete
        }
        return goesOn
    }

    /// Waits until the student has seen the last operation, or has seen none for `limit`.
    private func finish(
        _ session: Task<StudentSession, any Error>, within limit: Duration, _ progress: DemoProgress
    ) async throws -> StudentSession {
        var released = progress.state.released
        var deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline, !Task.isCancelled, !progress.state.isComplete {
            if progress.state.released != released {
                released = progress.state.released
                deadline = .now + limit
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        session.cancel()
        return try await session.value
    }

    /// Requests the room's state twice a second.
    private func watch(
        _ progress: DemoProgress, over connection: NATSConnection, _ show: @Sendable (DemoProgress.State) -> Void
    ) async {
        while !Task.isCancelled {
            if let reply = try? await connection.request(to: environment.address.subject(.info)),
                let room = try? RoomSummary(decoding: reply.payload)
            {
                progress.update {
                    $0.logged = room.index
                    $0.held = room.cohorts.first?.held ?? 0
                    $0.guests = max($0.guests, (room.authors ?? 1) - 1)
                }
            }
            show(progress.state)
            try? await Task.sleep(for: .milliseconds(500))
        }
    }
}

enum DemoFailure: Error, CustomStringConvertible {
    case notAnswered
    /// The slides could not be imported.
    case noSlides(String)

    var description: String {
        switch self {
        case .notAnswered: "the service did not answer"
        case .noSlides(let why): "the slides are not there: \(why); --lesson demo plays a lesson without them"
        }
    }
}

extension ReleasedOperation {
    /// What a student sees happen to a page; nil for ink, which speaks for itself.
    fileprivate var story: String? {
        if action == .turn { return "student    sees page \(page)" }
        guard action == .draw, let header = try? StrokeMessage(decoding: bytes) else { return nil }
        switch header.element {
        case .text: return "student    reads a text on page \(page)"
        case .image: return "student    has a slide on page \(page)"
        case .lasso: return "student    sees a part of page \(page) move, the slide and the ink on it"
        default: return nil
        }
    }
}

/// The progress of the demo, updated by teacher, student and service.
final class DemoProgress: Sendable {
    struct State: Sendable {
        /// Nil before the teacher has begun.
        var teacher: TeacherReport?
        var isTeacherDone = false
        var released: UInt64 = 0
        var lateness: LatenessRecorder
        var growth: LatenessRecorder
        var problems: [String] = []
        var logged: UInt64 = 0
        var held = 0
        /// Authors beside the teacher of the lesson: people who draw on the pages.
        var guests = 0

        /// Whether the teacher is done and the student has seen everything.
        var isComplete: Bool {
            guard isTeacherDone, let teacher else { return false }
            return released >= teacher.lastIndex
        }

        /// The live status in one line.
        func line(elapsed: Duration) -> String {
            let seconds = elapsed.components.seconds
            let time = "\(seconds / 60):" + (seconds % 60 < 10 ? "0" : "") + "\(seconds % 60)"
            // The service's state may be older than the student's.
            let logged = max(logged, released)
            return
                "\(time)  messages sent \(teacher?.published ?? 0)  operations logged \(logged)  held \(held)  "
                + "released \(released)  points grown \(growth.count)  "
                + "lateness p50 \(lateness.quantile(0.5))  p99 \(lateness.quantile(0.99))"
        }
    }

    private let box: Locked<State>

    init(timeline: VideoTimeline, speed: Double) {
        box = Locked(
            State(
                lateness: LatenessRecorder(timeline: timeline, speed: speed),
                growth: LatenessRecorder(timeline: timeline, speed: speed)))
    }

    var state: State { box.withLock { $0 } }

    func update(_ change: (inout State) -> Void) {
        box.withLock { change(&$0) }
    }
}

/// Measures how long after the video operations, or the points of growing strokes, arrived at the student. A negative lateness
/// means ink from the video's future.
struct LatenessRecorder {
    private let timeline: VideoTimeline
    private let speed: Double
    /// Seconds, in order of arrival.
    private var values: [Double] = []
    /// When the last operation was due, in microseconds of media time.
    private var gateTime: Int64?
    /// Points seen of growing strokes, by the numbers of these.
    private var shown: [Int64: Int] = [:]
    /// Number of operations, or points, that came before they were due.
    private(set) var early = 0

    init(timeline: VideoTimeline, speed: Double) {
        self.timeline = timeline
        self.speed = speed
    }

    /// Number of operations, or points.
    var count: Int { values.count }

    /// Number of strokes that grew.
    var strokes: Int { shown.count }

    /// Records an operation that arrived `elapsed` after the start of the video. It is due when the video has passed its end, a
    /// stroke's last point, and those of all operations before it.
    mutating func record(_ operation: ReleasedOperation, at elapsed: Duration) {
        guard let header = try? StrokeMessage(decoding: operation.bytes, limits: WireLimits(messageBytes: .max)),
            let time = header.time
        else { return }
        let reach = header.decodePoints(of: operation.bytes).reduce(0) { max($0, $1.milliseconds ?? 0) }
        let end = time * 1000 + Int64(reach * 1000)
        let gateTime = max(end, self.gateTime ?? end)
        self.gateTime = gateTime
        add(timeline.sample(at: elapsed).media.microseconds - gateTime)
    }

    /// Records points that arrived `elapsed` after the start of the video, before their stroke was whole.
    mutating func record(_ release: WetRelease, at elapsed: Duration) {
        guard case .points(let points) = release.content, let time = points.style.time else { return }
        let video = timeline.sample(at: elapsed).media.microseconds
        let known = shown[release.number] ?? 0
        // Repeats begin before what is known.
        for point in points.points.dropFirst(max(0, known - points.first)) {
            add(video - time * 1000 - Int64(max(0, point.milliseconds ?? 0) * 1000))
        }
        shown[release.number] = max(known, points.first + points.points.count)
    }

    private mutating func add(_ behind: Int64) {
        if behind < 0 { early += 1 }
        values.append(Double(behind) / 1e6 / speed)
    }

    /// A quantile of the lateness.
    func quantile(_ share: Double) -> String {
        guard !values.isEmpty else { return "–" }
        let ordered = values.sorted()
        let seconds = ordered[min(ordered.count - 1, Int(share * Double(ordered.count)))]
        return String(format: "%.1f ms", seconds * 1000)
    }
}
