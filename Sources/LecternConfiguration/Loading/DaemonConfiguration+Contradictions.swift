internal import StrokeWire
internal import Whiteboard

extension DaemonConfiguration {
    /// What each value allows by itself and all together do not.
    var contradictions: [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        func require(_ holds: Bool, _ keys: String, _ complaint: String) {
            if !holds { faults.append(ConfigurationFault(origin: keys, complaint: complaint)) }
        }
        let intake = limits.intake
        let messageBytes = intake.wire.messageBytes
        require(
            (board.width == 0) == (board.height == 0), "board.width, board.height", "give both, or leave both 0")
        require(
            intake.pendingBytes >= messageBytes, "limits.pending_bytes",
            "less than limits.message_bytes: a shard of that size could never be kept")
        require(
            intake.bytesPerSecond >= (messageBytes + 1) / 2, "limits.bytes_per_second",
            "less than half of limits.message_bytes: a message of that size could never come in")
        require(
            server.mailboxBytes >= messageBytes, "server.mailbox_bytes",
            "less than limits.message_bytes: a message of that size could never come in")
        require(
            intake.boardPoints >= intake.wire.points, "limits.board_points",
            "less than limits.points: a stroke of that size could never be drawn")
        require(
            journal.duplicateWindow <= journal.maxAge, "journal.duplicate_window",
            "longer than journal.max_age: what is forgotten cannot be recognised")
        let names = Set(cohorts.named.keys.map(\.text)).union(["main"])
        require(
            names.count <= cohorts.maximum, "cohorts.maximum",
            "less than the \(names.count) cohorts that are named (main included)")
        return faults
    }
}
