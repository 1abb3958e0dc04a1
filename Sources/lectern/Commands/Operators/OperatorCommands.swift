import ArgumentParser
import ConnectionOptions
import LecternClient
import NATSClient
import StrokeWire

/// Options of commands about a room, which are recorded in the audit log.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var subjects: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "Name of the operator that gives the command, recorded in the audit log. It is the last token of the subject ROOT.command.NAME; permissions may allow this user one name alone. Default: the NATS user with a password, else operator.",
            valueName: "name"),
        transform: operatorName)
    var who: OperatorName?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Person or reason that the command is given for, recorded in the audit log: at most 256 bytes. Default: none.",
            valueName: "text"))
    var behalf: String?

    /// Gives commands over a connection.
    func commands(over nats: NATSConnection) throws -> RoomCommands {
        guard let who = who ?? OperatorName(nats.settings.userName ?? "operator") else {
            throw OperatorNameError()
        }
        return RoomCommands(connection: nats, root: subjects.root, from: who, for: behalf)
    }

    /// Prints what has become of a command.
    /// - Parameters:
    ///   - done: what is in force, such as `closed ink.0.physics`.
    ///   - pending: the same for what the service has yet to read.
    ///   - unconfirmed: the error where nothing shows that it is in force.
    func report(_ effect: CommandEffect, done: String, pending: String, unconfirmed: String) throws {
        switch effect {
        case .inForce(let sequence?):
            StandardOutput.write("\(done); in the journal at \(sequence)")
        case .inForce(nil):
            StandardOutput.write(done)
        case .logged(let sequence):
            StandardOutput.write("\(pending); in the journal at \(sequence), the service has yet to read it")
            throw ExitCode.unanswered
        case .unconfirmed:
            throw ExitCode.failed("\(unconfirmed)")
        }
    }
}

/// The NATS user's name cannot be the last token of the subject.
private struct OperatorNameError: Error, CustomStringConvertible {
    let description = "the NATS user's name is no name of the protocol; say --as NAME, as its permissions allow"
}

/// `lectern close`: closes a room.
struct CloseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close",
        abstract: "Close a room: its board is empty afterwards.",
        discussion: """
            The service, and everybody who follows the room, drops the board, the undo history, the log and the \
            authors' numbers at once, wherever the video of a cohort is. Operations that were not released yet are \
            never released. The next message to the room begins a new incarnation of it, with index 1. This cannot \
            be undone.

            The service records the command in the audit log (`lectern audit`), and then writes the decision to the \
            room's log. With a journal it is stored there, so that it also holds after a restart. The NATS user must \
            be allowed to publish on ROOT.command.NAME.

            Exit codes: 0 when the room is closed; 1 when there is no such room, no service, no permission, or when \
            the service refuses; 2 when NATS cannot be reached; 3 when the decision is in the journal and the service \
            has not read it yet.

            EXAMPLES
              lectern close lesson-7
              lectern close lesson-7 --for "request 4711 of the school office"
            """)

    @Argument(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -.", transform: roomID)
    var room: RoomID

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        let closing = try await options.connection.run(as: "lectern close") { try await close(over: $0) }
        guard let (effect, known) = closing else {
            throw ExitCode.failed("nobody has written to the room \(room): there is nothing to close")
        }
        let strokes = known.visible.map { " and \($0) strokes on the board" } ?? ""
        let life = "\(address), with \(known.index) operations\(strokes)"
        try options.report(
            effect, done: "closed \(life)", pending: "to be closed: \(life)",
            unconfirmed: "no confirmation that \(life) is closed")
    }

    private var address: RoomAddress { options.subjects.address(of: room) }

    /// - Returns: nil for a room that nobody has written to.
    private func close(over nats: NATSConnection) async throws -> (effect: CommandEffect, known: RoomSummary)? {
        let directory = RoomDirectory(connection: nats, root: options.subjects.root)
        // A room without an incarnation was closed a moment ago.
        guard let known = try await directory.room(at: address), known.incarnation != "" else { return nil }
        return (try await options.commands(over: nats).close(address, known: known), known)
    }
}

/// The room and the author of `lectern mute` and `lectern unmute`.
struct AuthorArguments: ParsableArguments {
    @Argument(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -.", transform: roomID)
    var room: RoomID

    @Argument(
        help: "The author, the last token of the subject of its messages: 1 to 64 characters of a-z, 0-9, _ and -.",
        transform: authorID)
    var author: AuthorID

    @OptionGroup var options: OperatorOptions

    /// Gives a command about the author, and prints what has become of it.
    /// - Parameters:
    ///   - name: of the program's command.
    ///   - done: what the author is when it is in force.
    func run(
        _ name: String, done: String,
        _ give: (RoomCommands, AuthorID, RoomAddress) async throws -> CommandEffect?
    ) async throws {
        let address = options.subjects.address(of: room)
        let effect = try await options.connection.run(as: "lectern \(name)") { nats in
            try await give(options.commands(over: nats), author, address)
        }
        guard let effect else {
            throw ExitCode.failed("nobody has written to the room \(room): there is nobody to \(name)")
        }
        let what = "\(author) in \(address)"
        try options.report(
            effect, done: "\(done) \(what)", pending: "to be \(done): \(what)",
            unconfirmed: "no confirmation that \(what) is \(done)")
    }
}

/// `lectern mute`: takes no more messages of an author.
struct MuteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "Mute an author: the service rejects its messages.",
        discussion: """
            Later messages of the author are rejected with the code `muted`. Neither teachers nor students see them, \
            strokes being drawn included. Earlier strokes stay; clear them or undo them, or close the room. \
            An author that has not written yet can be muted too.

            It holds until `lectern unmute`, or until the room is closed: a room that begins anew knows nothing of the \
            one before. A room has at most 256 muted authors; `lectern rooms --json` lists them. A client that may \
            choose an author's name comes back under another one: with tokens the name is the token's.

            The command is recorded in the audit log (`lectern audit`).

            Exit codes: 0 when the author is muted; 1 when there is no such room, no service, no permission, or when \
            the service refuses; 2 when NATS cannot be reached; 3 when the decision is in the journal and the service \
            has not read it yet.

            EXAMPLES
              lectern mute lesson-7 bob
              lectern mute lesson-7 bob --for "anna, by telephone"
            """)

    @OptionGroup var arguments: AuthorArguments

    func run() async throws {
        try await arguments.run("mute", done: "muted") { commands, author, address in
            try await commands.mute(author, at: address)
        }
    }
}

/// `lectern unmute`: takes messages of an author again.
struct UnmuteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmute",
        abstract: "Accept messages of a muted author again.",
        discussion: """
            Later messages of the author are accepted. Messages that were rejected meanwhile do not come back. An author \
            that is not muted is no error. Exit codes and recording are those of `lectern mute`.

            EXAMPLES
              lectern unmute lesson-7 bob
            """)

    @OptionGroup var arguments: AuthorArguments

    func run() async throws {
        try await arguments.run("unmute", done: "unmuted") { commands, author, address in
            try await commands.unmute(author, at: address)
        }
    }
}
