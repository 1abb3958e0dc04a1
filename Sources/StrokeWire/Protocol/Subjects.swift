/// A name that is one token of a subject: 1 … 64 characters of `a`–`z`, `0`–`9`, `_` and `-`.
public protocol SubjectToken: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name.
    var text: String { get }
    /// - Returns: nil for any other text.
    init?(_ text: some StringProtocol)
}

extension SubjectToken {
    public var description: String { text }

    public static func < (a: Self, b: Self) -> Bool { a.text < b.text }

    fileprivate static func isToken(_ text: some StringProtocol) -> Bool {
        var count = 0
        for byte in text.utf8 {
            count += 1
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                if count > 64 { return false }
            default:
                return false
            }
        }
        return count > 0
    }
}

/// The name of a room.
public struct RoomID: SubjectToken {
    public let text: String

    public init?(_ text: some StringProtocol) {
        guard Self.isToken(text) else { return nil }
        self.text = String(text)
    }
}

/// The name of an author: the last token of the subject of the author's messages.
public struct AuthorID: SubjectToken {
    public let text: String

    public init?(_ text: some StringProtocol) {
        guard Self.isToken(text) else { return nil }
        self.text = String(text)
    }
}

/// The name of a cohort: the students of a room who get its video by one delivery path.
public struct CohortName: SubjectToken {
    public let text: String

    /// The cohort that every room has.
    public static let main = CohortName(unchecked: "main")

    /// - Returns: nil for a text that is no name, for `open` and `default`, which the configuration reserves, and for
    ///   `head`, which is the end of the log.
    public init?(_ text: some StringProtocol) {
        guard Self.isToken(text), text != "open", text != "default", text != "head" else { return nil }
        self.text = String(text)
    }

    private init(unchecked text: String) { self.text = text }
}

/// `<root>.<partition>.<room>`: the prefix of all subjects of a room.
public struct RoomAddress: Hashable, Sendable {
    /// One or more subject tokens, `ink` by default.
    public let root: String
    /// The room's partition, from 0.
    public let partition: Int
    public let room: RoomID

    /// The address of a room among `partitions` partitions; less than 1 counts as 1.
    public init(root: String, room: RoomID, partitions: Int) {
        self.init(root: root, partition: Self.partition(of: room, among: partitions), room: room)
    }

    /// An address with the given partition; it is not checked against the room.
    public init(root: String, partition: Int, room: RoomID) {
        (self.root, self.partition, self.room) = (root, partition, room)
    }

    /// The partition of a room: FNV-1a (32 bit) of its name, modulo the number of partitions.
    public static func partition(of room: RoomID, among partitions: Int) -> Int {
        Int(FNV1a32.hash(room.text.utf8) % UInt32(clamping: max(1, partitions)))
    }
}

extension RoomAddress: CustomStringConvertible {
    /// As it stands in a subject, such as `ink.0.lesson-7`.
    public var description: String { "\(root).\(partition).\(room)" }
}

/// Purpose of a subject of a room.
public enum RoomSubject: Hashable, Sendable {
    /// Stroke messages of an author.
    case input(AuthorID)
    case feedback(AuthorID)
    /// Samples of a cohort's video clock.
    case clock(CohortName)
    /// Operations released to a cohort.
    case out(CohortName)
    /// Marks: the position of a cohort.
    case mark(CohortName)
    /// Marks of the end of the log: what checkpoints hold of an author. No wildcard over cohorts matches this subject.
    case markHead
    /// All operations as soon as they are applied.
    case head
    /// Requests to catch up with a cohort.
    case join(CohortName)
    /// Requests for a picture of a cohort's board.
    case image(CohortName)
    /// Requests to catch up with the end of the log, for those who follow ``head``. No wildcard over cohorts matches
    /// this subject.
    case joinHead
    /// Requests for a picture of the board at the end of the log.
    case imageHead
    /// Requests for a part of the lesson as released to a cohort, with its times.
    case replay(CohortName)
    /// The same up to the end of the log.
    case replayHead
    /// Requests for a picture of a page of an asset that was released to a cohort.
    case asset(CohortName)
    /// The same up to the end of the log, and of what was uploaded to the room.
    case assetHead
    /// Requests to bring an asset.
    case assetInput
    /// Updates of strokes that an author is drawing.
    case wetInput(AuthorID)
    /// Points of strokes being drawn, as far as a cohort's video has come.
    case wet(CohortName)
    /// Points of strokes being drawn, as soon as they come.
    case wetHead
    /// Decisions that every replica shares.
    case control
    /// Requests for the state of the room.
    case info
}

