internal import Assets
internal import Hummingbird
internal import LecternClient
internal import Logging
internal import NIOCore
internal import StrokeWire

/// `POST /api/rooms/ROOM/import?author=A&t=MS&rotate=90&as=paper`: a PDF or a picture whose pages become pages of the room.
struct ImportRoute {
    let rooms: RoomService
    let uploads: FileUploads
    let writers: RoomWriters

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/import") { [self] request, context in
            let address = rooms.address(of: try context.room())
            let author = try request.author()
            let name = try request.shownName(of: author)
            let time = try request.time()
            let rotation = try request.rotation()
            let form = try request.slideForm()
            let file = try FileUploads.File(request)
            try await rooms.requireVoice(of: author, in: address.room)
            try await context.channel.extendDeadline()
            try await writers.begin(in: address.room)
            let slides: SlideImport
            do {
                slides = try await upload(file, to: address, form, rotation)
            } catch {
                await writers.end(in: address.room)
                throw error
            }
            let job = PageJob { report throws(GatewayError) in
                let asked: Logger.Metadata = [
                    "room": "\(address.room)", "author": "\(author)", "asset": "\(slides.id)",
                ]
                var warning = ""
                let pages = try await writers.record("a file was imported", asked, in: address.room) {
                    () throws(GatewayError) in
                    let (pages, stamp) = try await run(slides, to: address, at: time, as: name, report)
                    warning = stamp.warning
                    return pages
                }
                func list(_ numbers: [Int]) -> String { "[\(numbers.map(String.init).joined(separator: ","))]" }
                // The pages of the room that are blank paper.
                let blank = slides.blank.isEmpty ? "" : ",\"blank\":\(list(slides.blank.map { pages[$0] }))"
                return Array("{\"id\":\"\(slides.id)\",\"pages\":\(list(pages))\(blank)\(warning)}".utf8)
            }
            return try await job.response(wantsProgress: request.acceptsNDJSON, on: context.channel)
        }
    }

    /// Sends a file to the service, once it is clear that the room can have its pages.
    private func upload(
        _ file: FileUploads.File, to address: RoomAddress, _ form: SlideImport.Form, _ rotation: PageRotation?
    ) async throws -> SlideImport {
        do throws(PageError) {
            try SlideImport.check(try await writers.settings(of: address), as: form, rotates: rotation != nil)
        } catch {
            throw GatewayError(error)
        }
        let answer = try await uploads.send(file, to: address)
        guard let summary = try? AssetUpload.Summary(decoding: answer), var slides = SlideImport(summary) else {
            throw GatewayError.badGateway("The service's answer is no asset.")
        }
        slides.form = form
        if let rotation {
            slides.rotations = Dictionary(uniqueKeysWithValues: slides.pages.indices.map { ($0, rotation) })
        }
        return slides
    }

    private func run(
        _ slides: SlideImport, to address: RoomAddress, at time: Int64?, as name: String?, _ report: PageJob.Report
    ) async throws(GatewayError) -> ([Int], Stamp) {
        try await writers.write(to: address, as: name) { writer throws(PageError) in
            let stamp = try await Stamp(time, of: writer)
            return (try await slides.run(with: &writer, at: stamp.time, progress: report), stamp)
        }
    }
}

extension Request {
    /// What the pages become, the query's `as`.
    fileprivate func slideForm() throws(GatewayError) -> SlideImport.Form {
        guard let text = uri.queryParameters["as"] else { return .paper }
        guard let form = SlideImport.Form(rawValue: String(text)) else {
            throw .badRequest("as is paper or picture.")
        }
        return form
    }

    /// By how much all pages of a file are rotated, the query's `rotate`; nil without one.
    fileprivate func rotation() throws(GatewayError) -> PageRotation? {
        guard let text = uri.queryParameters["rotate"], text != "0" else { return nil }
        guard let rotation = Int(text).flatMap(PageRotation.init) else {
            throw .badRequest("rotate is 0, 90, 180 or 270 degrees, clockwise.")
        }
        return rotation
    }
}
