import Foundation
import Hosting
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

extension Announcement {
    private struct Body: Codable {
        var v: Int? = 1
        var id: String
        var serving: [Int]
        var leaving, joining: Bool?
        var partitions: Int?
        var journal: String?
    }

    /// `{"id":"a","joining":false,"journal":"jetstream","leaving":false,"partitions":1,"serving":[0],"v":1}`
    func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Numbers, booleans and strings always encode.
        let body = Body(
            id: member, serving: serving.sorted(), leaving: isLeaving, joining: isJoining,
            partitions: settings.partitions, journal: settings.journal)
        return (try? encoder.encode(body)).map(Array.init) ?? []
    }

    /// Bytes of a name, and of an announcement.
    private static let limits = (name: 64, bytes: 64 << 10)

    /// nil if the bytes are not an announcement, or too many: those of all daemons are kept.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count <= Self.limits.bytes,
            let body = try? JSONDecoder().decode(Body.self, from: Data(bytes)),
            1...Self.limits.name ~= body.id.utf8.count
        else { return nil }
        self.init(
            member: body.id, serving: Set(body.serving), isLeaving: body.leaving ?? false,
            isJoining: body.joining ?? false,
            settings: CommonSettings(partitions: body.partitions, journal: body.journal))
    }
}
