import Hosting
import NATSClient
import Whiteboard

/// Lets a daemon begin only beside daemons whose settings go with its own.
///
/// Of two that start within that moment at least one refuses: the one that asked first hears the other ask.
struct Admission: Sendable {
    let configuration: ServerConfiguration
    let members: MemberChannel

    /// The others, as they were heard.
    struct Others: Sendable {
        /// The last word of each, in the order of their names.
        let words: [MemberChannel.Word]
        /// When this daemon began to listen.
        let since: Instant
    }

    /// Asks who is there, as soon as there is a connection, and listens for a moment.
    /// - Returns: the others; nil where the task was cancelled first.
    /// - Throws: `SettingsConflict`.
    func ask() async throws -> Others? {
        let heard = Locked<[String: MemberChannel.Word]>([:])
        let subscription = try members.listen { word in
            heard.withLock { heard in
                let name = word.announcement.member
                if heard[name] != nil || heard.count < Self.bound { heard[name] = word }
            }
        }
        defer { subscription.unsubscribe() }
        let question = Announcement(
            member: configuration.name, serving: [], isLeaving: false, isJoining: true,
            settings: configuration.commonSettings)
        var since: Instant
        repeat {
            await waitForConnection()
            since = MonotonicClock.now()
            members.announce(question)
            try? await Task.sleep(for: Membership.grace)
            guard !Task.isCancelled else { return nil }
            // A connection that was lost meanwhile may have taken the answers with it.
        } while members.connection.state != .connected
        let words = heard.withLock { $0.values.sorted { $0.announcement.member < $1.announcement.member } }
        for other in words.map(\.announcement) {
            let conflicts = configuration.commonSettings.conflicts(with: other.settings)
            guard conflicts.isEmpty else {
                throw SettingsConflict(root: configuration.root, member: other.member, conflicts: conflicts)
            }
        }
        return Others(words: words, since: since)
    }

    /// Daemons that are looked at; beyond, they are passed over.
    private static let bound = 1024

    private func waitForConnection() async {
        let (states, inlet) = AsyncStream.makeStream(of: ConnectionState.self, bufferingPolicy: .bufferingNewest(1))
        let observation = members.connection.onStateChange { inlet.yield($0) }
        defer { observation.cancel() }
        guard members.connection.state != .connected else { return }
        for await state in states where state == .connected { return }
    }
}
