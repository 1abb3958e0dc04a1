public import ArgumentParser
import ConnectionOptions
import Foundation
import InkML
public import LecternClient
import NATSClient
import StrokeWire

/// `lectern import`: brings ink of other programs, and slides, into a room.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import ink of an InkML file, the pages of a PDF, or a PNG, JPEG, WebP or HEIC into a room.",
        discussion: """
            A PDF, PNG, JPEG, WebP or HEIC goes to the service, and each of its pages becomes a page at the end of the room's order, \
            as large as the board allows; then the first of them is shown. Slides are the paper of their pages: no eraser \
            and no undo takes them away. With --as picture they are images, to be cut and moved. The service needs a journal, \
            and pages with paper or images among its board.features. At most 50 MiB and 500 pages. The password of an encrypted PDF is asked for \
            where there is a terminal; the service stores the file without encryption.

            The command reads InkML (W3C, 2011) as pens, tablets and note-taking programs write it, and as `lectern render -o \
            board.inkml` and GET /api/rooms/ROOM/board.inkml do, and publishes its strokes as a teacher: one operation \
            each, in the order of the file, as fast as the service takes them from one author, which is 200 messages \
            or 1 MiB a second. It waits until every operation is applied or rejected.

            The ink keeps its shape and becomes as large as the room's board allows; ink of a board of the same size \
            stays where it is. Force, angles and times of points are kept, and shapes and erasers of Lectern's own \
            files. A file of one page goes onto the page that is shown; of several pages, each goes onto the page of its \
            number. Each colour becomes the nearest one of the room's palette; where the service has `colour: rgb`, \
            --rgb keeps them as they are.

            The command skips parts of a file that it does not understand, and names each once on standard error; --strict \
            refuses such files. Highlighters become those of the board. Where board.features of the service lacks pens, they \
            are drawn below the other ink of their page, at the time of its first stroke, and in a room with operations as \
            lines along their lower edge.

            Without --t the operations get the time at the teacher, if the room's clock reports its delay: students see them \
            when their video gets there. If a live clock does not report it, the command prints a warning. With --t the first stroke, and all slides, have that time on the time line of the room's video, and the other \
            strokes are as much later as they are in the file.

            Document type declarations, entities and references to other files are refused, and nothing is published \
            unless the whole file can be read. An error names the line.

            Progress goes to standard error, the summary to standard output. SIGINT (Ctrl-C) or SIGTERM ends the \
            publishing with the summary; a second one ends the command at once.

            Exit codes: 0 when every operation was applied; 1 when the file cannot be read or has no ink, when nobody \
            answers, when an operation was rejected or did not arrive, or when this NATS user may not publish; 2 when NATS \
            cannot be reached; 3 when all strokes are in the journal, and the service has not answered for each; 130 \
            after SIGINT, 143 after SIGTERM.

            EXAMPLES
              lectern import notes.inkml --room lesson-7 --author ann
              lectern import notes.inkml --room lesson-7 --author ann --t 95000
              lectern import slides.pdf --room lesson-7 --author ann
              lectern import scan.pdf --room lesson-7 --author ann --rotate 90 --rotate 3:180
              lectern import locked.pdf --room lesson-7 --author ann --password-file password.txt
              lectern render demo -o demo.inkml && lectern import demo.inkml --room trial --author ann --json
            """)

    @Argument(help: "The file, or `-` for standard input; InkML of at most 64 MiB.")
    var file: String

    @OptionGroup var password: PasswordOptions

    @Option(
        help: ArgumentHelp(
            "Rotate slides clockwise by 90, 180 or 270 degrees: all of them, or as in 3:90 the third. May be given several "
                + "times.",
            valueName: "[page:]degrees"))
    var rotate: [SlideRotation] = []

    @Option(help: "Form of slides: paper, under the ink, or picture, to be cut and moved.")
    var `as` = SlideImport.Form.paper

    @OptionGroup var room: RoomOptions
    @OptionGroup var connection: ConnectionOptions

    @Option(help: "The author: 1 to 64 characters of a-z, 0-9, _ and -.", transform: authorID)
    var author: AuthorID

    @Option(
        name: .customLong("t"),
        help: ArgumentHelp(
            "Time of the first stroke, or of the slides, on the time line of the room's video, in milliseconds. Default: the time at the teacher.",
            valueName: "milliseconds"))
    var time: Int64?

    @Flag(help: "Keep colours as they are. For a service with `colour: rgb`.")
    var rgb = false

    @Flag(help: "Refuse a file with parts that a board cannot show.")
    var strict = false

    @OptionGroup var publishing: PublishingOptions

    func validate() throws {
        if file == "-", password.passwordFile == "-" {
            throw ValidationError("Standard input can be read only once.")
        }
    }

    func run() async throws {
        switch try endingCommand({ try ImportFile(path: file, isStrict: strict) }) {
        case .ink(let document):
            guard rotate.isEmpty else { throw ValidationError("Slides can be rotated, ink not.") }
            guard `as` == .paper else { throw ValidationError("--as is for slides.") }
            try await run(document)
        case .slides(let format, let bytes):
            let slides = SlideImportRun(
                name: file, format: format, bytes: bytes, password: password, rotations: rotate, form: `as`,
                room: room, author: author, time: time, publishing: publishing)
            try await slides.run(over: connection)
        }
    }

    private func run(_ document: InkDocument) async throws {
        let nats = try await connection.connect(as: "lectern import")
        let interrupts = await InterruptHandler()
        let start = ContinuousClock.now
        let report: TeacherReport
        do {
            report = try await interrupts.run {
                try await publish(PublishPlan(immediately: try await messages(of: document, over: nats)), over: nats)
            }
        } catch {
            await nats.close()
            let code = error as? ExitCode ?? .failed("\(error)")
            throw interrupts.exitCode ?? code
        }
        await nats.drain()
        let summary = PublishSummary(report: report, duration: start.duration(to: .now), hasWetInk: false)
        try summary.endCommand(asJSON: publishing.json, interrupts, room) { _ in
            "\(author) has begun another session meanwhile, which ended this one"
        }
    }

    /// The operations that bring a document to the room as it is.
    private func messages(
        of document: InkDocument, over nats: NATSConnection
    ) async throws -> [(bytes: [UInt8], header: StrokeMessage)] {
        let board = try await room.settings(over: nats)
        let hasPens = board.features.contains(.pens)
        if strict, document.hasHighlighters, !hasPens {
            throw ImportFileError(path: file, why: "passed-over: \(InkDocument.highlighterNote)")
        }
        let time = try await room.stamp(time, over: nats)
        StandardError.write("\(file): \(document.summary) for a board of \(board.sizeText)")
        for remark in document.remarks(hasPens: hasPens) { StandardError.write("\(file): \(remark)") }
        return document.messages(
            for: InkDocument.Size(width: board.width, height: board.height), isEmpty: board.index == 0,
            hasPens: hasPens, palette: rgb ? nil : board.palette, from: time)
    }

    private func publish(_ plan: PublishPlan, over nats: NATSConnection) async throws -> TeacherReport {
        var progress = PublishProgress(isQuiet: publishing.quiet)
        defer { progress.end() }
        let teacher = Teacher(connection: nats, address: room.address, author: author, logger: connection.logger)
        return try await teacher.publish(plan, wetInk: false, answerTimeout: publishing.answerTimeout) {
            progress.show($0)
        }
    }
}

