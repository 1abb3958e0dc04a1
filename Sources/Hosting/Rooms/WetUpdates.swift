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
    /// An update of a stroke being drawn. It brings its room into memory where there is a free place, also one that nobody
    /// has written to yet, and waits until the room is there.
    public func draw(_ update: IncomingWetUpdate, at now: Instant) {
        guard let phase = partitions[update.partition]?.phase, phase != .closing else { return }
        guard phase == .live else { return output.count(.noRoom) }
        guard let hosted = rooms[update.room] else {
            guard hasFreePlace else { return output.count(.noRoom) }
            load(update.room, drawing: update, at: now)
            return
        }
        guard hosted.room != nil else { return keep(update, for: hosted) }
        guard !hosted.isLeaving, hosted.hasPlace || takeFreePlace(hosted) else { return output.count(.noRoom) }
        touch(hosted, at: now)
        receive(update, of: hosted, at: now)
        settle(hosted, at: now)
    }

    /// A room without a place may be there for an answer that is not confirmed, or because it is one too many.
    private func takeFreePlace(_ hosted: HostedRoom) -> Bool {
        guard hasFreePlace, !hosted.isOverLimit, !hosted.hasState else { return false }
        takePlace(hosted)
        return true
    }

    private func receive(_ update: IncomingWetUpdate, of hosted: HostedRoom, at now: Instant) {
        hosted.room?.receive(
            wetUpdate: update.bytes, of: update.author, session: update.session,
            spare: configuration.wetBytes - wetBytes, at: now, into: &effects)
    }

    /// Bytes of updates that wait for a room that is not there yet: a second of a pen's.
    private static var keptBytes: Int { 16 << 10 }

    /// Keeps an update until its room is there: those that follow join on to it.
    func keep(_ update: IncomingWetUpdate, for hosted: HostedRoom) {
        let bytes = update.keptBytes
        guard hosted.wetBytes + bytes <= Self.keptBytes, wetBytes + bytes <= configuration.wetBytes else {
            return output.count(.noRoom)
        }
        hosted.wetUpdates.append(update)
        hosted.wetBytes += bytes
        wetBytes += bytes
    }

    /// A room is there: takes the updates that have come before it.
    func takeWetUpdates(of hosted: HostedRoom, at now: Instant) {
        guard !hosted.wetUpdates.isEmpty else { return }
        let updates = hosted.wetUpdates
        hosted.wetUpdates = []
        for update in updates {
            receive(update, of: hosted, at: now)
            perform(in: hosted, at: now)
        }
        countWetBytes(of: hosted)
    }

    /// Notes how much a room keeps.
    func countWetBytes(of hosted: HostedRoom) {
        guard hosted.room != nil else { return }
        let bytes = hosted.withRoom { $0.wetBytes } ?? 0
        wetBytes += bytes - hosted.wetBytes
        hosted.wetBytes = bytes
    }
}

extension IncomingWetUpdate {
    fileprivate var keptBytes: Int { bytes.count + 256 }
}
