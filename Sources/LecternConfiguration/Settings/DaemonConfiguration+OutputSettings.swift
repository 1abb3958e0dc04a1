internal import Whiteboard

extension DaemonConfiguration {
    /// The keys of cohorts that hold for all of them.
    static let cohortSettings: [Setting<DaemonConfiguration>] =
        [
            Setting(
                "cohorts.open", \.cohorts.open, .flag,
                "Whether a cohort comes to be with its first clock sample; otherwise only main and those named here are."
            ),
            Setting(
                "cohorts.maximum", \.cohorts.maximum, .count(1...256),
                "Cohorts of a room, main and the named ones included; beyond, none comes to be."),
        ] + CohortSettings.settings.map { Setting("cohorts.default.", \.cohorts.defaults, $0) }

    /// What goes out: messages, logs for those who join, pictures.
    static let outputSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "fanout.max_bytes", \.fanout.maxBytes, .size(1024...8 << 20),
            "Bytes of a message in which a stroke that came in shards goes out; larger strokes are cut again."),
        Setting(
            "log.tail", \.log.tail, .count(0...10_000_000),
            "Released operations that a room keeps for those who join again; who missed more gets the board."),
        Setting(
            "log.tail_bytes", \.log.tailBytes, .size(0...64 << 30),
            "Bytes of them; beyond, the oldest go although there are fewer than the tail."),
        Setting(
            "log.held_bytes", \.log.heldBytes, .size(1 << 20...64 << 30),
            "Bytes of operations that some cohort of a room holds; beyond, the oldest are released late."),
        Setting("ink.style", \.ink.style, .choice, "How the points of a stroke become ink."),
        Setting("canvas.scale", \.canvas.scale, .number(0.25...8), "Pixels for one board unit."),
        Setting(
            "canvas.memory", \.canvas.memory, .size(16 << 20...64 << 30),
            "Bytes of canvases and pictures of all rooms; beyond, the longest unused are given back and drawn again."),
    ]

    /// Threads, queues and the daemon's own log.
    static let processSettings: [Setting<DaemonConfiguration>] = [
        Setting("server.workers", \.server.workers, .count(0...256), "Threads that run rooms; 0 for one a core."),
        Setting(
            "server.mailbox_bytes", \.server.mailboxBytes, .size(1 << 20...16 << 30),
            "Bytes of messages that wait for one worker; beyond, messages are dropped, counted and asked for again."),
        Setting(
            "server.replies", \.server.replies, .count(1...1_000_000),
            "Join and image replies under way at once; requests beyond: not-ready."),
        Setting("logging.level", \.logging.level, .choice, "From which severity on lines are logged."),
    ]
}
