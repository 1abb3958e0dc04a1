import Foundation
public import Hosting
import NATSClient

/// The messages between the daemons of one root, on `<root>.members.<name>`.
struct MemberChannel: Sendable {
    let root: String
    let connection: NATSConnection
    /// Identifies this process: another one may have been given the same name.
    private let run = String(UInt64.random(in: .min ... .max), radix: 36)

    /// The header that carries ``run``.
    private static let runHeader = "Ink-Run"

    init(root: String, connection: NATSConnection) {
        self.root = root
        self.connection = connection
    }

    /// Subscribes to the messages of other processes. Not on the delivery thread of requests and bulk reads: a daemon that
    /// does not hear the others for 3 s takes over their partitions.
    /// - Parameter handler: called on the thread that reads the connection's socket; must not block.
    func listen(_ handler: @escaping @Sendable (PeerMessage) -> Void) throws(NATSError) -> NATSSubscription {
        try connection.subscribe("\(root).members.*", on: .connection) { [run] message in
            let origin = message.header(Self.runHeader)
            guard origin != run, let announcement = Announcement(decoding: message.copyPayload()) else { return }
            handler(PeerMessage(announcement: announcement, isForeign: origin != nil))
        }
    }

    /// - Returns: whether it was sent; false without a connection.
    @discardableResult
    func announce(_ announcement: Announcement) -> Bool {
        do {
            try connection.publish(
                announcement.encoded(), to: "\(root).members.\(announcement.member)", headers: [Self.runHeader: run])
            return true
        } catch {
            return false
        }
    }
}

/// An announcement received from another process.
struct PeerMessage: Sendable {
    let announcement: Announcement
    /// Whether its process is known to be another: old daemons do not send the header.
    let isForeign: Bool
}

extension Announcement: Codable {
    private enum CodingKeys: String, CodingKey {
        case version = "v"
        case member = "id"
        case serving
        case isLeaving = "leaving"
        case isJoining = "joining"
        case partitions
        case journal
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            member: try container.decode(String.self, forKey: .member),
            serving: Set(try container.decode([Int].self, forKey: .serving)),
            isLeaving: try container.decodeIfPresent(Bool.self, forKey: .isLeaving) ?? false,
            isJoining: try container.decodeIfPresent(Bool.self, forKey: .isJoining) ?? false,
            settings: CommonSettings(
                partitions: try container.decodeIfPresent(Int.self, forKey: .partitions),
                journal: try container.decodeIfPresent(String.self, forKey: .journal)))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(1, forKey: .version)
        try container.encode(member, forKey: .member)
        try container.encode(serving.sorted(), forKey: .serving)
        try container.encode(isLeaving, forKey: .isLeaving)
        try container.encode(isJoining, forKey: .isJoining)
        try container.encodeIfPresent(settings.partitions, forKey: .partitions)
        try container.encodeIfPresent(settings.journal, forKey: .journal)
    }

    /// `{"id":"a","joining":false,"journal":"jetstream","leaving":false,"partitions":1,"serving":[0],"v":1}`
    func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Numbers, booleans and strings always encode.
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// Bytes of a name, and of an announcement.
    private static let limits = (name: 64, bytes: 64 << 10)

    /// nil if the bytes are not an announcement, or too many: those of all daemons are kept.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count <= Self.limits.bytes,
            let announcement = try? JSONDecoder().decode(Announcement.self, from: Data(bytes)),
            1...Self.limits.name ~= announcement.member.utf8.count
        else { return nil }
        self = announcement
    }
}
