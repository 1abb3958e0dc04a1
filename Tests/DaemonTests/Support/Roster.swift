import Foundation
import NATSClient
import NATSTestServer
import TestSupport

/// Which daemons are there and what they serve, as they tell each other every second.
final class Roster: Sendable {
    private struct Word: Decodable {
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
            guard let word = try? JSONDecoder().decode(Word.self, from: Data(message.copyPayload())) else { return }
            members.withLock { $0[word.id] = Entry(serving: Set(word.serving), at: .now) }
        }
    }

    deinit { subscription.unsubscribe() }

    /// Those who have said within two seconds that they serve the partition.
    func servers(of partition: Int = 0) -> Set<String> {
        members.withLock { members in
            Set(members.filter { $1.at.duration(to: .now) < .seconds(2) && $1.serving.contains(partition) }.keys)
        }
    }

    /// The one daemon that serves a partition, once there are so many of them and just one serves.
    func owner(among count: Int, of partition: Int = 0) async throws -> String {
        try await eventually("one of \(count) daemons serves partition \(partition)") {
            let present = members.withLock { $0.values.count { $0.at.duration(to: .now) < .seconds(2) } }
            let servers = servers(of: partition)
            return present == count && servers.count == 1 ? servers.first : nil
        }
    }
}
