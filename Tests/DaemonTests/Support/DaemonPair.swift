import Foundation
import Locking
import NATSClient
import NATSTestServer
import TestSupport

/// Two daemons that share the partitions.
final class DaemonPair: Sendable {
    let monitor: MemberMonitor
    private let url: String
    private let settings: [String]
    private let state: Locked<[DaemonProcess]>

    convenience init(_ url: String, _ lesson: Lesson, _ settings: [String] = []) throws {
        try self.init(url, lesson.connection, settings)
    }

    init(_ url: String, _ connection: NATSConnection, _ settings: [String] = []) throws {
        self.url = url
        self.settings = settings
        monitor = try MemberMonitor(connection)
        state = Locked(try ["a", "b"].map { try DaemonProcess($0, nats: url, settings) })
    }

    var daemons: [DaemonProcess] { state.withLock { $0 } }

    /// The daemon that serves partition 0, once both are running and just one serves it.
    func owner() async throws -> DaemonProcess {
        let name = try await monitor.owner(among: 2)
        guard let daemon = daemons.first(where: { $0.name == name }) else { throw Unexpected("no daemon \(name)") }
        return daemon
    }

    func other(than daemon: DaemonProcess) -> DaemonProcess {
        daemons.first { $0.name != daemon.name } ?? daemon
    }

    /// Starts a daemon that has ended again.
    func replace(_ daemon: DaemonProcess) throws {
        let fresh = try DaemonProcess(daemon.name, nats: url, settings)
        state.withLock { $0 = $0.map { $0.name == daemon.name ? fresh : $0 } }
    }
}

/// The running daemons and the partitions they serve, from their announcements every second.
final class MemberMonitor: Sendable {
    private struct Announcement: Decodable {
        let id: String
        let serving: [Int]
        let leaving: Bool?
    }

    private struct Entry {
        let serving: Set<Int>
        let at: ContinuousClock.Instant
    }

    private let members = Locked<[String: Entry]>([:])
    private let subscription: NATSSubscription

    init(_ connection: NATSConnection) throws {
        subscription = try connection.subscribe("ink.members.*") { [members] message in
            guard let message = try? JSONDecoder().decode(Announcement.self, from: Data(message.copyPayload())) else {
                return
            }
            members.withLock { $0[message.id] = Entry(serving: Set(message.serving), at: .now) }
        }
    }

    deinit { subscription.unsubscribe() }

    /// The daemons that announced within two seconds that they serve the partition.
    func servers(of partition: Int = 0) -> Set<String> {
        members.withLock { members in
            Set(members.filter { $1.at.duration(to: .now) < .seconds(2) && $1.serving.contains(partition) }.keys)
        }
    }

    /// The daemon that serves a partition, once `count` daemons are running and just one serves it.
    func owner(among count: Int, of partition: Int = 0) async throws -> String {
        try await eventually("one of \(count) daemons serves partition \(partition)") {
            let present = members.withLock { $0.values.count { $0.at.duration(to: .now) < .seconds(2) } }
            let servers = servers(of: partition)
            return present == count && servers.count == 1 ? servers.first : nil
        }
    }
}
