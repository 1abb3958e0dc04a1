/// A decision of a room's owner that every replica has to share. It takes effect at its place in the room's log.
public enum ControlRecord: Sendable, Hashable {
    /// Operations `from` … `to` of an author, both included, are no longer waited for. Holds only in the named incarnation
    /// of the room; without one, as older releases wrote it, in the one that it meets.
    case gaveUp(author: AuthorID, from: Int64, to: Int64, incarnation: String?)
    /// A new session of the video encoder, with its number.
    case epoch(Int64)
    /// The time line of an author's strokes begins anew, and the delayed video will follow: operations from the one with
    /// this index on wait for the session that the encoder begins then, which they belong to. `age` is that of the room's
    /// slowest clock, in microseconds.
    case provisionalEpoch(from: UInt64, age: Int64)
    /// The video has not followed: the operations from that one on belong to the session before.
    case provisionalEpochOver(from: UInt64)
    /// The room's incarnation ends; the next message begins another.
    case close
    /// As many rooms are stored as may be: the incarnation of this one ends if it began with a record of the journal at or
    /// before `through`, and what came in it is rejected with `room-full`.
    case full(through: UInt64)
    /// From here on what the author sends is rejected with `muted`, and what waits of it too; what it has drawn stays.
    /// Holds until ``unmute(_:)`` and the end of the incarnation. Beyond ``mutedLimit`` authors it changes nothing.
    case mute(AuthorID)
    /// What the author sends is taken again.
    case unmute(AuthorID)
    /// The room's incarnation ends as with ``close``, and what stands before this record in the journal is deleted.
    case erase
    /// The log had lost its end, and the room goes on in a new incarnation from what was known of it.
    case restore(RoomRestoration)

    /// Muted authors of a room at most.
    public static let mutedLimit = 256
}

/// The decision that restores a room after its log has lost its end. The room continues from the state that a message of the
/// checkpoint stream names, and from its records between `after` and the decision.
public struct RoomRestoration: Sendable, Hashable {
    /// The sequence of that message in the checkpoint stream of the partition.
    public var checkpoint: UInt64
    /// The log is known to be what it was up to this record. Of those after it the state lacks the ones that were logged
    /// later than all that it holds.
    public var after: UInt64
    /// How often the room was restored, this time included. A decision with no higher number than the room has changes
    /// nothing.
    public var number: UInt32

    /// The greatest number that is accepted: there is always one more.
    public static let greatestNumber = UInt32.max - 1

    public init(checkpoint: UInt64, after: UInt64, number: UInt32) {
        (self.checkpoint, self.after, self.number) = (checkpoint, after, number)
    }
}

extension ControlRecord {
    /// Writes the body of a message on `.ctl`, in version 1.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("v", integer: 1)
            body.append("kind", string: kind)
            switch self {
            case .gaveUp(let author, let from, let to, let incarnation):
                body.append("author", string: author.text)
                body.append("from", integer: from)
                body.append("to", integer: to)
                body.append("room", string: incarnation)
            case .epoch(let epoch): body.append("ep", integer: epoch)
            case .provisionalEpoch(let first, let age):
                body.append("from", integer: Int64(clamping: first))
                body.append("age", time: MediaTime(microseconds: age))
            case .provisionalEpochOver(let first): body.append("from", integer: Int64(clamping: first))
            case .close: break
            case .full(let through):
                // A reader that does not know the code takes it for an end, and has the same room as the others.
                body.append("code", string: RejectionCode.roomFull.rawValue)
                body.append("through", integer: Int64(clamping: through))
            case .mute(let author), .unmute(let author): body.append("author", string: author.text)
            case .erase: body.append("code", string: "erased")
            case .restore(let restoration):
                body.append("checkpoint", integer: Int64(clamping: restoration.checkpoint))
                body.append("after", integer: Int64(clamping: restoration.after))
                body.append("number", integer: restoration.number)
            }
        }
    }

    private var kind: String {
        switch self {
        case .gaveUp: "gave-up"
        case .epoch: "epoch"
        case .provisionalEpoch: "provisional-epoch"
        case .provisionalEpochOver: "provisional-epoch-over"
        case .close, .full, .erase: "close"
        case .mute: "mute"
        case .unmute: "unmute"
        case .restore: "restore"
        }
    }

    private static let keys = [
        "v", "kind", "author", "from", "to", "room", "ep", "code", "through", "checkpoint", "after", "number",
        "age",
    ]

    /// Reads a record from a room's log.
    /// - Throws: the first fault; another version than 1 is `out-of-range` at `v`.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: Self.keys)
        _ = try body.requiredInteger("v", in: 1...1)
        let safe = Int64.maxSafeInteger
        switch try body.requiredString("kind", limit: 64) {
        case "gave-up":
            let author = try body.author()
            let from = try body.requiredInteger("from", in: 0...safe)
            self = .gaveUp(
                author: author, from: from, to: try body.requiredInteger("to", in: from...safe),
                incarnation: try body.string("room", limit: 256))
        case "epoch":
            self = .epoch(try body.requiredInteger("ep", in: 0...safe))
        case "provisional-epoch":
            let from = UInt64(try body.requiredInteger("from", in: 1...safe))
            let greatest = Double(ClockSample.greatestAge) / 1000
            let age = try body.number("age", in: 0...greatest).required("age")
            self = .provisionalEpoch(from: from, age: Int64((age * 1000).rounded()))
        case "provisional-epoch-over":
            self = .provisionalEpochOver(from: UInt64(try body.requiredInteger("from", in: 1...safe)))
        case "close":
            switch try body.string("code", limit: 64) {
            case RejectionCode.roomFull.rawValue:
                self = .full(through: UInt64(try body.requiredInteger("through", in: 0...safe)))
            case "erased": self = .erase
            default: self = .close
            }
        case "mute": self = .mute(try body.author())
        case "unmute": self = .unmute(try body.author())
        case "restore":
            self = .restore(
                RoomRestoration(
                    checkpoint: UInt64(try body.requiredInteger("checkpoint", in: 1...safe)),
                    after: UInt64(try body.requiredInteger("after", in: 0...safe)),
                    number: UInt32(try body.requiredInteger("number", in: 1...Int64(RoomRestoration.greatestNumber)))))
        default:
            throw .outOfRange(
                "kind",
                "gave-up, epoch, provisional-epoch, provisional-epoch-over, close, mute, unmute or restore")
        }
    }
}
