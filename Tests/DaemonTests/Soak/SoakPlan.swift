import TestSupport

/// The parameters of a soak: duration, attacks, rates, and the daemon's settings.
struct SoakPlan: Sendable {
    let seed: UInt64
    /// Duration of all attacks together.
    let duration: Duration
    /// Whether it is a long run, of a release build: then its figures have strict bounds.
    let isThorough: Bool
    let attacks: [Attack]

    /// Messages a second of an attack at most. A partition's log is shared, and a client can fill it faster than it is
    /// read: the rate is one that a server in front would let through.
    let messagesPerSecond: Double
    let bytesPerSecond: Double

    /// From the environment: `LECTERN_SOAK_SECONDS` for a long run, `LECTERN_SOAK_ATTACKS` for some attacks by name.
    init(seed: UInt64) throws {
        self.seed = seed
        let seconds = EnvironmentVariable("LECTERN_SOAK_SECONDS").number
        isThorough = seconds != nil
        duration = .seconds(Int(seconds ?? 7))
        messagesPerSecond = isThorough ? 3000 : 1000
        bytesPerSecond = isThorough ? 8e6 : 2e6
        guard let names = EnvironmentVariable("LECTERN_SOAK_ATTACKS").text else {
            // These take a debug build half a minute for ten megabytes.
            attacks = isThorough ? Attack.allCases : Attack.allCases.filter { $0 != .widePoints }
            return
        }
        attacks = try names.split(separator: ",").map {
            guard let attack = Attack(rawValue: String($0)) else { throw Unexpected("no attack is called \($0)") }
            return attack
        }
    }

    // The settings that bound the daemon's memory, small enough to be reached.
    static let rooms = 16
    static let authors = 3
    static let pendingBytes = 2 << 20
    static let boardPoints = 200_000
    static let tailBytes = 1 << 20
    static let heldBytes = 2 << 20
    static let canvasBytes = 32 << 20
    static let mailboxBytes = 16 << 20
    static let replyBytes = 16 << 20
    static let workers = 2

    static let settings = [
        "limits.rooms=\(rooms)", "limits.authors=\(authors)", "limits.pending_bytes=\(pendingBytes)",
        "limits.board_points=\(boardPoints)", "limits.messages_per_second=1000", "limits.bytes_per_second=4MiB",
        "log.tail_bytes=\(tailBytes)", "log.held_bytes=\(heldBytes)", "canvas.memory=\(canvasBytes)",
        "server.mailbox_bytes=\(mailboxBytes)", "server.reply_bytes=\(replyBytes)", "server.workers=\(workers)",
        "server.replies=128", "server.pictures=32", "rooms.idle=5s", "logging.level=warning",
    ]

    /// The memory that the settings allow, in bytes, by the README's formula.
    static var memoryBound: Int {
        let program = 192 << 20
        let board = 2 * 16 * boardPoints
        let room = authors * pendingBytes + board + tailBytes + heldBytes
        return program + rooms * room + workers * mailboxBytes + canvasBytes + 4 * replyBytes
    }
}
