import LecternClient
import NATSClient
import StrokeWire
import TestSupport
import Testing

/// What a test waits for in the course of a lesson.
extension Lesson {
    /// Returns when every cohort has been given so many more operations.
    func goesOn(by count: UInt64 = 12, within limit: Duration = .seconds(30)) async throws {
        let goals = witnesses.map { $0.index + count }
        try await eventually("operations are released", within: limit) {
            zip(witnesses, goals).allSatisfy { $0.index >= $1 } ? () : nil
        }
    }

    /// A student joins, follows until it has what the others have and more, and leaves again.
    func welcomeNewcomer() async throws {
        let newcomer = Pupil(connection, address: address, cohort: .main)
        let following = Task { try await newcomer.follow() }
        defer { following.cancel() }
        try await eventually("the newcomer has joined") { newcomer.standing.index > 0 ? () : nil }
        try await goesOn()
        let goal = witnesses[0].index
        try await eventually("the newcomer has what the others have") { newcomer.standing.index >= goal ? () : nil }
        let standing = newcomer.standing
        let seen = witnesses[0].sightings.first { $0.index == standing.index }
        #expect(seen?.digest == standing.digest)
        #expect(standing.report?.isSound == true && standing.report?.gaps == 0, "\(standing.problems)")
    }
}
