internal import Foundation
internal import Hummingbird
internal import LecternClient
internal import Logging
internal import NATSClient
internal import StrokeWire

/// `POST /api/rooms/ROOM/pages/G/copy`: what a page shows becomes a new page, of the same room or another, and the page may go
/// out of the first room's order then.
struct CopyRoute {
    /// The body of a request.
    private struct Order: Decodable, Sendable {
        let to: String?
        let move: Bool?
        let t: Double?
    }

    let rooms: RoomService
    let connection: NATSConnection
    let writers: RoomWriters
    let uploads: FileUploads
    /// Memory of boards that are being sent or copied.
    let replies: ReplyMemory

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/pages/:page/copy") { [self] request, context in
            let source = rooms.address(of: try context.room())
            let page = try context.page()
            let order = try Self.order(try await request.bytes(atMost: 4096))
            guard let target = order.to.map({ RoomID($0) }) ?? source.room else {
                throw GatewayError.badRequest("The name of a room is 1 to 64 characters of a to z, 0 to 9, _ and -.")
            }
            let claims = try context.claims(alsoFor: .write(target, nil), "The token is not for the room \(target).")
            let time = try order.t.map(GatewayError.wholeMilliseconds)
            // The query may have been completed with the author of another token.
            let own = claims?.role == .operator ? nil : claims?.author
            let author = if let own { own } else { try request.authorIfAny() }
            let name = try request.shownName(of: author)
            if let author {
                for room in Set([source.room, target]) { try await rooms.requireVoice(of: author, in: room) }
            }
            try await context.channel.extendDeadline()
            try await writers.begin(in: target)
            let work = Work(
                source: source, page: page, target: rooms.address(of: target), isMove: order.move ?? false, time: time,
                name: name)
            let job = PageJob { report throws(GatewayError) in
                let asked: Logger.Metadata = [
                    "room": "\(source.room)", "page": "\(page)", "to": "\(target)", "move": "\(work.isMove)",
                    "author": "\(author?.text ?? "")",
                ]
                var warning = ""
                let pages = try await writers.record("a page was copied", asked, in: target) {
                    () throws(GatewayError) in
                    let (page, stamp) = try await copy(work, report)
                    warning = stamp.warning
                    return [page]
                }
                return Array("{\"page\":\(pages[0])\(warning)}".utf8)
            }
            return try await job.response(wantsProgress: request.acceptsNDJSON, on: context.channel)
        }
    }

    private static func order(_ body: [UInt8]) throws(GatewayError) -> Order {
        // All that is in it may be left out.
        if body.isEmpty { return Order(to: nil, move: nil, t: nil) }
        guard let order = try? JSONDecoder().decode(Order.self, from: Data(body)) else {
            throw .badRequest("The body is {\"to\":ROOM,\"move\":false,\"t\":MS}.")
        }
        return order
    }

    private struct Work: Sendable {
        let source: RoomAddress
        let page: Int
        let target: RoomAddress
        let isMove: Bool
        let time: Int64?
        let name: String?
    }

    /// - Returns: the new page, and the time of it.
    private func copy(
        _ work: Work, _ report: PageJob.Report
    ) async throws(GatewayError) -> (Int, Stamp) {
        let page: PageCopy
        do throws(PageError) {
            page = try await PageCopy(of: work.page, in: work.source, over: connection)
            if work.isMove, work.source != work.target, page.settings.pages.order == [work.page] {
                throw .lastPage
            }
        } catch {
            throw GatewayError(error)
        }
        let lease = try replies.lease(page.bytes, for: work.source.room)
        // An erasure of the first room must know of it before the page is there.
        if work.source != work.target { try await uploads.bring(page.assets, to: work.target) }
        let (new, stamp) = try await writers.write(to: work.target, as: work.name) { writer throws(PageError) in
            let stamp = try await Stamp(work.time, of: writer)
            return (try await page.write(with: &writer, at: stamp.time, progress: report), stamp)
        }
        withExtendedLifetime(lease) {}
        guard work.isMove else { return (new, stamp) }
        do throws(GatewayError) {
            try await writers.write(to: work.source, as: work.name) { writer throws(PageError) in
                // The given time is one of the other room's video.
                let given = work.source == work.target ? work.time : nil
                try await writer.hidePages([work.page], at: try await Stamp(given, of: writer).time)
            }
        } catch {
            var failed = error
            failed.pages = [new]
            throw failed
        }
        return (new, stamp)
    }
}
