import Hosting
import NATSClient
import Whiteboard

/// Says that a daemon without a journal is there, which shares its rooms with no other.
struct LonePresence: Sendable {
    let configuration: ServerConfiguration
    let members: MemberChannel
    let strangers: StrangerLog

    /// Runs until the task is cancelled.
    func run() async {
        let (words, inlet) = AsyncStream.makeStream(
            of: MemberChannel.Word.self, bufferingPolicy: .bufferingNewest(Self.bound))
        guard let subscription = try? members.listen({ inlet.yield($0) }) else { return }
        defer { subscription.unsubscribe() }
        let rhythm = Task {
            while !Task.isCancelled {
                announce()
                try? await Task.sleep(for: Membership.announceInterval)
            }
        }
        defer { rhythm.cancel() }
        var known = Strangers()
        for await word in words {
            if word.announcement.isJoining { announce() }
            let conflicts = configuration.commonSettings.conflicts(with: word.announcement.settings)
            guard !conflicts.isEmpty, known.note(word.announcement.member, at: MonotonicClock.now()) else { continue }
            strangers.tell(of: word.announcement.member, conflicts)
        }
    }

    /// Words that wait; beyond, the oldest are dropped: they are said again within a second.
    private static let bound = 1024

    /// Nobody must wait for it to take a partition over.
    private func announce() {
        members.announce(
            Announcement(
                member: configuration.name, serving: [], isLeaving: true, settings: configuration.commonSettings))
    }
}
