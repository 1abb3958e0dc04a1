import ArgumentParser
import LecternConfiguration
import StrokeWire

/// Options for a room, whose subjects begin with `<root>.<partition>.<room>`.
struct RoomOptions: ParsableArguments {
    @Option(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -.", transform: roomID)
    var room: RoomID

    @OptionGroup var subjects: SubjectOptions

    var address: RoomAddress { subjects.address(of: room) }

    /// The error of a command that had no answer from the service.
    var unanswered: String {
        "nobody answers at \(address): is the service running, with the same --root and --partitions?"
    }
}

/// Options for the service's subjects; both must be as in its configuration.
struct SubjectOptions: ParsableArguments {
    @OptionGroup var first: RootOptions

    @Option(help: "Number of partitions, the service's subjects.partitions: 1 to 1024.")
    var partitions = 1

    var root: String { first.root }

    func validate() throws {
        let allowed = DaemonConfiguration.Subjects.allowedPartitions
        guard allowed ~= partitions else {
            throw ValidationError("--partitions is \(allowed.lowerBound) to \(allowed.upperBound)")
        }
    }

    func address(of room: RoomID) -> RoomAddress {
        RoomAddress(root: root, room: room, partitions: partitions)
    }
}

/// Option for the first token of the service's subjects, as in its configuration.
struct RootOptions: ParsableArguments {
    @Option(
        help: """
            First part of all subjects, the service's subjects.root: 1 to 64 characters of a-z, 0-9, _ and -. Default: ink.
            """,
        // The same rule as for a room.
        transform: { try roomID($0).text })
    var root = "ink"
}

@Sendable func roomID(_ text: String) throws -> RoomID { try name(text) }
@Sendable func authorID(_ text: String) throws -> AuthorID { try name(text) }
@Sendable func operatorName(_ text: String) throws -> OperatorName { try name(text) }

@Sendable func cohortName(_ text: String) throws -> CohortName {
    guard CohortName(text) != nil || RoomID(text) == nil else {
        throw ValidationError("\(text.debugDescription) is a reserved word and cannot name a cohort")
    }
    return try name(text)
}

private func name<Name: SubjectToken>(_ text: String) throws -> Name {
    guard let name = Name(text) else {
        throw ValidationError(
            "\(text.debugDescription) is not a name: a name has 1 to 64 characters of a-z, 0-9, _ and -")
    }
    return name
}

/// Parses a duration: `250ms`, `2s`, `1.5s`, `3m`, `1h`.
///
/// Not negative, and at most 1000 hours, so that nothing overflows.
@Sendable func duration(_ text: String) throws -> Duration {
    guard let duration = parsed(text, atMost: .seconds(3_600_000)) else {
        throw ValidationError(
            "\(text.debugDescription) is not a duration: write 250ms, 2s, 1.5s, 3m or 1h, at most 1000h")
    }
    return duration
}

/// Parses how long ago something was: a duration, also in days, at most 3650.
@Sendable func age(_ text: String) throws -> Duration {
    guard let duration = parsed(text, atMost: .seconds(3650 * 86_400)) else {
        throw ValidationError("\(text.debugDescription) is not an age: write 30s, 15m, 12h or 7d, at most 3650d")
    }
    return duration
}

private func parsed(_ text: String, atMost limit: Duration) -> Duration? {
    let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }),
        let count = Double(text.dropLast(unit.suffix.count)),
        0 <= count * unit.seconds, count * unit.seconds <= limit / .seconds(1)
    else { return nil }
    return .seconds(count * unit.seconds)
}
