import StrokeWire

extension Room {
    /// What brings the room back when this process is gone.
    public func checkpoint() -> RoomCheckpoint {
        RoomCheckpoint(self)
    }

    /// The room as it was when the checkpoint was taken, but for its clocks. Feed it what its log has after that, then
    /// put newer cursors in place by ``restoreCursors(_:at:)``, then let it advance.
    ///
    /// - Parameters:
    ///   - bytes: from ``RoomCheckpoint/encoded()``. Whatever they are, nothing traps, and no more memory is taken than a
    ///     multiple of their number.
    ///   - configuration: the settings from now on; a checkpoint has none. Cohorts that they do not allow are left out.
    ///   - logClockAhead: see ``setLogClock(ahead:)``.
    /// - Throws: ``CheckpointError`` where the bytes cannot be read.
    public init(
        restoring bytes: [UInt8], configuration: RoomConfiguration, at now: Instant, logClockAhead: Duration
    ) throws(CheckpointError) {
        self.init(configuration: configuration, at: now)
        logClock = LogClock(ahead: logClockAhead)
        var reader = CheckpointReader(bytes, logClock: logClock, at: now)
        try reader.readFrame()
        incarnation = try reader.incarnation()
        let recent = try reader.optional { (reader) throws(CheckpointError) in try reader.shape() }
        shapes = ShapeTable(reader.shapes, recent: recent)
        base = try reader.board(configuration)
        try restoreLog(&reader)
        gate = try reader.gate(configuration.cohorts, after: base.index, held: log.count, at: now)
        let authors = try reader.list { (reader) throws(CheckpointError) in try reader.author(configuration.intake) }
        intake = Intake(configuration.intake, authors: authors)
        try reader.require(reader.isAtEnd)
        origins = reader.origins
        followers = [:]
        admitFollowers()
        followSilently(at: now)
    }

    private mutating func restoreLog(_ reader: inout CheckpointReader) throws(CheckpointError) {
        head = base
        log = OperationLog(after: base.index)
        for _ in 0..<(try reader.count()) { log.append(try reader.operation(after: &head)) }
    }
}
