package import StrokeWire

/// A packed compact message: about two bytes for each point of handwriting, four where points have force and angles.
///
/// Unpacking gives the same bytes. A message that cannot be packed is kept as it came.
public struct PackedMessage: Sendable {
    enum Storage: Sendable {
        case packed(TemplateTable.Entry, numbers: [UInt8])
        case plain([UInt8])
    }

    let storage: Storage
    /// The size of the message itself, in bytes.
    let messageByteCount: Int

    /// The template of a packed message; nil for one kept as it came.
    var template: TemplateTable.Entry? {
        if case .packed(let template, _) = storage { template } else { nil }
    }

    /// The bytes that it does not share with other messages.
    var ownBytes: [UInt8] {
        switch storage {
        case .plain(let bytes), .packed(_, numbers: let bytes): bytes
        }
    }

    /// A message kept as it came.
    init(_ bytes: [UInt8]) {
        storage = .plain(bytes)
        messageByteCount = bytes.count
    }

    /// A message put together again from its ``template`` and its ``ownBytes``.
    init(template: TemplateTable.Entry?, ownBytes bytes: [UInt8], messageByteCount: Int) {
        storage = template.map { .packed($0, numbers: bytes) } ?? .plain(bytes)
        self.messageByteCount = messageByteCount
    }

    /// Packs a message by a template, or keeps it as it came where that cannot be done.
    /// - Returns: nil where it is no message.
    init?(_ bytes: [UInt8], by entry: TemplateTable.Entry) {
        let limits = WireLimits.accepted
        guard let points = try? StrokeMessage(decoding: bytes, limits: limits).points else { return nil }
        let numbers = MessagePacker.pack(
            bytes, interior: points.interior, pointCount: points.count, by: entry.template)
        storage = numbers.map { .packed(entry, numbers: $0) } ?? .plain(bytes)
        messageByteCount = bytes.count
    }

    /// Packs a message. What is kept takes no more memory than the message has.
    ///
    /// A message adds no larger template to the table than it has bytes, or ``TemplateTable/least``: so the templates that
    /// strokes keep take little more memory than the messages that came, even where each has a template of its own. It
    /// may share the last template used, if that has no more text.
    /// - Parameter points: where the points lie in `bytes`.
    init(_ bytes: [UInt8], points: PointArray, templates: inout TemplateTable) {
        storage = Self.pack(bytes, points, &templates) ?? .plain(bytes)
        messageByteCount = bytes.count
    }

    private static func pack(_ bytes: [UInt8], _ points: PointArray, _ templates: inout TemplateTable) -> Storage? {
        guard bytes.count <= MessageUnpacker.maximumBytes else { return nil }
        func pack(by template: MessageTemplate) -> [UInt8]? {
            MessagePacker.pack(bytes, interior: points.interior, pointCount: points.count, by: template)
        }
        let bound = max(bytes.count, TemplateTable.least)
        // A stroke of few points has no template of its own where that of the strokes before will do.
        if let recent = templates.recent, recent.template.textByteCount <= bound,
            let numbers = pack(by: recent.template)
        {
            return .packed(recent, numbers: numbers)
        }
        guard
            let template = MessageTemplate(
                of: bytes, interior: points.interior, pointCount: points.count,
                atMost: min(bound, TemplateTable.largest)),
            let numbers = pack(by: template), let entry = templates.entry(for: template)
        else { return nil }
        return .packed(entry, numbers: numbers)
    }

    /// The message, unpacked.
    public var bytes: [UInt8] {
        switch storage {
        case .plain(let bytes): return bytes
        case .packed(let entry, let numbers):
            var unpacker = MessageUnpacker(template: entry.template, numbers: numbers)
            return unpacker.unpack(byteCount: messageByteCount)
        }
    }

    /// A message kept as it came may still be packed if it is smaller: it may have been too small for a template.
    private static let smallMessage = 512

    /// The message in the binary form: what is kept of it, copied.
    package var payload: BinaryPayload {
        switch storage {
        case .plain(let bytes) where bytes.count < Self.smallMessage: BinaryPayload(packing: bytes)
        case .plain(let bytes): BinaryPayload(.json, bytes)
        case .packed(let entry, let numbers): BinaryPayload(entry.layout, numbers)
        }
    }

    /// Bytes that it takes in memory, without what it shares with other messages.
    public var byteCount: Int { ownBytes.count }
}
