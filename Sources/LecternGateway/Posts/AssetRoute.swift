internal import Assets
internal import Foundation
internal import Hummingbird
internal import LecternClient
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// `POST /api/rooms/ROOM/assets`: a PNG, JPEG, WebP, HEIC or PDF file, to be placed on boards.
struct AssetRoute {
    let rooms: RoomService
    let uploads: FileUploads

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/assets") { [rooms, uploads] request, context in
            let address = rooms.address(of: try context.room())
            let file = try FileUploads.File(request)
            if let claims = context.claims, claims.role != .operator, let author = claims.author {
                try await rooms.requireVoice(of: author, in: address.room)
            }
            try await context.channel.extendDeadline()
            let summary = try await uploads.send(file, to: address)
            return Response.body(summary, type: "application/json")
        }
    }
}

/// Sends files of requests to the service; of each file one part is in memory. Safe from any task.
final class FileUploads: Sendable {
    /// The body of a request.
    struct File: Sendable {
        private static let password = HTTPFields.Element.Name("Ink-Password")!

        fileprivate let body: RequestBody
        fileprivate let length: Int?
        /// Of an encrypted PDF. It is in a header: proxies log addresses.
        fileprivate let password: String?

        /// - Throws: where the head of the request shows that it cannot be taken.
        init(_ request: Request) throws(GatewayError) {
            body = request.body
            length = request.headers[.contentLength].flatMap { Int($0) }
            if let length, length > AssetLimits.bytes {
                throw .tooLarge("The file has \(length) bytes, of at most \(AssetLimits.bytes).")
            }
            guard length != 0 else { throw .badRequest("Send the file as the body.") }
            let text = request.headers[Self.password]
            password = text?.removingPercentEncoding
            guard (text == nil) == (password == nil), password?.utf8.count ?? 0 <= AssetLimits.passwordBytes else {
                throw .badRequest(
                    "Ink-Password is percent-encoded UTF-8 of at most \(AssetLimits.passwordBytes) bytes.")
            }
        }
    }

    private let uploader: AssetUploader
    /// Of one room half at most: each may take minutes.
    private let places: RoomShares

    init(connection: NATSConnection, limits: GatewayLimits) {
        var timeouts = AssetUploader.Timeouts()
        (timeouts.begin, timeouts.part) = (limits.stateTimeout, limits.pictureTimeout)
        timeouts.opening = limits.openingTimeout
        uploader = AssetUploader(connection: connection, timeouts: timeouts)
        places = RoomShares(limits.uploads)
    }

    /// Brings files that the service has to a further room; those that it does not have are passed over.
    func bring(_ assets: Set<AssetID>, to address: RoomAddress) async throws(AssetUploadError) {
        for asset in assets { _ = try await uploader.bring(asset, to: address) }
    }

    /// - Returns: the service's JSON, an `AssetUpload.Summary`.
    func send(_ file: File, to address: RoomAddress) async throws -> [UInt8] {
        guard let place = places.lease(1, for: address.room) else {
            throw GatewayError.notReady("Too many files are being uploaded.")
        }
        defer { withExtendedLifetime(place) {} }
        let pieces = file.body.map { Array($0.readableBytesView) }
        return try await uploader.upload(pieces, length: file.length, password: file.password, to: address)
    }
}

extension Channel {
    /// The request under way takes longer than others: it has the time of an upload, from now on.
    func extendDeadline() async throws {
        try await eventLoop.submit {
            let pipeline = self.pipeline.syncOperations
            try pipeline.handler(type: RequestDeadlines.self)
                .uploadBegan(pipeline.context(handlerType: RequestDeadlines.self))
        }.get()
    }
}

extension GatewayError {
    /// The service does not take a file.
    init(_ refusal: AssetUpload.Refusal) {
        let status: HTTPResponse.Status =
            switch refusal.error.code {
            case "too-large": .contentTooLarge
            case "unreadable", "needs-password": .unprocessableContent
            case "assets-full": HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
            case "no-journal", "no-sandbox": .notImplemented
            case "unknown-asset": .notFound
            default: .serviceUnavailable
            }
        self.init(status, refusal.error.code, refusal.error.message)
    }
}
