import Hosting
import NATSClient

/// What the daemons of one root say to each other, on `<root>.members.<name>`.
struct MemberChannel: Sendable {
    let root: String
    let connection: NATSConnection
    /// Tells this process from another that was given the same name.
    private let run = String(UInt64.random(in: .min ... .max), radix: 36)

    /// The header of an announcement that says which process it comes from.
    private static let runHeader = "Ink-Run"

    init(root: String, connection: NATSConnection) {
        self.root = root
        self.connection = connection
    }

    /// An announcement as it was heard.
    struct Word: Sendable {
        let announcement: Announcement
        /// Whether it comes from another process for sure: an old daemon does not say which it is.
        let isForeign: Bool
    }

    /// Hears what any daemon says, but for what this process does.
    /// - Parameter handler: on the delivery thread; must not block.
    func listen(_ handler: @escaping @Sendable (Word) -> Void) throws(NATSError) -> NATSSubscription {
        try connection.subscribe("\(root).members.*") { [run] message in
            let origin = message.header(Self.runHeader)
            guard origin != run, let announcement = Announcement(decoding: message.copyPayload()) else { return }
            handler(Word(announcement: announcement, isForeign: origin != nil))
        }
    }

    /// - Returns: whether it was sent: while there is no connection nobody can hear it.
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
