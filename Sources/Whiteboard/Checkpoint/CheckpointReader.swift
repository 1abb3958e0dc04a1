import StrokeWire

/// Reads what ``CheckpointWriter`` wrote, in the same order. Takes no more memory than a multiple of the number of bytes,
/// whatever they are.
struct CheckpointReader {
    private var bytes: [UInt8]
    private var position = 0
    /// The format of the bytes: at most ``CheckpointFormat/version``.
    private(set) var version = CheckpointFormat.version
    /// The rules by which the room was made: at most ``CheckpointFormat/fold``.
    private(set) var fold = CheckpointFormat.fold
    private var texts: [String] = []
    private(set) var templates: [TemplateTable.Entry] = []
    /// Of the strokes read.
    var writer = StrokeWriter()
    /// Whether the room has pages. Where it has none, messages are on none, whatever they name.
    var hasPages = true
    private let clockOffset: ClockOffset
    private let now: Instant
    private var lastInstant: Int64 = 0
    private var lastMedia: Int64 = 0

    init(_ bytes: [UInt8], clockOffset: ClockOffset, at now: Instant) {
        (self.bytes, self.clockOffset, self.now) = (bytes, clockOffset, now)
    }

    /// Reads what stands before the parts of the room.
    mutating func readFrame() throws(CheckpointError) {
        try readVersions()
        texts = try list { (reader) throws(CheckpointError) in
            guard let text = String(validating: try reader.data(), as: UTF8.self) else { throw reader.damaged }
            return text
        }
        templates = try list { (reader) throws(CheckpointError) in TemplateTable.Entry(try reader.messageTemplate()) }
    }

    /// What reads the notes; at its end where there are none.
    func notes() throws(CheckpointError) -> CheckpointReader {
        guard let text = texts.last, CheckpointNote.isNotes(text) else { return part([]) }
        guard let notes = CheckpointNote.notes(in: text) else { throw damaged }
        return part(notes)
    }

    /// What reads the bytes of the next note.
    mutating func note() throws(CheckpointError) -> CheckpointReader { part(try data()) }

    private func part(_ bytes: [UInt8]) -> CheckpointReader {
        var reader = self
        (reader.bytes, reader.position, reader.lastInstant, reader.lastMedia) = (bytes, 0, 0, 0)
        return reader
    }

    mutating func readVersions() throws(CheckpointError) {
        for byte in CheckpointFormat.mark { try require(try self.byte() == byte) }
        version = try byte()
        guard version <= CheckpointFormat.version else { throw .newerFormat(version) }
        try require(version > 0)
        fold = version < 2 ? 1 : try integer()
        guard fold <= CheckpointFormat.fold else { throw .newerFold(fold) }
        try require(fold > 0)
    }

    var isAtEnd: Bool { position == bytes.count }
    var bytesLeft: Int { bytes.count - position }
    var damaged: CheckpointError { .damaged(at: position) }

    /// - Throws: `damaged` unless `condition` holds.
    func require(_ condition: Bool) throws(CheckpointError) {
        guard condition else { throw damaged }
    }

    mutating func byte() throws(CheckpointError) -> UInt8 {
        guard position < bytes.count else { throw damaged }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func integer() throws(CheckpointError) -> UInt64 {
        guard let value = Varint.read(bytes, &position) else { throw damaged }
        return value
    }

    mutating func signed() throws(CheckpointError) -> Int64 { Int64(zigzag: try integer()) }

    /// An index, an operation number, or a difference of two, 0 … 2⁵³.
    mutating func number() throws(CheckpointError) -> UInt64 {
        let value = try integer()
        try require(value <= CheckpointFormat.numberBound)
        return value
    }

    mutating func fixed() throws(CheckpointError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) { value |= UInt64(try byte()) << shift }
        return value
    }

    mutating func flag() throws(CheckpointError) -> Bool {
        let byte = try byte()
        try require(byte <= 1)
        return byte == 1
    }

    /// The number of elements that follow; each takes at least a byte.
    mutating func count() throws(CheckpointError) -> Int {
        let value = try integer()
        try require(value <= UInt64(bytes.count - position))
        return Int(value)
    }

    mutating func data() throws(CheckpointError) -> [UInt8] {
        let count = try count()
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    mutating func text() throws(CheckpointError) -> String { try element(of: texts) }

    /// An incarnation, which goes into headers: visible ASCII characters, or none.
    mutating func incarnation() throws(CheckpointError) -> String {
        let text = try data()
        try require(text.count <= 256 && text.allSatisfy { (0x21...0x7e).contains($0) })
        return String(decoding: text, as: UTF8.self)
    }

    mutating func name<Name: SubjectToken>() throws(CheckpointError) -> Name {
        guard let name = Name(try text()) else { throw damaged }
        return name
    }

    private mutating func messageTemplate() throws(CheckpointError) -> MessageTemplate {
        var reader = BinaryReader(bytes, from: position)
        let template = try? reader.template(atMost: MessageUnpacker.maximumBytes)
        position = reader.position
        guard let template else { throw damaged }
        return template
    }

    mutating func template() throws(CheckpointError) -> TemplateTable.Entry {
        try element(of: templates)
    }

    private mutating func element<Element>(of table: [Element]) throws(CheckpointError) -> Element {
        let reference = try integer()
        try require(reference < UInt64(table.count))
        return table[Int(reference)]
    }

    mutating func logTime() throws(CheckpointError) -> Instant {
        lastInstant &+= try signed()
        return Instant(nanoseconds: lastInstant)
    }

    /// A log time as local time, not in the future.
    mutating func localTime() throws(CheckpointError) -> Instant {
        min(now, clockOffset.localTime(of: try logTime()))
    }

    mutating func media() throws(CheckpointError) -> MediaTime {
        lastMedia &+= try signed()
        return MediaTime(microseconds: lastMedia)
    }

    mutating func optional<Value>(
        _ body: (inout CheckpointReader) throws(CheckpointError) -> Value
    ) throws(CheckpointError) -> Value? {
        try flag() ? try body(&self) : nil
    }

    mutating func list<Value>(
        _ body: (inout CheckpointReader) throws(CheckpointError) -> Value
    ) throws(CheckpointError) -> [Value] {
        var values: [Value] = []
        for _ in 0..<(try count()) { values.append(try body(&self)) }
        return values
    }

    mutating func indices() throws(CheckpointError) -> [UInt64] {
        var last: UInt64 = 0
        var indices: [UInt64] = []
        for _ in 0..<(try count()) {
            last &+= UInt64(bitPattern: try signed())
            try require(last <= CheckpointFormat.numberBound)
            indices.append(last)
        }
        return indices
    }
}
