import ArgumentParser
import LecternConfiguration
import StrokeWire

/// Where a room is: its subjects begin with `<root>.<partition>.<room>`.
struct RoomOptions: ParsableArguments {
    @Option(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -.", transform: roomID)
    var room: RoomID

    @OptionGroup var subjects: SubjectOptions

    /// The room's address.
    var address: RoomAddress { subjects.address(of: room) }

    /// What a command says when it has heard nothing from the service.
    var unanswered: String {
        "nobody answers at \(address): is the service running, with the same --root and --partitions?"
    }
}

/// How the service names its subjects; both must be as in its configuration.
struct SubjectOptions: ParsableArguments {
    @Option(
        help: "First part of all subjects, as in the service's configuration: 1 to 64 characters of a-z, 0-9, _ and -.")
    var root = "ink"

    @Option(help: "Number of partitions, as in the service's configuration, 1 to 1024.")
    var partitions = 1

    func validate() throws {
        // The same rule as for a room.
        guard RoomID(root) != nil else { throw notAName(root, of: "--root: ") }
        let allowed = DaemonConfiguration.Subjects.allowedPartitions
        guard allowed ~= partitions else {
            throw ValidationError("--partitions is \(allowed.lowerBound) to \(allowed.upperBound)")
        }
    }

    /// The address of a room.
    func address(of room: RoomID) -> RoomAddress {
        RoomAddress(root: root, room: room, partitions: partitions)
    }
}

/// Reads the first token of subjects.
@Sendable func subjectToken(_ text: String) throws -> String {
    // The same rule as for a room.
    try roomID(text).text
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
    if let cohort = CohortName(text) { return cohort }
    // A name for anything but a cohort.
    guard RoomID(text) == nil else {
        throw ValidationError(
            "\(text.debugDescription) is no cohort's name: it is a word of the configuration, cohorts.\(text)")
    }
    throw notAName(text)
}

private func notAName(_ text: String, of option: String = "") -> ValidationError {
    ValidationError("\(option)\(text.debugDescription) is no name: it takes 1 to 64 characters of a-z, 0-9, _ and -")
}