extension RoomSubject: CustomStringConvertible {
    /// What follows the room's address and a full stop.
    public var description: String {
        switch self {
        case .input(let author): "in.\(author)"
        case .feedback(let author): "feedback.\(author)"
        case .clock(let cohort): "clock.\(cohort)"
        case .out(let cohort): "out.\(cohort)"
        case .mark(let cohort): "mark.\(cohort)"
        case .markHead: "mark-head"
        case .head: "head"
        case .join(let cohort): "join.\(cohort)"
        case .image(let cohort): "image.\(cohort)"
        case .joinHead: "join-head"
        case .imageHead: "image-head"
        case .replay(let cohort): "replay.\(cohort)"
        case .replayHead: "replay-head"
        case .asset(let cohort): "asset.\(cohort)"
        case .assetHead: "asset-head"
        case .assetInput: "asset-in"
        case .wetInput(let author): "wet-in.\(author)"
        case .wet(let cohort): "wet.\(cohort)"
        case .wetHead: "wet-head"
        case .control: "ctl"
        case .info: "info"
        }
    }
}

/// The operations of a room that a client follows.
public enum RoomFeed: Sendable, Hashable {
    /// The operations released to a cohort, in step with its video.
    case cohort(CohortName)
    /// All operations as soon as they are applied, for teachers and monitors. The head has marks when a checkpoint was stored,
    /// so the loss of the last operation is noticed with that or with the next one.
    case head

    package var operations: RoomSubject { subject(RoomSubject.out, .head) }
    package var join: RoomSubject { subject(RoomSubject.join, .joinHead) }
    package var marks: RoomSubject { subject(RoomSubject.mark, .markHead) }
    package var wet: RoomSubject { subject(RoomSubject.wet, .wetHead) }
    package var image: RoomSubject { subject(RoomSubject.image, .imageHead) }
    package var replay: RoomSubject { subject(RoomSubject.replay, .replayHead) }
    package var asset: RoomSubject { subject(RoomSubject.asset, .assetHead) }

    private func subject(_ ofCohort: (CohortName) -> RoomSubject, _ ofHead: RoomSubject) -> RoomSubject {
        if case .cohort(let cohort) = self { ofCohort(cohort) } else { ofHead }
    }
}

extension RoomAddress {
    /// The full subject, such as `ink.0.lesson-7.in.teacher`.
    public func subject(_ subject: RoomSubject) -> String { "\(self).\(subject)" }
}

/// The subject of an incoming message, parsed.
public struct InboundSubject: Hashable, Sendable {
    public let address: RoomAddress
    public let kind: RoomSubject

    /// - Parameters:
    ///   - subject: as received, such as `ink.0.lesson-7.in.teacher`.
    ///   - root: its first tokens, without the full stop that follows.
    /// - Returns: nil for anything that is not a subject of a room under `root`. The partition is not checked against
    ///   the room.
    public init?(_ subject: String, root: String) {
        let text = subject.utf8
        guard text.starts(with: root.utf8) else { return nil }
        // The first part is the empty text before the full stop after the root.
        let parts = text.dropFirst(root.utf8.count).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 || parts.count == 5, parts[0].isEmpty,
            let partition = Self.partition(parts[1]),
            let room = RoomID(Substring(parts[2])),
            let kind = RoomSubject(verb: Substring(parts[3]), name: parts.count == 5 ? Substring(parts[4]) : nil)
        else { return nil }
        address = RoomAddress(root: root, partition: partition, room: room)
        self.kind = kind
    }

    /// Digits without a leading zero, as the service itself writes them.
    static func partition(_ digits: Substring.UTF8View) -> Int? {
        guard (1...9).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}

/// Parses subjects, and keeps those that it has parsed: most messages come on a subject that has come before.
///
/// A table of fixed size: a subject takes the place of another one with the same hash.
public struct InboundSubjectCache: Sendable {
    private struct Entry {
        let bytes: [UInt8]
        let subject: InboundSubject
    }

    private let root: String
    private var entries: [Entry?]

