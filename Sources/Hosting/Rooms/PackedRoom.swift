import StrokeWire
import Whiteboard

/// A room that is not in memory, in as few bytes as it takes: its name first.
struct PackedRoom {
    private(set) var bytes: [UInt8]

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let quiet = Flags(rawValue: 1)
        static let state = Flags(rawValue: 2)
        /// The life's name is a known prefix and a number.
        static let prefix = Flags(rawValue: 4)
        static let counted = Flags(rawValue: 8)
        /// Cursors have pauses, which are rare.
        static let pauses = Flags(rawValue: 16)
        static let waits = Flags(rawValue: 32)
        static let restored = Flags(rawValue: 64)
        static let clocks = Flags(rawValue: 128)
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(
        _ room: RoomID, _ stored: StoredRoom, state: [UInt8], isCounted: Bool, _ waitsFrom: Instant?,
        _ prefixes: inout IncarnationPrefixes
    ) {
        let life = LogPlace(stored.incarnation).flatMap { place in
            prefixes.number(of: place.log).map { (prefix: $0, number: place.sequence) }
        }
        var flags: Flags = []
        if stored.isQuiet { flags.insert(.quiet) }
        if stored.hasState { flags.insert(.state) }
        if isCounted { flags.insert(.counted) }
        if life != nil { flags.insert(.prefix) }
        let hasPauses = stored.cursors.values.contains { $0.pausedTime > .zero || $0.pausedSince != nil }
        if hasPauses { flags.insert(.pauses) }
        let hasClocks = stored.cursors.values.contains { $0.clock != nil }
        if hasClocks { flags.insert(.clocks) }
        if waitsFrom != nil { flags.insert(.waits) }
        if stored.restorations > 0 { flags.insert(.restored) }
        var writer = PackedWriter()
        writer.write(room.text)
        writer.bytes.append(flags.rawValue)
        if let life {
            writer.write(UInt64(life.prefix))
            writer.write(life.number)
        } else {
            writer.write(stored.incarnation)
        }
        writer.write(stored.sequence)
        writer.write(stored.handled &- stored.sequence)
        if let waitsFrom { writer.write(UInt64(bitPattern: waitsFrom.nanoseconds)) }
        if stored.restorations > 0 { writer.write(UInt64(stored.restorations)) }
        writer.write(UInt64(stored.cursors.count))
        for (name, cursor) in stored.cursors {
            writer.write(name == .main ? "" : name.text)
            writer.write(cursor.released << 2 | cursor.videoCode)
            if hasPauses { writer.writePauses(of: cursor) }
            if hasClocks { writer.writeClock(of: cursor) }
        }
        bytes = Array(unsafeUninitializedCapacity: writer.bytes.count + state.count) { buffer, count in
            count = writer.bytes.count + state.count
            _ = buffer.initialize(from: writer.bytes + state)
        }
    }

    var room: RoomID {
        guard let room = RoomID(String(decoding: bytes[1..<(1 + Int(bytes[0]))], as: UTF8.self)) else {
            preconditionFailure("a name that was packed is none")
        }
        return room
    }

    var isQuiet: Bool { flags.contains(.quiet) }
    var hasState: Bool { flags.contains(.state) }
    private var flags: Flags { Flags(rawValue: bytes[1 + Int(bytes[0])]) }

    func isNamed(_ room: RoomID) -> Bool {
        bytes[1..<(1 + Int(bytes[0]))].elementsEqual(room.text.utf8)
    }

