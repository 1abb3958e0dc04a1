internal import Foundation
internal import Hummingbird
internal import LecternClient
internal import Logging
internal import NATSClient
internal import StrokeWire

/// `POST /api/rooms/ROOM/pages/G/rotate`: what a page shows is rotated by quarter turns.
struct RotateRoute {
    /// The body of a request.
    private struct Order: Decodable {
        /// Degrees, clockwise.
        let by: Int?
        let t: Double?
    }

    let rooms: RoomService
    let connection: NATSConnection
    let writers: RoomWriters
    /// Memory of boards that are being sent or copied.
    let replies: ReplyMemory

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/pages/:page/rotate") { [self] request, context in
            let address = rooms.address(of: try context.room())
            let page = try context.page()
            let (rotation, time) = try Self.order(try await request.bytes(atMost: 4096))
            let author = try request.authorIfAny()
            let name = try request.shownName(of: author)
            if let author { try await rooms.requireVoice(of: author, in: address.room) }
            // It may wait for an import into the room; a client that hears nothing would rotate the page again.
            try await context.channel.extendDeadline()
            try await writers.begin(in: address.room)
            let job = PageJob { _ throws(GatewayError) in
                let asked: Logger.Metadata = [
                    "room": "\(address.room)", "page": "\(page)", "by": "\(rotation.rawValue)",
                    "author": "\(author?.text ?? "")",
                ]
                var warning = ""
                _ = try await writers.record("a page was rotated", asked, in: address.room) {
                    () throws(GatewayError) in
                    warning = try await rotate(page, of: address, rotation, at: time, as: name).warning
                    return [page]
                }
                return Array("{\"page\":\(page),\"by\":\(rotation.rawValue)\(warning)}".utf8)
            }
            return try await job.response(wantsProgress: false, on: context.channel)
        }
    }

    private static func order(_ body: [UInt8]) throws(GatewayError) -> (PageRotation, Int64?) {
        let order = body.isEmpty ? Order(by: nil, t: nil) : try? JSONDecoder().decode(Order.self, from: Data(body))
        guard let order, let rotation = PageRotation(rawValue: order.by ?? 90) else {
            throw .badRequest("The body is {\"by\":90,\"t\":MS}; by is 90, 180 or 270, clockwise.")
        }
        return (rotation, try order.t.map(GatewayError.wholeMilliseconds))
    }

    private func rotate(
        _ page: Int, of address: RoomAddress, _ rotation: PageRotation, at time: Int64?, as name: String?
    ) async throws(GatewayError) -> Stamp {
        let copy: PageCopy
        do throws(PageError) {
            copy = try await PageCopy(of: page, in: address, over: connection)
        } catch {
            throw GatewayError(error)
        }
        let lease = try replies.lease(copy.bytes, for: address.room)
        let stamp = try await writers.write(to: address, as: name) { writer throws(PageError) in
            let stamp = try await Stamp(time, of: writer)
            _ = try await copy.rotate(rotation, with: &writer, at: stamp.time)
            return stamp
        }
        withExtendedLifetime(lease) {}
        return stamp
    }
}

extension GatewayContext {
    /// The page in the path.
    func page() throws(GatewayError) -> Int {
        guard let page = parameters.get("page").flatMap({ Int($0) }), PageNumber.range ~= page else {
            throw .badRequest("A page is a number from 0 to \(PageNumber.range.upperBound).")
        }
        return page
    }
}

extension GatewayError {
    /// A media time of JSON, a fraction of which is cut off, as in messages.
    static func wholeMilliseconds(_ number: Double) throws(GatewayError) -> Int64 {
        guard let whole = Int64(exactly: number.rounded(.towardZero)) else {
            throw .badRequest("t is a number of milliseconds.")
        }
        return whole
    }
}
