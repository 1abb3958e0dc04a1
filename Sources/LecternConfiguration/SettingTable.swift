internal import StrokeWire
internal import Whiteboard

extension DaemonConfiguration {
    /// Every key in the order of the file, except those of named cohorts: these are `cohorts.<name>.` with the keys of
    /// `CohortSettings.settings`. Checks, help and the test of the example file use this table.
    static let settings: [Setting<DaemonConfiguration>] =
        connectionSettings + journalSettings + subjectSettings + boardSettings + limitSettings + historySettings
        + cohortSettings + outputSettings
        + processSettings

    private static let boardSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "board.width", \.board.width, .number(1...16_384, or: 0),
            "Width in board units; 0 takes it from a room's first draw. Set both width and height, or neither."),
        Setting(
            "board.height", \.board.height, .number(1...16_384, or: 0),
            "Height in board units; 0 takes it from a room's first draw."),
        Setting(
            "board.features", \.board.features, .words(allowsNone: true),
            "Features of rooms beyond strokes; an empty list serves clients of the original protocol alone."),
        Setting(
            "colour", \.colour, .choice, "Meaning of a message's colour: an index into the palette, or 0xRRGGBB."),
        Setting("palette", \.palette, .palette, "Colours of the palette, sent to clients when they join."),
    ]

    private static let limitSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "limits.message_bytes", \.limits.intake.wire.messageBytes, .size(1024...8 << 20),
            "Bytes of a message; beyond: too-large. The NATS server's max_payload is to be 4KiB more."),
        Setting(
            "limits.shards", \.limits.intake.wire.shards, .count(1...16_384),
            "Messages that a stroke may be cut into; beyond: too-many-shards."),
        Setting(
            "limits.points", \.limits.intake.wire.points, .count(1...10_000_000),
            "Points of a stroke; beyond: too-many-points."),
        Setting(
            "limits.assembling", \.limits.intake.assembling, .count(1...65_536),
            "Strokes under assembly for each author; beyond: too-many-pending."),
        Setting(
            "limits.held", \.limits.intake.held, .count(1...65_536),
            "Complete operations of each author that wait behind a gap; beyond, the gap is given up."),
        Setting(
            "limits.pending_bytes", \.limits.intake.pendingBytes, .size(64 << 10...4 << 30),
            "Bytes under assembly and held for each author; beyond: too-many-pending."),
        Setting("limits.authors", \.limits.intake.authors, .count(1...10_000), "Authors of a room; beyond: room-full."),
        Setting(
            "limits.author_idle", \.limits.intake.authorIdle, .duration(.seconds(1) ... .seconds(604_800)),
            "Time without messages after which the place of an author with nothing pending is free."),
        Setting(
            "limits.messages_per_second", \.limits.intake.messagesPerSecond, .count(1...100_000),
            "Messages a second of each author, with bursts of twice that; beyond: rate-limited."),
        Setting(
            "limits.bytes_per_second", \.limits.intake.bytesPerSecond, .size(1024...1 << 30),
            "Bytes a second of each author, with bursts of twice that; beyond: rate-limited."),
        Setting(
            "limits.board_points", \.limits.intake.boardPoints, .count(1...1_000_000_000),
            "Points of all strokes of a board that are visible or can be restored; beyond: too-many-points."),
        Setting(
            "limits.rooms", \.limits.rooms, .count(1...10_000_000),
            "Rooms of a daemon in memory; beyond, the least recently used one is hibernated."),
        Setting(
            "limits.stored_rooms", \.limits.storedRooms, .count(1...100_000_000),
            "Rooms with an operation, in memory or hibernated; a message for one more: room-full."),
        Setting(
            "limits.sleeping_bytes", \.limits.hibernatedBytes, .size(1 << 20...1 << 40),
            "With journal none: bytes of hibernated rooms; near it, a message for one more room: room-full."),
    ]

    private static let historySettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "history.scope", \.history.scope, .choice,
            "Which stroke an undo removes: the newest of the room, or of its author."
        ),
        Setting(
            "history.depth", \.history.depth, .count(1...1_000_000),
            "Strokes of a room that can be undone; older ones stay on the board for good."),
        Setting("history.clear", \.history.clear, .choice, "Whether a clear can be undone."),
    ]

    private static let connectionSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "nats.url", \.nats.url, .natsAddress,
            "The NATS servers; embedded starts one on 127.0.0.1."),
        Setting("nats.user", \.nats.user, .text, "User for servers whose URL names none."),
        Setting(
            "nats.password", \.nats.password, .secret,
            "The user's password, not encoded; better set in the environment than in a file."),
        Setting(
            "nats.gateway_user", \.nats.gatewayUser, .text,
            "User of the HTTP side; nats.user unless it is set."),
        Setting("nats.gateway_password", \.nats.gatewayPassword, .secret, "The password of nats.gateway_user."),
        Setting(
            "nats.inbox_prefix", \.nats.inboxPrefix, .inboxPrefix,
            "Prefix of the subjects on which the service receives replies; no client may publish or subscribe there."),
        Setting(
            "nats.ca", \.nats.authority, .file,
            "PEM file of certificate authorities to trust, besides the system's."),
        Setting("nats.certificate", \.nats.certificate, .file, "PEM file of the client certificate."),
        Setting("nats.key", \.nats.key, .file, "PEM file of the client certificate's private key."),
        Setting(
            "nats.credentials", \.nats.credentials, .file,
            "Credentials file with a JWT and an nkey seed, as nsc writes it."),
        Setting("nats.server", \.nats.server, .program, "The nats-server program that embedded starts."),
        Setting(
            "nats.store_dir", \.nats.storeDirectory, .directory,
            "Directory of the JetStream files of the server that embedded starts."),
        Setting(
            "http.listen", \.http.listen, .listenAddress,
            "Address for pages, images, health and metrics; port 0 takes any free port."),
        Setting(
            "http.admin", \.http.admin, .listenAddress,
            "Another address, for health and metrics without tokens; it must be out of clients' reach."),
        Setting(
            "http.base_path", \.http.basePath, .basePath,
            "Path below which a proxy serves the HTTP side, and which it takes off; cookies are for it."),
        Setting(
            "http.allowed_origins", \.http.allowedOrigins, .origins,
            "Origins whose pages may use the API, beside the gateway's own."),
        Setting(
            "http.trusted_proxies", \.http.trustedProxies, .addressRanges,
            "Proxies that name the address of their client in X-Forwarded-For."),
        Setting(
            "http.media_origins", \.http.mediaOrigins, .origins, "Origins of the pages' videos and WHEP servers."),
        Setting(
            "http.languages", \.http.languages, .file, "Directory of translations of the pages, such as ar.json."),
        Setting(
            "http.reader_buffer", \.http.readerBuffer, .size(64 << 10...64 << 20),
            "Bytes of events that may wait to be sent to one reader; beyond, its stream is closed and it reconnects."),
        Setting(
            "http.skew_alarm", \.http.skewAlarm, .duration(.milliseconds(20) ... .seconds(3600)),
            "How late ink may come after its picture; a room where it comes later for a minute is named in the log."),
        Setting(
            "auth.mode", \.authentication.mode, .choice,
            "Access to the HTTP side: none admits everybody who reaches it, token those with a token."),
        Setting(
            "auth.insecure", \.authentication.isInsecure, .flag,
            "Whether mode none is right although http.listen can be reached from other machines."),
        Setting(
            "auth.secret_file", \.authentication.secretFile, .file,
            "File with the secret of HS256 tokens, 32 bytes or more."),
        Setting(
            "auth.public_key_file", \.authentication.publicKeyFile, .file,
            "PEM file with the public key of EdDSA or ES256 tokens."),
    ]

    /// The logs of rooms and their recovery.
    private static let journalSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "journal.mode", \.journal.mode, .choice,
            "Where logs of rooms are kept: in JetStream, where they survive restarts, or in memory only."),
        Setting(
            "journal.replicas", \.journal.replicas, .count(1...5),
            "Copies of each stream; the cluster needs as many servers."),
        Setting(
            "journal.max_age", \.journal.maxAge, .duration(.seconds(60) ... .seconds(3650 * 86_400)),
            "Age at which messages are deleted: a room without messages for so long begins anew."),
        Setting(
            "journal.max_bytes", \.journal.maxBytes, .sizeLimit(1 << 20...1 << 40),
            "Bytes of a partition's log; above 80 % of them, records that are in checkpoints are deleted."),
        Setting(
            "journal.store_bytes", \.journal.storeBytes, .sizeLimit(1 << 20...1 << 50),
            "Bytes that JetStream may store on the NATS server, when it does not report them; above 80 %, as with max_bytes."
        ),
        Setting(
            "journal.recreate_streams", \.journal.recreatesStreams, .flag,
            "Whether lost streams are made again, empty."),
        Setting(
            "assets.max_bytes", \.assets.maxBytes, .sizeLimit(1 << 20...1 << 40),
            "Bytes of all files that teachers have imported; beyond, further ones are refused."),
        Setting(
            "assets.room_bytes", \.assets.roomBytes, .sizeLimit(1 << 20...1 << 40),
            "Bytes of the files that teachers have imported into one room; beyond, further ones are refused."),
        Setting(
            "audit.max_age", \.audit.maxAge, .duration(.seconds(60) ... .seconds(3650 * 86_400)),
            "Age at which entries of the audit log are deleted."),
        Setting(
            "audit.max_bytes", \.audit.maxBytes, .size(1 << 20...1 << 40),
            "Bytes of the audit log, which JetStream reserves; beyond, the oldest entries are deleted."),
        Setting(
            "checkpoint.interval", \.checkpoint.interval, .duration(.seconds(1) ... .seconds(3600)),
            "Longest time from a change of a room to its checkpoint."),
        Setting(
            "checkpoint.operations", \.checkpoint.operations, .count(1...1_000_000),
            "Most operations of a room between two checkpoints."),
        Setting(
            "rooms.idle", \.rooms.idle, .duration(.seconds(1) ... .seconds(30 * 86_400)),
            "Time without messages after which a room leaves memory; it is loaded from its checkpoint."),
    ]

    /// The subjects of rooms, and the identity of the daemon.
    private static let subjectSettings: [Setting<DaemonConfiguration>] = [
        Setting("subjects.root", \.subjects.root, .token, "First token of every subject."),
        Setting(
            "subjects.partitions", \.subjects.partitions, .count(Subjects.allowedPartitions),
            "Number of partitions; the same for all daemons and clients of one root."),
        Setting(
            "node.id", \.node.id, .tokenOrRandom,
            "Name of this daemon, unique among those that share the rooms."),
        Setting(
            "node.roles", \.node.roles, .words(),
            "This daemon's roles: core serves rooms over NATS, gateway the HTTP side, for the rooms of all daemons."),
    ]

    private static let cohortSettings: [Setting<DaemonConfiguration>] =
        [
            Setting(
                "cohorts.open", \.cohorts.open, .flag,
                "Whether the first clock sample creates a cohort; if not, only main and those named here exist."
            ),
            Setting(
                "cohorts.maximum", \.cohorts.maximum, .count(1...256),
                "Cohorts of a room, main and the named ones included; beyond, none is created."),
        ] + CohortSettings.settings.map { Setting("cohorts.default.", \.cohorts.defaults, $0) }

    /// Output: messages, logs for clients that join, pictures.
    private static let outputSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "log.tail", \.log.tail, .count(0...10_000_000),
            "Released operations that a room keeps for clients that join again; one that missed more gets the board."),
        Setting(
            "log.tail_bytes", \.log.tailBytes, .size(0...64 << 30),
            "Bytes of those operations; beyond, the oldest are dropped even when there are fewer than log.tail."),
        Setting(
            "log.held_bytes", \.log.heldBytes, .size(1 << 20...64 << 30),
            "Bytes of operations that some cohort of a room holds; beyond, the oldest are released late."),
        Setting("ink.style", \.ink.style, .choice, "How points of a stroke become ink."),
        Setting("ink.tip", \.ink.tip, .choice, "The tip of the style stamp."),
        Setting("canvas.scale", \.canvas.scale, .number(0.25...8), "Pixels a board unit."),
        Setting(
            "canvas.memory", \.canvas.memory, .size(16 << 20...64 << 30),
            "Bytes of canvases and pictures, kept or being drawn; beyond, the least recently used are dropped."),
    ]

    /// Threads, queues and the daemon's own log.
    private static let processSettings: [Setting<DaemonConfiguration>] = [
        Setting("server.workers", \.server.workers, .count(0...256), "Threads that run rooms; 0 for one on each core."),
        Setting(
            "server.mailbox_bytes", \.server.mailboxBytes, .size(1 << 20...16 << 30),
            "Bytes of messages that wait for one worker; beyond, messages are dropped, counted and requested again."),
        Setting(
            "server.reply_bytes", \.server.replyBytes, .size(1 << 20...64 << 30),
            "Bytes of boards that wait to be sent, and as many again that wait to be drawn, at most half of them for one "
                + "room; beyond: not-ready."),
        Setting("logging.level", \.logging.level, .choice, "Lowest severity that is logged."),
        Setting("logging.format", \.logging.format, .choice, "Form of the log's lines: for people, or JSON objects."),
    ]

    /// All dotted keys, in the order of the file, without those of named cohorts.
    public static var keys: [String] { settings.map(\.key) }

    /// Every key with its meaning, kind, range, default and environment variable, as text.
    public static var reference: String {
        let defaults = DaemonConfiguration()
        let entries = settings.map { setting in
            """
            \(setting.key)
                \(setting.meaning)
                \(setting.kind) (\(setting.range)), default \(quoted(setting.text(defaults))), \
            \(SettingKeys.variable(setting.key))
            """
        }
        let cohorts = """
            cohorts.NAME.{\(CohortSettings.settings.map(\.key).joined(separator: ","))}
                The same for one cohort, which then exists in every room from the start. Missing settings are taken from
                cohorts.default. NAME is 1 … 64 characters of a-z, 0-9, _ and -. In the file, or as an argument.
            """
        return (entries + [cohorts]).joined(separator: "\n\n") + "\n"
    }

    static func quoted(_ text: String) -> String {
        text.isEmpty ? "\"\"" : text
    }
}

extension CohortSettings {
    /// The keys below `cohorts.default` and `cohorts.<name>`.
    static let settings: [Setting<CohortSettings>] = [
        Setting(
            "gate", \.gate, .choice,
            "The gate that holds operations back: the cohort's video clock once it has one (auto), always, or nothing."),
        Setting(
            "policy", \.policy, .choice,
            """
            What happens to operations that the clock does not release: released late after max_hold; held for ever; or \
            the clock is extrapolated without end.
            """),
        Setting("max_hold", \.maxHold, .duration(.zero ... .seconds(86_400)), "Longest wait under policy maxhold."),
        Setting(
            "stale_after", \.staleAfter, .duration(.zero ... .seconds(3600)),
            "Time after its last sample for which a clock is trusted."),
        Setting(
            "extrapolate", \.extrapolate, .flag,
            "Whether video time runs on between samples; false uses the last sample only."),
        Setting("encoding", \.encoding, .choice, "Form of the operations published to the cohort."),
        Setting(
            "ink", \.ink, .choice,
            "Whether strokes appear whole, or point by point as the video reaches them (progressive)."),
    ]
}
