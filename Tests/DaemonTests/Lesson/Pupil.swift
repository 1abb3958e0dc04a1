import LecternClient
import Logging
import NATSClient
import NATSTestServer
import StrokeWire

/// A student's client following a cohort: where its board stands now.
final class Pupil: Sendable {
    struct Standing: Sendable {
        var room = ""
        var index: UInt64 = 0
        var digest = ""
        var report: StudentReport?
        var problems: [String] = []
    }

    let cohort: String
    private let student: Student
    private let state = Locked(Standing())

    init(_ connection: NATSConnection, address: RoomAddress, cohort: CohortName) {
        self.cohort = cohort.text
        student = Student(connection: connection, address: address, cohort: cohort, logger: .silent)
    }

    var standing: Standing { state.withLock { $0 } }

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