extension SlideImport.Form: ExpressibleByArgument {}

/// By how much slides are rotated: all, or one.
struct SlideRotation: ExpressibleByArgument {
    /// From 1; nil for all.
    let page: Int?
    let rotation: PageRotation

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard 1...2 ~= parts.count, let rotation = Int(parts[parts.count - 1]).flatMap(PageRotation.init) else {
            return nil
        }
        page = parts.count == 2 ? Int(parts[0]) : nil
        guard parts.count == 1 || page ?? 0 >= 1 else { return nil }
        self.rotation = rotation
    }
}

extension RoomOptions {
    /// The state of the room; says why it cannot be had, and ends the command.
    func settings(over nats: NATSConnection) async throws -> BoardSettings {
        do throws(RoomDirectoryError) {
            return try await BoardSettings(of: address, over: nats)
        } catch {
            throw ExitCode.failed(error == .noReply ? unanswered : error.description)
        }
    }

    /// The time of what is written now: the given one, else the time at the teacher. Warns where students may see it too
    /// early.
    func stamp(_ given: Int64?, over nats: NATSConnection) async throws -> Int64? {
        if let given { return given }
        do throws(RoomDirectoryError) {
            let time = try await RoomDirectory(connection: nats, root: "").time(of: address)
            if let warning = time.warning { StandardError.write("lectern: \(warning)") }
            return time.stamp
        } catch .nats(.notPermitted) {
            StandardError.write(
                "lectern: this NATS user may not ask for the room's time: students may see this too early")
            return nil
        } catch {
            throw ExitCode.failed("\(error == .noReply ? unanswered : error.description)")
        }
    }
}

extension BoardSettings {
    /// `1024 × 768`.
    var sizeText: String {
        "\(width.formatted(.number.grouping(.never))) × \(height.formatted(.number.grouping(.never)))"
    }
}
