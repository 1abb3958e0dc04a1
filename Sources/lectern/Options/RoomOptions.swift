import ArgumentParser
import StrokeWire

/// Where a room is: its subjects begin with `<root>.<partition>.<room>`.
struct RoomOptions: ParsableArguments {
    @Option(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -.", transform: roomID)
    var room: RoomID

    @OptionGroup var subjects: SubjectOptions

    /// The room's address.
    var address: RoomAddress { subjects.address(of: room) }
}

/// How the service names its subjects; both must be as in its configuration.
struct SubjectOptions: ParsableArguments {
    @Option(help: "First part of all subjects, as in the service's configuration.")
    var root = "ink"

    @Option(help: "Number of partitions, as in the service's configuration.")
    var partitions = 1

    func validate() throws {
        let isSubject = root.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { token in
            !token.isEmpty && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x2a && $0 != 0x3e }
        }
        guard isSubject else { throw ValidationError("--root is no subject: \(root)") }
        guard partitions >= 1 else { throw ValidationError("--partitions is at least 1") }
    }

    /// The address of a room.
    func address(of room: RoomID) -> RoomAddress {
        RoomAddress(root: root, room: room, partitions: partitions)
    }
}

/// Reads a room's name.
@Sendable func roomID(_ text: String) throws -> RoomID {
    guard let room = RoomID(text) else { throw notAName(text) }
    return room
}

/// Reads an author's name.
@Sendable func authorID(_ text: String) throws -> AuthorID {
    guard let author = AuthorID(text) else { throw notAName(text) }
    return author
}

/// Reads a cohort's name.
@Sendable func cohortName(_ text: String) throws -> CohortName {
    guard let cohort = CohortName(text) else { throw notAName(text) }
    return cohort
}

private func notAName(_ text: String) -> ValidationError {
    ValidationError("\(text.debugDescription) is no name: it takes 1 to 64 characters of a-z, 0-9, _ and -")
}
