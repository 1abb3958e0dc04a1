import LecternClient
import Locking
import Logging
import NATSClient
import NATSTestServer
import StrokeWire

/// Records every message released to a cohort, repeats included.
final class CohortObserver: Sendable {
    struct Sighting: Sendable {
        let at: ContinuousClock.Instant
        let index: UInt64
        let room: String
        let author: String
        let reference: UInt64?
        let digest: String
        let isLate: Bool
        let body: [UInt8]
    }

    let cohort: String
    let video: Video
    private let seen = Locked<[Sighting]>([])

    init(_ connection: NATSConnection, address: String, cohort: String, video: Video) throws {
        self.cohort = cohort
        self.video = video
        _ = try connection.subscribe("\(address).out.\(cohort)") { [seen] message in
            let sighting = Sighting(
                at: .now, index: message.header("Ink-Index").flatMap { UInt64($0) } ?? 0,
                room: message.header("Ink-Room") ?? "", author: message.header("Ink-Author") ?? "",
                reference: message.header("Ink-Ref").flatMap { UInt64($0) },
                digest: message.header("Ink-Digest") ?? "", isLate: message.header("Ink-Late") == "1",
                body: message.copyPayload())
            seen.withLock { $0.append(sighting) }
        }
    }

    var sightings: [Sighting] { seen.withLock { $0 } }

    /// The last index seen, 0 before the first.
    var index: UInt64 { seen.withLock { $0.map(\.index).max() ?? 0 } }
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
