internal import Assets
internal import Foundation
internal import Hummingbird
internal import LecternClient
internal import Logging
internal import NATSClient
internal import StrokeWire

/// Pages of rooms that are imported, copied, moved and rotated as a whole.
///
/// Each piece of work may wait for an import into the room; a client that hears nothing would ask for it again.
struct PageRoutes {
    let rooms: RoomService
    let connection: NATSConnection
    let writers: RoomWriters
    let uploads: FileUploads
    /// Memory of boards that are being sent, copied or rotated.
    let replies: ReplyMemory

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/import") { [self] request, context in try await importFile(request, context) }
        router.post("api/rooms/:room/pages/:page/copy") { [self] request, context in try await copy(request, context) }
        router.post("api/rooms/:room/pages/:page/rotate") { [self] request, context in
            try await rotate(request, context)
        }
    }

    /// The page as it is at the log's end, and its memory.
    private func read(
        _ page: Int, of address: RoomAddress, isMove: Bool = false
    ) async throws -> (PageCopy, RoomShares.Lease) {
        let copy = try await PageCopy(of: page, in: address, over: connection)
        if isMove, copy.settings.pages.order == [page] { throw PageError.lastPage }
        return (copy, try replies.lease(copy.bytes, for: address.room))
    }
}

/// `POST /api/rooms/ROOM/import?author=A&t=MS&rotate=90&as=paper`: a PDF or a picture whose pages become pages of the room.
extension PageRoutes {
    private func importFile(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let address = rooms.address(of: try context.room())
        let author = try request.author()
        let name = try request.shownName(of: author)
        let time = try request.time()
        let rotation = try request.rotation()
        let form = try request.slideForm()
        let file = try FileUploads.File(request)
        try await rooms.requireVoice(of: author, in: address.room)
        try await context.channel.extendDeadline()
        let place = try writers.place(in: address.room)
        let slides = try await upload(file, to: address, form, rotation)
        let asked: Logger.Metadata = ["room": "\(address.room)", "author": "\(author)", "asset": "\(slides.id)"]
        let job = writers.job("a file was imported", asked, place) { report in
            let (pages, warning) = try await run(slides, to: address, at: time, as: name, report)
            func list(_ numbers: [Int]) -> String { "[\(numbers.map(String.init).joined(separator: ","))]" }
            // The pages of the room that are blank paper.
            let blank = slides.blank.isEmpty ? "" : ",\"blank\":\(list(slides.blank.map { pages[$0] }))"
            return PageJob.Outcome(
                pages: pages, answer: "{\"id\":\"\(slides.id)\",\"pages\":\(list(pages))\(blank)\(warning)}")
        }
        return try await job.response(wantsProgress: request.acceptsNDJSON, on: context.channel)
    }

    /// Sends a file to the service, once it is clear that the room can have its pages.
    private func upload(
        _ file: FileUploads.File, to address: RoomAddress, _ form: SlideImport.Form, _ rotation: PageRotation?
    ) async throws -> SlideImport {
        try SlideImport.check(
            try await BoardSettings(of: address, over: connection), as: form, rotates: rotation != nil)
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

    /// - Returns: the pages, and the warning of their time.
    private func run(
        _ slides: SlideImport, to address: RoomAddress, at time: Int64?, as name: String?, _ report: PageJob.Report
    ) async throws(PageError) -> ([Int], String) {
        try await writers.write(to: address, as: name) { writer throws(PageError) in
            let stamp = try await WriteTime(time, of: writer)
            return (try await slides.run(with: &writer, at: stamp.time, progress: report), stamp.warning)
        }
    }
}

/// `POST /api/rooms/ROOM/pages/G/copy`: what a page shows becomes a new page, of the same room or another, and the page may go
/// out of the first room's order then.
extension PageRoutes {
    private struct CopyBody: Decodable, Sendable {
        let to: String?
        let move: Bool?
        let t: Double?
    }

    private struct Copy: Sendable {
        let page: Int
        let source: RoomAddress
        let target: RoomAddress
        let isMove: Bool
        let time: Int64?
        let name: String?
    }

    private func copy(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let source = rooms.address(of: try context.room())
        let page = try context.page()
        let body: CopyBody = try await request.jsonBody("{\"to\":ROOM,\"move\":false,\"t\":MS}")
        let target = try body.to.map { name throws(GatewayError) in try RoomID(name, of: "a room") } ?? source.room
        let claims = try context.claims(alsoFor: .write(target, nil), "The token is not for the room \(target).")
        let time = try body.t.map(GatewayError.wholeMilliseconds)
        // The query's author may come from another of the request's tokens.
        let own = claims?.role == .operator ? nil : claims?.author
        let author = if let own { own } else { try request.authorIfAny() }
        let name = try request.shownName(of: author)
        if let author {
            for room in Set([source.room, target]) { try await rooms.requireVoice(of: author, in: room) }
        }
        let place = try writers.place(in: target)
        let copy = Copy(
            page: page, source: source, target: rooms.address(of: target), isMove: body.move ?? false, time: time,
            name: name)
        let asked: Logger.Metadata = [
            "room": "\(source.room)", "page": "\(page)", "to": "\(target)", "move": "\(copy.isMove)",
            "author": "\(author?.text ?? "")",
        ]
        let job = writers.job("a page was copied", asked, place) { report in
            let (new, warning) = try await run(copy, report)
            return PageJob.Outcome(pages: [new], answer: "{\"page\":\(new)\(warning)}")
        }
        return try await job.response(wantsProgress: request.acceptsNDJSON, on: context.channel)
    }

