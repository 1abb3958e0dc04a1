public import StrokeWire

/// A room's state for a checkpoint.
///
/// A value that shares storage with the room: taking it is cheap, but what the room changes while it is kept is copied
/// first. Encode it on any thread, and release it.
///
/// Has what the room has taken from its log, and the cohorts' cursors. Does not have the settings, the clocks, which are
/// unknown after a restart, nor operations that every cohort has released, except the latest.
public struct RoomCheckpoint: Sendable {
    /// The newest format that is read and written; newer ones are refused.
    public static let formatVersion = CheckpointFormat.version
    /// The newest rules by which a log becomes a room: releases with the same number make the same room of the same log.
    public static let foldVersion = CheckpointFormat.fold

    /// The format and the rules of a state's bytes; nil for other bytes, and for those of a newer release.
    public static func versions(of bytes: [UInt8]) -> (format: UInt8, fold: UInt64)? {
        var reader = CheckpointReader(bytes, clockOffset: ClockOffset(), at: Instant(nanoseconds: 0))
        guard (try? reader.readVersions()) != nil else { return nil }
        return (reader.version, reader.fold)
    }

    private let room: Room

    /// Operations logged less than this before the last one are kept although every cohort has released them: a cohort
    /// made after the restart starts there, and not with ink that its video has not reached.
    static let memory = Duration.seconds(60)

    init(_ room: Room) { self.room = room }

    /// The assets that boards of the room show or can show again, and those that operations name which it keeps.
    public var assets: Set<AssetID> {
        var assets = room.log.base.assets.union(room.log.head.assets)
        for stroke in room.log.operations.strokes { if let source = stroke.image { assets.insert(source.asset) } }
        for paper in room.log.operations.papers { if let asset = paper.asset { assets.insert(asset) } }
        return assets
    }

    /// The state as bytes: a mark and the two versions first. Without a checksum: storage has to return them unchanged.
    ///
    /// The versions are the lowest that have all of the room: a release before them goes on with rooms in which nothing newer
    /// was used, while daemons are replaced one after another, and on the way back.
    public func encoded() -> [UInt8] { encoded(hasNotes: true) }

    /// - Parameter hasNotes: whether with what earlier releases pass over.
    func encoded(hasNotes: Bool) -> [UInt8] {
        var room = room
        var retention = room.configuration.log
        retention.tail = min(retention.tail, room.gate.timeline.count(within: Self.memory))
        room.trimLog(keeping: retention)
        let hasPaper = !room.log.head.pages.papers.isEmpty || !room.log.operations.papers.isEmpty
        let hasRemovals = room.log.base.hasRemovals || room.log.operations.hasRemovals
        let isProvisional = room.gate.timeline.epochs.provisional != nil
        let hasPointers = room.log.operations.hasPointers
        let hasTexts =
            room.log.base.strokes.contains { $0.kind == .text } || room.log.operations.hasTexts
        let format: UInt8 = max(
            hasTexts
                ? 9 : hasRemovals ? 8 : hasPaper ? 7 : isProvisional ? 6 : room.intake.hasMuted || hasPointers ? 5 : 4,
            room.intake.checkpointFormat)
        var writer = CheckpointWriter(clockOffset: room.clockOffset, format: format)
        writer.reserve(room.log.packedByteEstimate)
        writer.write(Array(room.incarnation.utf8))
        writer.write(optional: room.log.templates.recent) { $0.write($1) }
        writer.write(room.log.base)
        writer.write(list: room.log.operations.kept) { $0.write($1) }
        writer.write(room.gate)
        writer.write(list: room.intake.authorsByName) { $0.write($1) }
        if format >= 5 { writer.write(list: room.intake.muted) { $0.write($1.text) } }
        if hasNotes { writer.writeNotes(room.gate, room.authorTimes) }
        return writer.finished(fold: room.intake.hasMuted ? 4 : 3)
    }

    /// The state as bytes from which the room was restored once: the log may be deleted where they take its place.
    /// - Throws: ``CheckpointError`` where no later process could read them, or would have another board.
    public func readBack(at now: Instant, logClockAhead: Duration) throws(CheckpointError) -> [UInt8] {
        let bytes = encoded()
        let restored = try Room(
            restoring: bytes, configuration: room.configuration, at: now, logClockAhead: logClockAhead)
        guard restored.head.digest == room.head.digest else { throw .damaged(at: bytes.count) }
        return bytes
    }
}

extension GateTimeline {
    /// Number of operations kept that were logged at most `span` before the last one.
    fileprivate func count(within span: Duration) -> Int {
        guard last > forgotten else { return 0 }
        let earliest = self[last].loggedAt + (.zero - span)
        var first = last
        while first > forgotten, self[first].loggedAt >= earliest { first -= 1 }
        return Int(last - first)
    }
}

