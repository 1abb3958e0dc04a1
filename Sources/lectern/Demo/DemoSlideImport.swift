import Assets
import LecternClient
import LecternDemo
import Logging
import NATSClient
import StrokeWire

/// The slides of the demo on the pages of its room, brought as any file is.
struct DemoSlideImport: Sendable {
    /// The file.
    let pdf: [UInt8]
    /// The pages of the room, one for each slide.
    let pages: [Int]
    /// The operations that brought them, as they are in the log.
    let messages: [(bytes: [UInt8], header: StrokeMessage)]

    /// Uploads the slides and writes their pages, which students see when the video begins.
    init(
        into address: RoomAddress, by author: AuthorID, over nats: NATSConnection, logger: Logger
    ) async throws {
        guard let pdf = DemoSlides.pdf() else { throw DemoFailure.noSlides("cairo makes no PDF") }
        self.pdf = pdf
        let file = AsyncStream([UInt8].self) { stream in
            stream.yield(pdf)
            stream.finish()
        }
        do {
            let uploader = AssetUploader(connection: nats)
            let answer = try await uploader.upload(file, length: pdf.count, to: address)
            guard var slides = SlideImport(try AssetUpload.Summary(decoding: answer)),
                slides.pages.count == DemoSlides.count
            else { throw AssetUploadError.malformed }
            // A lasso of the lesson moves a part of one.
            slides.form = .picture
            var writer = OperationWriter(connection: nats, address: address, author: author, logger: logger)
            pages = try await slides.run(with: &writer, at: 0)
            messages = try await Self.log(of: address, over: nats)
        } catch {
            throw DemoFailure.noSlides("\(error)")
        }
    }

    /// The messages of the room's log from its beginning.
    private static func log(
        of address: RoomAddress, over nats: NATSConnection
    ) async throws -> [(bytes: [UInt8], header: StrokeMessage)] {
        let room = try await BoardSettings(of: address, over: nats).room
        let request = JoinRequest(incarnation: room, have: 0)
        let reply = try await nats.requestParts(
            request.encoded(), to: address.subject(.joinHead), repeatingFor: NATSConnection.stallLimit)
        guard case .tail(let operations) = try JoinReply(decoding: reply.payload).content else {
            throw DemoFailure.notAnswered
        }
        return try operations.map { operation in
            let bytes = Array(operation.message)
            return (bytes, try StrokeMessage(decoding: bytes))
        }
    }

    /// The lesson on these pages.
    func lesson() throws -> Lesson {
        try DemoLesson.makeOnSlides(pages, firstNumber: Int64(messages.count) + 1)
    }

    /// A lesson with the slides before it, as the room's log has it.
    func recorded(_ lesson: Lesson) -> Lesson {
        Lesson(messages + lesson.messages.map { ($0.bytes, $0.header) })
    }
}
