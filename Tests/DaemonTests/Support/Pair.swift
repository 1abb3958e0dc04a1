import NATSClient
import NATSTestServer
import TestSupport

/// Two daemons that share the partitions.
final class Pair: Sendable {
    let roster: Roster
    private let url: String
    private let settings: [String]
    private let state: Locked<[DaemonProcess]>

    init(_ url: String, _ lesson: Lesson, _ settings: [String] = []) throws {
        self.url = url
        self.settings = settings
        roster = try Roster(lesson.connection)
        state = Locked(try ["a", "b"].map { try DaemonProcess($0, nats: url, settings) })
    }

    var daemons: [DaemonProcess] { state.withLock { $0 } }

    /// The one that serves partition 0, once both are there and just one does.
    func owner() async throws -> DaemonProcess {
        let name = try await roster.owner(among: 2)
        guard let daemon = daemons.first(where: { $0.name == name }) else { throw Unexpected("no daemon \(name)") }
        return daemon
    }

    func other(than daemon: DaemonProcess) -> DaemonProcess {
        daemons.first { $0.name != daemon.name } ?? daemon
    }

    /// Starts one that has ended anew.
    func replace(_ daemon: DaemonProcess) throws {
        let fresh = try DaemonProcess(daemon.name, nats: url, settings)
        state.withLock { $0 = $0.map { $0.name == daemon.name ? fresh : $0 } }
    }
}
