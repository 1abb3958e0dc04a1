internal import Assets
internal import Hummingbird
internal import LecternClient
internal import Logging
internal import NIOCore
internal import StrokeWire

/// `POST /api/rooms/ROOM/import?author=A&t=MS`: a PDF, PNG or JPEG whose pages become pages of the room.
struct ImportRoute {
    let rooms: RoomService
    let uploads: FileUploads
    let writers: RoomWriters

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/import") { [self] request, context in
            let address = rooms.address(of: try context.room())
            let author = try request.author()
            let time = try request.time()
            let file = try FileUploads.File(request)
            try await rooms.requireVoice(of: author, in: address.room)
            try await context.channel.extendDeadline()
            try await writers.begin()
            let slides: SlideImport
            do {
                slides = try await upload(file, to: address)
            } catch {
                await writers.end()
                throw error
            }
            let job = PageJob { report throws(GatewayError) in
                let asked: Logger.Metadata = [
                    "room": "\(address.room)", "author": "\(author)", "asset": "\(slides.id)",
                ]
                let pages = try await writers.record("a file was imported", asked) { () throws(GatewayError) in
                    try await run(slides, to: address, at: time, report)
                }
                func list(_ numbers: [Int]) -> String { "[\(numbers.map(String.init).joined(separator: ","))]" }
                // The pages of the room that are blank paper.
                let blank = slides.blank.isEmpty ? "" : ",\"blank\":\(list(slides.blank.map { pages[$0] }))"
                return Array("{\"id\":\"\(slides.id)\",\"pages\":\(list(pages))\(blank)}".utf8)
            }
            return try await job.response(wantsProgress: request.acceptsNDJSON, on: context.channel)
        }
    }

    /// Sends a file to the service, once it is clear that the room can have its pages.
    private func upload(_ file: FileUploads.File, to address: RoomAddress) async throws -> SlideImport {
        do throws(PageError) {
            try SlideImport.check(try await writers.settings(of: address))
        } catch {
            throw GatewayError(error)
        }
        let answer = try await uploads.send(file, to: address)
        guard let summary = try? AssetUpload.Summary(decoding: answer), let slides = SlideImport(summary) else {
            throw GatewayError.badGateway("The service's answer is no asset.")
        }
        return slides
    }

    private func run(
        _ slides: SlideImport, to address: RoomAddress, at time: Int64?, _ report: PageJob.Report
    ) async throws(GatewayError) -> [Int] {
        try await writers.write(to: address) { writer throws(PageError) in
            var time = time
            if time == nil { time = try await writer.fastestVideo() }
            return try await slides.run(with: &writer, at: time, progress: report)
        }
    }
}
