import OrderedCollections
import StrokeWire

/// Writes the parts of a room one after the other: the mark, the versions, a table of texts and one of templates, then
/// the rest.
///
/// Integers are a ``Varint``. Times are written as the difference from the last one of their kind, texts and templates as
/// their number in their table.
struct CheckpointWriter {
    private var bytes: [UInt8] = []
    private var notes: [UInt8] = []
    /// The texts and templates in the order of their first use.
    private var texts: OrderedSet<String> = []
    private var templates: OrderedSet<MessageTemplate> = []
    /// Numbers of the templates written, by object: hashing a template takes long.
    private var templateReferences: [ObjectIdentifier: Int] = [:]
    private let clockOffset: ClockOffset
    /// The format of what is written: what came with a newer one is left out.
    let format: UInt8
    private var lastInstant: Int64 = 0
    private var lastMedia: Int64 = 0

    init(clockOffset: ClockOffset, format: UInt8) {
        (self.clockOffset, self.format) = (clockOffset, format)
    }

    /// Takes memory for what will be written: growing by doubling would take up to twice as much.
    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// All that was written, with its frame.
    func finished(fold: UInt64) -> [UInt8] {
        var whole = CheckpointWriter(clockOffset: ClockOffset(), format: format)
        whole.write(raw: CheckpointFormat.mark + [format])
        whole.write(fold)
        whole.write(texts.count + (notes.isEmpty ? 0 : 1))
        for text in texts { whole.write(Array(text.utf8)) }
        if !notes.isEmpty { whole.write(CheckpointNote.text(notes)) }
        whole.write(list: templates) { $0.write($1) }
        whole.reserve(whole.bytes.count + bytes.count)
        whole.write(raw: bytes)
        return whole.bytes
    }

    /// Writes a note, apart from the parts of the room.
    mutating func write(note kind: CheckpointNote, _ body: (inout CheckpointWriter) -> Void) {
        let parts = (bytes, lastInstant, lastMedia)
        (bytes, lastInstant, lastMedia) = ([], 0, 0)
        body(&self)
        let note = bytes
        bytes = notes
        write(kind.rawValue)
        write(note)
        notes = bytes
        (bytes, lastInstant, lastMedia) = parts
    }

    mutating func write(_ value: UInt64) {
        Varint.append(value, to: &bytes)
    }

    mutating func write(_ count: Int) { write(UInt64(count.magnitude)) }

    mutating func write(signed value: Int64) { write(UInt64(zigzag: value)) }

    /// Eight bytes, lowest first.
    mutating func write(fixed value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    /// The number of bytes, then the bytes.
    mutating func write(_ data: [UInt8]) {
        write(data.count)
        bytes += data
    }

    private mutating func write(raw data: [UInt8]) { bytes += data }

    mutating func write(_ text: String) { write(texts.append(text).index) }

    private mutating func write(_ template: MessageTemplate) { template.append(to: &bytes) }

    mutating func write(_ entry: TemplateTable.Entry) {
        let object = ObjectIdentifier(entry)
        let reference = templateReferences[object] ?? templates.append(entry.template).index
        templateReferences[object] = reference
        write(reference)
    }

    mutating func write(logTime instant: Instant) {
        write(signed: instant.nanoseconds &- lastInstant)
        lastInstant = instant.nanoseconds
    }

    /// A local time, written as log time.
    mutating func write(localTime instant: Instant) { write(logTime: clockOffset.logTime(of: instant)) }

    mutating func write(_ media: MediaTime) {
        write(signed: media.microseconds &- lastMedia)
        lastMedia = media.microseconds
    }

    mutating func write<Value>(optional value: Value?, _ body: (inout CheckpointWriter, Value) -> Void) {
        write(value != nil)
        if let value { body(&self, value) }
    }

    mutating func write<Values: Collection>(
        list: Values, _ body: (inout CheckpointWriter, Values.Element) -> Void
    ) {
        write(list.count)
        for element in list { body(&self, element) }
    }

    /// Indices in any order; short where each is near the one before.
    mutating func write(indices: some Collection<UInt64>) {
        var last: UInt64 = 0
        write(list: indices) { writer, index in
            writer.write(signed: Int64(bitPattern: index &- last))
            last = index
        }
    }
}
