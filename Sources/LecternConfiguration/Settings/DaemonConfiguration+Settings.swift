internal import StrokeWire
internal import Whiteboard

extension DaemonConfiguration {
    /// Every key, in the order of the file, except those of cohorts by name: they are `cohorts.<name>.` with the keys of
    /// `CohortSettings.settings`. Checks, help and the test of the example file all come from here.
    static let settings: [Setting<DaemonConfiguration>] =
        connectionSettings + journalSettings + subjectSettings + boardSettings + limitSettings + historySettings
        + cohortSettings + outputSettings
        + processSettings

    private static let boardSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "board.width", \.board.width, .number(1...16_384, or: 0),
            "Board units; 0 takes the width from a room's first draw. Both of width and height, or neither."),
        Setting(
            "board.height", \.board.height, .number(1...16_384, or: 0),
            "Board units; 0 takes the height from a room's first draw."),
        Setting(
            "colour", \.colour, .choice, "What the colour of a message means: an index into the palette, or 0xRRGGBB."),
        Setting("palette", \.palette, .palette, "The colours of colour palette, sent to clients when they join."),
    ]

    private static let limitSettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "limits.message_bytes", \.limits.intake.wire.messageBytes, .size(1024...8 << 20),
            "Bytes of a message; beyond: too-large. NATS itself has a limit too, 1MiB unless configured."),
        Setting(
            "limits.shards", \.limits.intake.wire.shards, .count(1...16_384),
            "Messages that a stroke may be cut into; beyond: too-many-shards."),
        Setting(
            "limits.points", \.limits.intake.wire.points, .count(1...10_000_000),
            "Points of a stroke; beyond: too-many-points."),
        Setting(
            "limits.assembling", \.limits.intake.assembling, .count(1...65_536),
            "Strokes under assembly, an author; beyond: too-many-pending."),
        Setting(
            "limits.held", \.limits.intake.held, .count(1...65_536),
            "Complete operations that wait behind a gap, an author; beyond, the gap is given up."),
        Setting(
            "limits.pending_bytes", \.limits.intake.pendingBytes, .size(64 << 10...4 << 30),
            "Bytes under assembly and held, an author; beyond: too-many-pending."),
        Setting("limits.authors", \.limits.intake.authors, .count(1...10_000), "Authors of a room; beyond: room-full."),
        Setting(
            "limits.author_idle", \.limits.intake.authorIdle, .duration(.seconds(1) ... .seconds(604_800)),
            "The place of an author is free after so long without a message and with nothing pending."),
        Setting(
            "limits.messages_per_second", \.limits.intake.messagesPerSecond, .count(1...100_000),
            "Messages a second, an author, with bursts of twice that; beyond: rate-limited."),
        Setting(
            "limits.bytes_per_second", \.limits.intake.bytesPerSecond, .size(1024...1 << 30),
            "Bytes a second, an author, with bursts of twice that; beyond: rate-limited."),
        Setting(
            "limits.number_lead", \.limits.intake.numberLead, .count(1...1_000_000_000),
            "How far a number may lie ahead of the next expected one; beyond: out-of-range."),
        Setting(
            "limits.board_points", \.limits.intake.boardPoints, .count(1...1_000_000_000),
            "Points of all strokes of a board that are seen or could come back; beyond: too-many-points."),
        Setting(
            "limits.rooms", \.limits.rooms, .count(1...10_000_000),
            "Rooms of a daemon; a message for one more: room-full."),
    ]

    private static let historySettings: [Setting<DaemonConfiguration>] = [
        Setting(
            "history.scope", \.history.scope, .choice, "Whose newest stroke an undo takes: the room's, or the author's."
        ),
        Setting(
            "history.depth", \.history.depth, .count(1...1_000_000),
            "Strokes that can be undone, a room; older ones stay on the board for good."),
        Setting("history.clear", \.history.clear, .choice, "Whether a clear can be undone."),
    ]
}
