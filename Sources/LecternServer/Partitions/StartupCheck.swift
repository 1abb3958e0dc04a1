public import Hosting
import Locking
import Logging
import Metrics
import NATSClient
import Whiteboard

/// Checks at startup that the settings of all running daemons of the root are compatible with this daemon's.
///
/// Of two incompatible daemons that start at the same time at least one refuses: the one that announced itself first
/// hears the other.
struct StartupCheck: Sendable {
    let configuration: ServerConfiguration
    let members: MemberChannel

    /// The other daemons of the root.
    struct Peers: Sendable {
        /// The last message of each, sorted by name.
        let messages: [PeerMessage]
        /// When this daemon began to listen.
        let since: Instant
    }

    /// Announces this daemon once there is a connection, and listens for the replies of the others.
    /// - Returns: nil if the task was cancelled.
    /// - Throws: `PayloadLimitTooLow`, `SettingsConflict`.
    func run() async throws -> Peers? {
        let heard = Locked<[String: PeerMessage]>([:])
        let subscription = try members.listen { message in
            heard.withLock { heard in
                let name = message.announcement.member
                if heard[name] != nil || heard.count < Self.bound { heard[name] = message }
            }
        }
        defer { subscription.unsubscribe() }
        let joining = Announcement(
            member: configuration.name, serving: [], isLeaving: false, isJoining: true,
            settings: configuration.commonSettings)
        var since: Instant
        repeat {
            await waitForConnection()
            if let fault = PayloadLimitTooLow(members.connection, configuration) { throw fault }
            since = BootClock.now()
            members.announce(joining)
            try? await Task.sleep(for: Membership.joinDelay)
            guard !Task.isCancelled else { return nil }
            // A connection lost in between may have lost replies.
        } while members.connection.state != .connected
        let messages = heard.withLock { $0.values.sorted { $0.announcement.member < $1.announcement.member } }
        for other in messages.map(\.announcement) {
            let conflicts = configuration.commonSettings.conflicts(with: other.settings)
            guard conflicts.isEmpty else {
                throw SettingsConflict(root: configuration.root, member: other.member, conflicts: conflicts)
            }
        }
        return Peers(messages: messages, since: since)
    }

    /// Daemons checked at most.
    private static let bound = 1024

    private func waitForConnection() async {
        let (states, inlet) = AsyncStream.makeStream(of: ConnectionState.self, bufferingPolicy: .bufferingNewest(1))
        let observation = members.connection.onStateChange { inlet.yield($0) }
        defer { observation.cancel() }
        guard members.connection.state != .connected else { return }
        for await state in states where state == .connected { return }
    }
}

/// Another daemon on the root has incompatible settings: both would number the operations of the same rooms.
public struct SettingsConflict: Error, Sendable, Equatable, CustomStringConvertible {
    /// First token of all subjects.
    public let root: String
    /// The other daemon's name.
    public let member: String
    /// The settings that differ, at least one.
    public let conflicts: [CommonSettings.Conflict]

    public var description: String {
        let settings = conflicts.map { "\($0.setting) is \($0.mine) here and \($0.theirs) there" }
        return "the daemon \"\(member)\" is on the root \"\(root)\", too: \(settings.joined(separator: ", "))"
    }
}

/// The NATS server takes no messages of the size that the settings allow: some operations could not be published.
public struct PayloadLimitTooLow: Error, Sendable, Equatable, CustomStringConvertible {
    /// The server's `max_payload`, in bytes.
    public let limit: Int
    /// What it has to be at least; see ``ServerConfiguration/neededPayload``.
    public let needed: Int
    /// The `limits.message_bytes` for which the server's limit is enough; nil where none is.
    public var messageBytes: Int? {
        limit >= ServerConfiguration.leastPayload ? limit - NATSConnection.headerBytes : nil
    }

    /// Nil where the limit of a connection's server is enough, or not known.
    init?(_ connection: NATSConnection, _ configuration: ServerConfiguration) {
        (limit, needed) = (connection.maxPayload, configuration.neededPayload)
        guard connection.state == .connected, limit < needed else { return nil }
    }

    public var description: String {
        "the NATS server takes messages of at most \(limit) bytes (max_payload); the service needs \(needed)"
    }
}

/// Logs and counts daemons with incompatible settings.
struct IncompatiblePeerLog: Sendable {
    let root: String
    let metrics: ServerMetrics
    let logger: Logger

    /// Reports a daemon that was heard for the first time.
    func report(_ member: String, _ conflicts: [CommonSettings.Conflict]) {
        metrics.incompatiblePeers.increment()
        let conflict = SettingsConflict(root: root, member: member, conflicts: conflicts)
        logger.error("\(conflict); both would number the same rooms", metadata: ["member": "\(member)"])
    }
}

/// Announces a daemon without a journal, which shares its rooms with no other, and watches for incompatible daemons.
struct StandaloneHeartbeat: Sendable {
    let configuration: ServerConfiguration
    let members: MemberChannel
    let incompatiblePeers: IncompatiblePeerLog

    /// Runs until the task is cancelled.
    func run() async {
        let (messages, inlet) = AsyncStream.makeStream(
            of: PeerMessage.self, bufferingPolicy: .bufferingNewest(Self.bound))
        guard let subscription = try? members.listen({ inlet.yield($0) }) else { return }
        defer { subscription.unsubscribe() }
        let announcing = Task {
            while !Task.isCancelled {
                announce()
                try? await Task.sleep(for: Membership.announceInterval)
            }
        }
        defer { announcing.cancel() }
        var known = IncompatiblePeers()
        for await message in messages {
            if message.announcement.isJoining { announce() }
            let conflicts = configuration.commonSettings.conflicts(with: message.announcement.settings)
            guard !conflicts.isEmpty, known.note(message.announcement.member, at: BootClock.now()) else {
                continue
            }
            incompatiblePeers.report(message.announcement.member, conflicts)
        }
    }

    /// Messages that may wait; beyond, the oldest are dropped: they are repeated every second.
    private static let bound = 1024

    /// Announced as leaving: no daemon must wait for it to take over a partition.
    private func announce() {
        members.announce(
            Announcement(
                member: configuration.name, serving: [], isLeaving: true, settings: configuration.commonSettings))
    }
}
