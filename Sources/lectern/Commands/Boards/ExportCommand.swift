import ArgumentParser
import ConnectionOptions
import LecternClient
import NATSClient
import StrokeWire

/// `lectern export`: writes the board of a room as a file.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the board of a room as PNG, SVG, PDF or InkML.",
        discussion: """
            The command asks the service for the picture, as it is at the end of the room's log, ahead of every video, or as \
            released to a cohort. A PNG or SVG is of the page that is shown; a PDF or InkML has all pages in their \
            order. The output's file extension selects the format. `lectern import` reads each but SVG.

            Exit codes: 0 when the file was written; 1 when the service refuses, when nobody answers, or when the file \
            cannot be written; 2 when NATS cannot be reached; 64 for wrong arguments.

            EXAMPLES
              lectern export --room physics -o lesson.pdf
              lectern export --room physics --cohort hls -o seen.png --width 640
              lectern export --room physics --page 1 -o second.svg
            """)

    @OptionGroup var room: RoomOptions

    @Option(help: "Board as released to this cohort. Default: the board at the end of the log.", transform: cohortName)
    var cohort: CohortName?

    @OptionGroup var picture: PictureOptions

    @Option(
        help: ArgumentHelp(
            "Width in pixels, 1 … 4096; 96 per inch in a PDF. Default: the service's.", valueName: "pixels"))
    var width: Int?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let width, !(1...4096).contains(width) { throw ValidationError("--width takes 1 … 4096.") }
    }

    func run() async throws {
        let request = ImageRequest(
            width: width, format: try picture.writtenFormat,
            background: picture.transparent ? .transparent : .white, page: picture.page)
        let reply = try await connection.run(as: "lectern export") { nats in
            try await ask(for: request, over: nats, until: .now + NATSConnection.stallLimit)
        }
        try endingCommand { try OutputFile(picture.output).write(reply.payload) }
        let index = reply.headers[HeaderName.index].map { ": operation \($0)" } ?? ""
        let missing = reply.headers[HeaderName.incomplete] == nil ? "" : ", without images that are not there"
        StandardError.write("\(picture.output)\(index), \(reply.payload.count) bytes\(missing)")
    }

    /// - Parameter end: until then it asks again where the service is not ready, as while it makes the images of many slides.
    private func ask(
        for request: ImageRequest, over nats: NATSConnection, until end: ContinuousClock.Instant
    ) async throws -> NATSReply {
        let subject = room.address.subject(cohort.map(RoomSubject.image) ?? .imageHead)
        let reply: NATSReply
        do throws(NATSError) {
            reply = try await nats.requestParts(
                request.encoded(), to: subject, timeout: .seconds(30), repeatingFor: NATSConnection.stallLimit)
        } catch {
            throw ExitCode.failed(error == .noResponders ? room.unanswered : "\(error)")
        }
        if let refusal = RequestError(decoding: reply.payload) {
            if refusal.code == .notReady, .now < end {
                try await Task.sleep(for: .seconds(1))
                return try await ask(for: request, over: nats, until: end)
            }
            throw ExitCode.failed("the service refused: \(refusal.message)")
        }
        return reply
    }
}