extension Room {
    /// The state that restores the room in another process.
    public func checkpoint() -> RoomCheckpoint { RoomCheckpoint(self) }

    /// Restores a room from a checkpoint, without its clocks. Then give it the log after the checkpoint, restore newer
    /// cursors by ``restoreCursors(_:at:)``, and let it advance.
    ///
    /// - Parameters:
    ///   - bytes: from ``RoomCheckpoint/encoded()``. Any other bytes do not trap and take no more memory than a multiple
    ///     of their number.
    ///   - configuration: the settings from now on. Cohorts that they do not allow are left out.
    ///   - logClockAhead: see ``setLogClock(ahead:)``.
    /// - Throws: ``CheckpointError`` where the bytes cannot be read.
    public init(
        restoring bytes: [UInt8], configuration: RoomConfiguration, at now: Instant, logClockAhead: Duration
    ) throws(CheckpointError) {
        let clockOffset = ClockOffset(ahead: logClockAhead)
        var reader = CheckpointReader(bytes, clockOffset: clockOffset, at: now)
        reader.hasPages = configuration.intake.wire.features.contains(.pages)
        try reader.readFrame()
        let incarnation = try reader.incarnation()
        let recent = try reader.optional { (reader) throws(CheckpointError) in try reader.template() }
        let templates = TemplateTable(reader.templates, recent: recent)
        let base = try reader.board(configuration)
        var head = base
        var operations = OperationLog(after: base.index)
        for _ in 0..<(try reader.count()) { operations.append(try reader.operation(after: &head)) }
        var gate = try reader.gate(configuration.cohorts, after: base.index, held: operations.count, at: now)
        let authors = try reader.list { (reader) throws(CheckpointError) in try reader.author(configuration.intake) }
        let muted = reader.version < 5 ? [] : try reader.mutedAuthors()
        try reader.require(reader.isAtEnd)
        var authorTimes = AuthorTimes()
        try reader.readNotes(&gate, &authorTimes, at: now)
        self.init(
            configuration: configuration, incarnation: incarnation,
            log: RoomLog(
                base: base, head: head, operations: operations, templates: templates, strokes: reader.writer),
            gate: gate, intake: Intake(authors: authors, muted: muted, hasMuted: reader.fold >= 4),
            authorTimes: authorTimes, clockOffset: clockOffset, at: now)
    }
}

/// The start of a checkpoint, and the ranges that hold in all of them.
///
/// Two numbers follow the mark: ``version``, that of the bytes, and ``fold``, that of the rules by which a log becomes
/// a room. To change the form of a part, write only the new form, and read the old one where `reader.version` is below
/// the version that brought it; write the old numbers where a room has nothing new. What a release before may do
/// without is a ``CheckpointNote`` instead. To change what a log makes of a room, bring a room of an older
/// `reader.fold` up to date where it is read. Raise either number once after a release, with the first such change:
/// what a release has written stays readable, and `CheckpointVersionTests` keeps a checkpoint of each to prove it.
enum CheckpointFormat {
    /// "LCP".
    static let mark: [UInt8] = [0x4c, 0x43, 0x50]
    /// 1: without `fold`, which was 1. 2: with it, with what was applied in earlier sessions and out of turn, with the
    /// pauses of the cohorts and the anchors of the epochs. 3: with the gate times of cohorts in which strokes grow.
    /// 4: with pages. 5: with muted authors, and pointers among the operations. 6: with a provisional epoch. 7: with papers.
    /// 8: with removals. 9: with texts.
    static let version: UInt8 = 9
    /// 1: the first release. 2: points are weighed as they came; messages of an earlier session are rejected; nothing is
    /// applied twice; a give-up that names another incarnation does not count. 3: messages concern pages, each with
    /// stacks of its own. 4: authors can be muted.
    static let fold: UInt64 = 4
    /// The greatest operation number and index, so that no sum of them overflows.
    static let numberBound: UInt64 = 1 << 53
}

/// Why a checkpoint could not be read.
public enum CheckpointError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The bytes at this offset are not those of a checkpoint.
    case damaged(at: Int)
    /// Written by a newer release, in a format that this one does not know. Nothing is wrong with it.
    case newerFormat(UInt8)
    /// Made by a newer release, by rules that this one does not know. Nothing is wrong with it.
    case newerFold(UInt64)

    public var description: String {
        switch self {
        case .damaged(let offset): "damaged at byte \(offset)"
        case .newerFormat(let version):
            "written by a newer release: its format is \(version), this release knows \(CheckpointFormat.version)"
        case .newerFold(let version):
            "made by a newer release: its rules are \(version), this release knows \(CheckpointFormat.fold)"
        }
    }
}