    /// - Parameters:
    ///   - root: as in ``InboundSubject/init(_:root:)``.
    ///   - size: subjects that are kept at most, of up to 400 bytes each; a power of two.
    public init(root: String, size: Int = 16_384) {
        precondition(size > 0 && size & (size - 1) == 0, "a power of two")
        self.root = root
        entries = Array(repeating: nil, count: size)
    }

    /// - Returns: nil for what ``InboundSubject/init(_:root:)`` does not take; that is not kept.
    public mutating func subject(_ bytes: UnsafeRawBufferPointer) -> InboundSubject? {
        let place = Int(truncatingIfNeeded: FNV1a64.mixed(bytes)) & (entries.count - 1)
        if let entry = entries[place], entry.bytes.elementsEqual(bytes) { return entry.subject }
        guard let subject = InboundSubject(String(decoding: bytes, as: UTF8.self), root: root) else { return nil }
        entries[place] = Entry(bytes: Array(bytes), subject: subject)
        return subject
    }
}

extension RoomSubject {
    /// The purpose of `<verb>` or `<verb>.<name>` after a room's address; nil if there is none.
    fileprivate init?(verb: Substring, name: Substring?) {
        func author(_ make: (AuthorID) -> RoomSubject) -> RoomSubject? { name.flatMap { AuthorID($0) }.map(make) }
        func cohort(_ make: (CohortName) -> RoomSubject) -> RoomSubject? { name.flatMap { CohortName($0) }.map(make) }
        func bare(_ subject: RoomSubject) -> RoomSubject? { name == nil ? subject : nil }
        let subject: RoomSubject? =
            switch verb {
            case "in": author(RoomSubject.input)
            case "feedback": author(RoomSubject.feedback)
            case "clock": cohort(RoomSubject.clock)
            case "out": cohort(RoomSubject.out)
            case "mark": cohort(RoomSubject.mark)
            case "mark-head": bare(.markHead)
            case "join": cohort(RoomSubject.join)
            case "image": cohort(RoomSubject.image)
            case "head": bare(.head)
            case "join-head": bare(.joinHead)
            case "image-head": bare(.imageHead)
            case "replay": cohort(RoomSubject.replay)
            case "replay-head": bare(.replayHead)
            case "asset": cohort(RoomSubject.asset)
            case "asset-head": bare(.assetHead)
            case "asset-in": bare(.assetInput)
            case "wet-in": author(RoomSubject.wetInput)
            case "wet": cohort(RoomSubject.wet)
            case "wet-head": bare(.wetHead)
            case "ctl": bare(.control)
            case "info": bare(.info)
            default: nil
            }
        guard let subject else { return nil }
        self = subject
    }
}

/// Headers of the protocol.
public enum HeaderName {
    /// Index of the operation in the room, from 1, without holes; of a picture, that of the last operation it shows.
    public static let index = "Ink-Index"
    /// Incarnation of the room; on a new value, forget everything and join again.
    public static let room = "Ink-Room"
    /// Author of the operation.
    public static let author = "Ink-Author"
    /// Of an undo or redo: the index of the stroke, or of the undoable clear, that leaves or returns.
    public static let ref = "Ink-Ref"
    /// The page that the operation concerns; of an arrange the one shown after it.
    public static let page = "Ink-Page"
    /// ``BoardDigest`` of the strokes that are visible after the operation.
    public static let digest = "Ink-Digest"
    /// `1` if a policy, not the clock, released the operation, or if the stroke itself came late.
    public static let late = "Ink-Late"
    /// Of a picture: identifies its bytes; see ``ImageRequest/unless``.
    public static let tag = "Ink-Tag"
    /// `1` for a picture with an image that is missing, or may be: it may look otherwise when asked for again.
    public static let incomplete = "Ink-Incomplete"
    /// `i/k`, from 1: a part of a reply that is cut into several messages.
    public static let part = "Ink-Part"
    /// `1` for a sign of life of a command that takes long, before its reply; see ``CommandProgress``.
    public static let progress = "Ink-Progress"
    /// Of a stroke message: the session, whose sequence its number belongs to.
    public static let session = "Ink-Session"
    /// Of a stroke message: JetStream drops a repeat with the same value.
    public static let msgID = "Nats-Msg-Id"

    /// A valid value of ``session``: 1 to 64 visible ASCII characters. Anything else counts as none.
    public static func validSession(_ value: String?) -> String? {
        guard let value, 1...64 ~= value.utf8.count, value.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { return nil }
        return value
    }
}
