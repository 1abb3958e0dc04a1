public import StrokeWire
public import Whiteboard

/// An update of a stroke being drawn, as it came.
public struct IncomingWetUpdate: Sendable {
    public let room: RoomID
    public let partition: Int
    public let author: AuthorID
    /// The `Ink-Session` header.
    public let session: String?
    public let bytes: [UInt8]

    public init(room: RoomID, partition: Int, author: AuthorID, session: String?, bytes: [UInt8]) {
        self.room = room
        self.partition = partition
        self.author = author
        self.session = session
        self.bytes = bytes
    }
}

extension RoomHost {
    /// An update of a stroke being drawn. It brings no room into memory, except one that is stored where there is a free
    /// place: the next update comes soon.
    public func draw(_ update: IncomingWetUpdate, at now: Instant) {
        guard partitions[update.partition]?.phase == .live else { return }
        guard let hosted = rooms[update.room], hosted.room != nil else {
            if rooms[update.room] == nil, stored[update.room] != nil, hasFreePlace { load(update.room, at: now) }
            return
        }
        touch(hosted, at: now)
        hosted.room?.receive(
            wetUpdate: update.bytes, of: update.author, session: update.session,
            spare: configuration.wetBytes - wetBytes, at: now, into: &effects)
        settle(hosted, at: now)
    }

    /// Notes how much a room keeps.
    func countWetBytes(of hosted: HostedRoom) {
        let bytes = hosted.withRoom { $0.wetBytes } ?? 0
        wetBytes += bytes - hosted.wetBytes
        hosted.wetBytes = bytes
    }
}