    /// - Returns: the new page, and the warning of its time.
    private func run(_ copy: Copy, _ report: PageJob.Report) async throws -> (Int, String) {
        let isOtherRoom = copy.source != copy.target
        let (page, lease) = try await read(copy.page, of: copy.source, isMove: copy.isMove && isOtherRoom)
        // An erasure of the first room must know of it before the page is there.
        if isOtherRoom { try await uploads.bring(page.assets, to: copy.target) }
        let (new, warning) = try await writers.write(to: copy.target, as: copy.name) { writer throws(PageError) in
            let stamp = try await WriteTime(copy.time, of: writer)
            return (try await page.write(with: &writer, at: stamp.time, progress: report), stamp.warning)
        }
        // The memory of the page counts until it is written.
        withExtendedLifetime(lease) {}
        guard copy.isMove else { return (new, warning) }
        do throws(PageError) {
            try await writers.write(to: copy.source, as: copy.name) { writer throws(PageError) in
                // The given time is one of the other room's video.
                let stamp = try await WriteTime(isOtherRoom ? nil : copy.time, of: writer)
                try await writer.hidePages([copy.page], at: stamp.time)
            }
        } catch {
            var failed = GatewayError(error)
            failed.pages = [new]
            throw failed
        }
        return (new, warning)
    }
}

/// `POST /api/rooms/ROOM/pages/G/rotate`: what a page shows is rotated by quarter turns.
extension PageRoutes {
    private struct RotateBody: Decodable {
        /// Degrees, clockwise.
        let by: Int?
        let t: Double?
    }

    private func rotate(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let address = rooms.address(of: try context.room())
        let page = try context.page()
        let body: RotateBody = try await request.jsonBody("{\"by\":90,\"t\":MS}")
        guard let rotation = PageRotation(rawValue: body.by ?? 90) else {
            throw GatewayError.badRequest("by is 90, 180 or 270 degrees, clockwise.")
        }
        let time = try body.t.map(GatewayError.wholeMilliseconds)
        let author = try request.authorIfAny()
        let name = try request.shownName(of: author)
        if let author { try await rooms.requireVoice(of: author, in: address.room) }
        let place = try writers.place(in: address.room)
        let asked: Logger.Metadata = [
            "room": "\(address.room)", "page": "\(page)", "by": "\(rotation.rawValue)",
            "author": "\(author?.text ?? "")",
        ]
        let job = writers.job("a page was rotated", asked, place) { _ in
            let warning = try await rotate(page, of: address, rotation, at: time, as: name)
            return PageJob.Outcome(
                pages: [page], answer: "{\"page\":\(page),\"by\":\(rotation.rawValue)\(warning)}")
        }
        return try await job.response(wantsProgress: false, on: context.channel)
    }

    private func rotate(
        _ page: Int, of address: RoomAddress, _ rotation: PageRotation, at time: Int64?, as name: String?
    ) async throws -> String {
        let (copy, lease) = try await read(page, of: address)
        let warning = try await writers.write(to: address, as: name) { writer throws(PageError) in
            let stamp = try await WriteTime(time, of: writer)
            _ = try await copy.rotate(rotation, with: &writer, at: stamp.time)
            return stamp.warning
        }
        // The memory of the page counts until it is written.
        withExtendedLifetime(lease) {}
        return warning
    }
}

extension Request {
    /// What the pages become, the query's `as`.
    fileprivate func slideForm() throws(GatewayError) -> SlideImport.Form {
        guard let form = SlideImport.Form(rawValue: text("as") ?? "paper") else {
            throw .badRequest("as is paper or picture.")
        }
        return form
    }

    /// By how much all pages of a file are rotated, the query's `rotate`; nil without one.
    fileprivate func rotation() throws(GatewayError) -> PageRotation? {
        guard let text = text("rotate"), text != "0" else { return nil }
        guard let rotation = Int(digits: text).flatMap(PageRotation.init) else {
            throw .badRequest("rotate is 0, 90, 180 or 270 degrees, clockwise.")
        }
        return rotation
    }

    /// Milliseconds of the query's `t`; nil without one.
    fileprivate func time() throws(GatewayError) -> Int64? {
        guard let text = text("t") else { return nil }
        return try GatewayError.wholeMilliseconds(Double(text) ?? .nan)
    }
}

extension GatewayError {
    /// A media time, a fraction of which is cut off, as in messages.
    fileprivate static func wholeMilliseconds(_ number: Double) throws(GatewayError) -> Int64 {
        guard let whole = Int64(exactly: number.rounded(.towardZero)) else {
            throw .badRequest("t is a number of milliseconds.")
        }
        return whole
    }
}