    func entry(_ prefixes: IncarnationPrefixes) -> StoredRooms.Entry {
        var reader = PackedReader(bytes: bytes, position: 1 + Int(bytes[0]))
        let flags = Flags(rawValue: reader.byte())
        let incarnation: String
        if flags.contains(.prefix) {
            let prefix = prefixes[Int(reader.integer())]
            incarnation = "\(prefix)-\(reader.integer())"
        } else {
            incarnation = reader.text()
        }
        let sequence = reader.integer()
        let handled = sequence &+ reader.integer()
        let waitsFrom = flags.contains(.waits) ? Instant(nanoseconds: Int64(bitPattern: reader.integer())) : nil
        let restorations = flags.contains(.restored) ? UInt32(clamping: reader.integer()) : 0
        var cursors: [CohortName: CohortCursor] = [:]
        for _ in 0..<reader.integer() {
            let name = CohortName(reader.text()) ?? .main
            let released = reader.integer()
            var cursor = CohortCursor(released >> 2, hasVideo: CohortCursor.hasVideo(released & 3))
            if flags.contains(.pauses) { reader.readPauses(of: &cursor) }
            if flags.contains(.clocks) { reader.readClock(of: &cursor) }
            cursors[name] = cursor
        }
        let stored = StoredRoom(
            sequence: sequence, handled: handled, cursors: cursors, isQuiet: flags.contains(.quiet),
            hasState: flags.contains(.state), incarnation: incarnation, restorations: restorations)
        return StoredRooms.Entry(
            room: room, stored: stored, state: Array(bytes[reader.position...]), isCounted: flags.contains(.counted),
            waitsFrom: waitsFrom)
    }
}

extension CohortCursor {
    /// ``hasVideo`` in two bits.
    fileprivate var videoCode: UInt64 { hasVideo.map { $0 ? 2 : 1 } ?? 0 }

    fileprivate static func hasVideo(_ code: UInt64) -> Bool? { code == 0 ? nil : code == 2 }
}

/// Integers are a `Varint`; texts have their length before them.
private struct PackedWriter {
    var bytes: [UInt8] = []

    mutating func write(_ value: UInt64) {
        Varint.append(value, to: &bytes)
    }

    mutating func write(_ text: String) {
        write(UInt64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func writePauses(of cursor: CohortCursor) {
        write(UInt64(bitPattern: cursor.pausedTime.nanoseconds))
        bytes.append(cursor.pausedSince == nil ? 0 : 1)
        if let since = cursor.pausedSince { write(UInt64(bitPattern: since.nanoseconds)) }
    }

    /// 0 for no clock; the epoch from 1, for the first one is -1.
    mutating func writeClock(of cursor: CohortCursor) {
        write(cursor.clock.map { UInt64(bitPattern: $0.epoch &+ 2) } ?? 0)
        if let clock = cursor.clock { write(UInt64(zigzag: clock.media.microseconds)) }
    }
}

private struct PackedReader {
    let bytes: [UInt8]
    var position: Int

    mutating func byte() -> UInt8 {
        defer { position += 1 }
        return bytes[position]
    }

    mutating func integer() -> UInt64 {
        guard let value = Varint.read(bytes, &position) else { preconditionFailure("what was packed is damaged") }
        return value
    }

    mutating func readPauses(of cursor: inout CohortCursor) {
        cursor.pausedTime = .nanoseconds(Int64(bitPattern: integer()))
        if byte() == 1 { cursor.pausedSince = Instant(nanoseconds: Int64(bitPattern: integer())) }
    }

    mutating func readClock(of cursor: inout CohortCursor) {
        let code = integer()
        guard code > 0 else { return }
        cursor.clock = SavedClock(
            epoch: Int64(bitPattern: code) &- 2, media: MediaTime(microseconds: Int64(zigzag: integer())))
    }

    mutating func text() -> String {
        let count = Int(integer())
        defer { position += count }
        return String(decoding: bytes[position..<(position + count)], as: UTF8.self)
    }
}

/// What names of lives begin with: one for each partition's log, so that a room need not have it of its own.
struct IncarnationPrefixes {
    private var texts: [String] = []
    /// Beyond, a name is kept whole.
    private static let bound = 128

    subscript(number: Int) -> String { texts[number] }

    /// - Returns: the number of the prefix, nil where there are too many.
    mutating func number(of prefix: String) -> Int? {
        if let known = texts.firstIndex(where: { $0 == prefix }) { return known }
        guard texts.count < Self.bound else { return nil }
        texts.append(prefix)
        return texts.count - 1
    }
}
