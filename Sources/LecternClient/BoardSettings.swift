public import NATSClient
public import StrokeWire

/// What a program that draws into a room has to know of its board.
public struct BoardSettings: Sendable, Equatable {
    /// Width of the board in board units.
    public let width: Double
    /// Height of the board in board units.
    public let height: Double
    /// The colours that messages refer to by index.
    public let palette: Palette

    /// Asks the service by a join of the end of the log, which needs no other right than a teacher's. For a room without
    /// operations it tells what the first one will find.
    ///
    /// - Parameters:
    ///   - address: the room's address.
    ///   - connection: a connection that `connect` was called on.
    /// - Throws: as ``RoomDirectory/rooms()``.
    public init(of address: RoomAddress, over connection: NATSConnection) async throws(RoomDirectoryError) {
        let reply: NATSReply
        do throws(NATSError) {
            reply = try await connection.requestParts(JoinRequest().encoded(), to: address.subject(.joinHead))
        } catch {
            throw error == .noResponders || error == .timeout ? .noReply : .nats(error)
        }
        if let refusal = RequestError(decoding: reply.payload) { throw .refused(refusal.message) }
        guard let joined = try? JoinReply(decoding: reply.payload),
            case .board(let width, let height, _, _, _) = joined.content
        else { throw .malformed }
        self.width = width
        self.height = height
        palette = joined.palette
    }
}
