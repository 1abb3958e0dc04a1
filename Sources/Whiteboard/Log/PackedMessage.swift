import StrokeWire

/// A compact message at rest: about two bytes a point of handwriting, four where points have force and angles.
///
/// Nothing is lost: it comes back byte for byte. A message that the packing does not fit is kept as it came.
public struct PackedMessage: Sendable {
    enum Storage: Sendable {
        case packed(ShapeTable.Entry, numbers: [UInt8])
        case plain([UInt8])
    }

    let storage: Storage

    /// The shape of a packed message, nil for one that is kept as it came.
    var shape: ShapeTable.Entry? {
        if case .packed(let shape, _) = storage { shape } else { nil }
    }

    /// The bytes that are its own.
    var occupied: [UInt8] {
        switch storage {
        case .plain(let bytes), .packed(_, numbers: let bytes): bytes
        }
    }

    /// Longer messages are not packed, so that a few packed bytes cannot claim to stand for any number.
    static let mostBytes = 1 << 26

    init(storage: Storage) {
        self.storage = storage
    }

    /// One that was taken apart into its ``shape`` and what it ``occupied``.
    init(shape: ShapeTable.Entry?, occupied bytes: [UInt8]) {
        storage = shape.map { .packed($0, numbers: bytes) } ?? .plain(bytes)
    }

    /// Packs `bytes`, a message whose points lie as `points` says.
    init(_ bytes: [UInt8], points: PointArray, shapes: inout ShapeTable) {
        storage = Self.pack(bytes, points, &shapes) ?? .plain(bytes)
    }

    private static func pack(_ bytes: [UInt8], _ points: PointArray, _ shapes: inout ShapeTable) -> Storage? {
        guard bytes.count <= mostBytes else { return nil }
        func pack(as entry: ShapeTable.Entry) -> Storage? {
            MessagePacker.pack(
                bytes, interior: points.interior, pointCount: points.count, as: entry.shape
            ).map { .packed(entry, numbers: $0) }
        }
        if let recent = shapes.recent, let packed = pack(as: recent) { return packed }
        guard let shape = MessageShape(of: bytes, interior: points.interior, pointCount: points.count),
            let entry = shapes.entry(for: shape)
        else { return nil }
        return pack(as: entry)
    }

    /// The message, byte for byte as it was packed.
    public var bytes: [UInt8] {
        switch storage {
        case .plain(let bytes): return bytes
        case .packed(let entry, let numbers):
            var unpacker = MessageUnpacker(shape: entry.shape, numbers: numbers)
            return unpacker.unpack()
        }
    }

    /// What it occupies in memory, in bytes, without what it shares with other messages.
    public var byteCount: Int { occupied.count }
}
