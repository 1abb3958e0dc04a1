public import NATSClient
public import StrokeWire

/// What a program that draws into a room has to know of its board.
public struct BoardSettings: Sendable, Equatable {
    /// Incarnation of the room, empty where nobody has written to it.
    public let room: String
    /// Index of the last operation of the log.
    public let index: UInt64
    /// Width of the board in board units.
    public let width: Double
    /// Height of the board in board units.
    public let height: Double
    /// The colours that messages refer to by index.
    public let palette: Palette
    /// Whether the first draw will still decide the size.
    public let isProvisional: Bool
    /// The pages at ``index``.
    public let pages: BoardPages
    /// What the service offers beyond strokes on one page.
    public let features: BoardFeatures

    /// Asks the service by a join of the end of the log, which needs no other right than a teacher's. For a room without
    /// operations it tells what the first one will find.
    ///
    /// - Parameters:
    ///   - address: the room's address.
    ///   - connection: a connection that `connect` was called on.
    /// - Throws: as ``RoomDirectory/rooms()``.
    public init(of address: RoomAddress, over connection: NATSConnection) async throws(RoomDirectoryError) {
        let joined = try await JoinReply(of: address, JoinRequest(part: .settings), over: connection)
        try self.init(joined)
    }

    /// What the reply to a join says.
    /// - Throws: `.malformed` for a reply without a board.
    init(_ joined: JoinReply) throws(RoomDirectoryError) {
        guard case .board(let width, let height, _, _, _) = joined.content else { throw .malformed }
        room = joined.room
        index = joined.index
        (self.width, self.height) = (width, height)
        palette = joined.palette
        isProvisional = joined.isProvisional
        pages = joined.pages
        features = joined.features ?? []
    }
}

extension JoinReply {
    /// Joins the end of a room's log.
    /// - Throws: as ``RoomDirectory/rooms()``.
    init(
        of address: RoomAddress, _ request: JoinRequest, over connection: NATSConnection
    ) async throws(RoomDirectoryError) {
        let reply = try await connection.reply(to: request.encoded(), address.subject(.joinHead))
        guard let joined = try? JoinReply(decoding: reply) else { throw .malformed }
        self = joined
    }
}

extension NATSConnection {
    /// What the service replies to a request that is safe to send twice.
    /// - Parameter timeout: for one attempt.
    /// - Throws: as ``RoomDirectory/rooms()``; never `.malformed`.
    func reply(
        to request: [UInt8], _ subject: String, timeout: Duration = .seconds(5)
    ) async throws(RoomDirectoryError) -> [UInt8] {
        let reply: [UInt8]
        do throws(NATSError) {
            reply = try await requestParts(request, to: subject, timeout: timeout, repeatingFor: Self.stallLimit)
                .payload
        } catch {
            throw RoomDirectoryError(error)
        }
        if let refusal = RequestError(decoding: reply) { throw .refused(refusal.message) }
        return reply
    }
}
