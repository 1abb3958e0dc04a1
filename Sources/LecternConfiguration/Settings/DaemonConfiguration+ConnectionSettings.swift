internal import StrokeWire

extension DaemonConfiguration {
    static let connectionSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "nats.url", \.nats.url, .natsAddress,
            "The NATS servers; with embedded the daemon starts one of its own on 127.0.0.1."),
        Setting(
            "nats.credentials", \.nats.credentials, .file, "File of a JWT and its nkey seed, as nsc writes it."),
        Setting("nats.server", \.nats.server, .program, "The nats-server program that embedded starts."),
        Setting(
            "nats.store_dir", \.nats.storeDirectory, .directory,
            "Where the JetStream of the server that embedded starts keeps its files."),
        Setting(
            "http.listen", \.http.listen, .listenAddress,
            "Where pages, images, health and metrics are served; port 0 lets the system choose."),
    ]

    /// Where the logs of rooms are, and how they are brought back.
    static let journalSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "journal.mode", \.journal.mode, .choice,
            "Where logs of rooms are kept: in JetStream, where they survive restarts, or in memory alone."),
        Setting(
            "journal.replicas", \.journal.replicas, .count(1...5),
            "NATS servers that have a copy of each stream; the cluster needs as many."),
        Setting(
            "journal.max_age", \.journal.maxAge, .duration(.seconds(60) ... .seconds(3650 * 86_400)),
            "What is older is forgotten: a room that nobody has written to for so long begins anew."),
        Setting(
            "journal.max_bytes", \.journal.maxBytes, .sizeLimit(1 << 20...1 << 40),
            "Bytes of a partition's log; beyond, publishing is refused until what is there has aged."),
        Setting(
            "journal.duplicate_window", \.journal.duplicateWindow, .duration(.seconds(1) ... .seconds(86_400)),
            "How long a message's Nats-Msg-Id is remembered, so that a repeat of it is not stored again."),
        Setting(
            "checkpoint.interval", \.checkpoint.interval, .duration(.seconds(1) ... .seconds(3600)),
            "How long after a change the whole state of a room is written down, at the latest."),
        Setting(
            "checkpoint.operations", \.checkpoint.operations, .count(1...1_000_000),
            "After how many operations it is written down, at the latest."),
        Setting(
            "rooms.idle", \.rooms.idle, .duration(.seconds(1) ... .seconds(30 * 86_400)),
            "How long nothing may happen in a room before it leaves memory; its checkpoint brings it back."),
    ]

    /// Where in NATS the rooms and the daemons are.
    static let subjectSettings: [Setting<DaemonConfiguration>] = [
        Setting("subjects.root", \.subjects.root, .token, "First token of every subject."),
        Setting(
            "subjects.partitions", \.subjects.partitions, .count(Subjects.allowedPartitions),
            "Number of partitions; the same for all daemons and clients of one root."),
        Setting(
            "node.id", \.node.id, .tokenOrRandom,
            "This daemon's name among those that share the rooms, each with another."),
    ]
}
