internal import Assets
internal import Foundation
internal import Hummingbird
internal import Locking
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// `POST /api/rooms/ROOM/assets`: a PNG, JPEG or PDF file, to be placed on boards.
struct AssetRoute {
    let rooms: RoomService
    let uploader: AssetUploader

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/assets") { [rooms, uploader] request, context in
            let address = rooms.address(of: try context.room())
            let length = request.headers[.contentLength].flatMap { Int($0) }
            if let length, length > AssetLimits.bytes {
                throw GatewayError.tooLarge("The file has \(length) bytes, of at most \(AssetLimits.bytes).")
            }
            guard length != 0 else { throw GatewayError.badRequest("The body is the file.") }
            try await extendDeadline(context.channel)
            let summary = try await uploader.upload(request.body, length: length, to: address)
            return Response.body(summary, type: "application/json", headers: [.cacheControl: "no-store"])
        }
    }

    /// Files take longer than other requests.
    private func extendDeadline(_ channel: any Channel) async throws {
        try await channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.handler(type: RequestDeadlines.self)
                .uploadBegan(pipeline.context(handlerType: RequestDeadlines.self))
        }.get()
    }
}

/// Sends files to the service, part by part, see ``AssetUpload``: of each file one part is in memory, and the next is read
/// from the client when the service has taken it. Safe from any task.
final class AssetUploader: Sendable {
    private let connection: NATSConnection
    private let limits: GatewayLimits
    private let running = Locked(0)

    init(connection: NATSConnection, limits: GatewayLimits) {
        self.connection = connection
        self.limits = limits
    }

    /// - Parameter length: bytes of the body, where they are known.
    /// - Returns: the service's JSON, an ``AssetUpload/Summary``.
    func upload(_ body: RequestBody, length: Int?, to address: RoomAddress) async throws -> [UInt8] {
        let count = running.withLock { running in
            running += 1
            return running
        }
        defer { running.withLock { $0 -= 1 } }
        guard count <= limits.uploads else { throw GatewayError.notReady("Too many files are being uploaded.") }
        let begin = Array("{\"bytes\":\(length ?? AssetLimits.bytes)}".utf8)
        let answer = try await ask(begin, AssetUpload.subject(address), within: limits.stateTimeout)
        guard let ticket = try? JSONDecoder().decode(AssetUpload.Ticket.self, from: Data(answer)),
            1...AssetUpload.partBytes ~= ticket.part
        else { throw GatewayError.badGateway("The service's answer is no place for a file.") }

        var waiting: [UInt8] = []
        var sent = 0
        func send(_ part: [UInt8], within limit: Duration) async throws -> [UInt8] {
            let answer = try await ask(part, ticket.to, [AssetUpload.offsetHeader: "\(sent)"], within: limit)
            sent += part.count
            return answer
        }
        for try await buffer in body {
            waiting += buffer.readableBytesView
            guard sent + waiting.count <= AssetLimits.bytes else {
                throw GatewayError.tooLarge("The file has more than \(AssetLimits.bytes) bytes.")
            }
            while waiting.count >= ticket.part {
                _ = try await send(Array(waiting.prefix(ticket.part)), within: limits.pictureTimeout)
                waiting.removeFirst(ticket.part)
            }
        }
        if !waiting.isEmpty { _ = try await send(waiting, within: limits.pictureTimeout) }
        guard sent > 0 else { throw GatewayError.badRequest("The body is the file.") }
        return try await send([], within: limits.openingTimeout)
    }

    /// - Throws: the service's refusal.
    private func ask(
        _ payload: [UInt8], _ subject: String, _ headers: NATSHeaders = [:], within limit: Duration
    ) async throws(GatewayError) -> [UInt8] {
        let answer: [UInt8]
        do throws(NATSError) {
            answer = try await connection.request(payload, to: subject, headers: headers, timeout: limit).payload
        } catch {
            throw GatewayError(error)
        }
        if let refusal = try? JSONDecoder().decode(AssetUpload.Refusal.self, from: Data(answer)) {
            throw GatewayError(refusal)
        }
        return answer
    }
}

extension GatewayError {
    /// The service does not take a file.
    init(_ refusal: AssetUpload.Refusal) {
        let status: HTTPResponse.Status =
            switch refusal.error.code {
            case "too-large": .contentTooLarge
            case "unreadable": .unprocessableContent
            case "assets-full": HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
            case "no-journal", "no-sandbox": .notImplemented
            case "unknown-asset": .notFound
            default: .serviceUnavailable
            }
        self.init(status, refusal.error.code, refusal.error.message)
    }
}
