import StrokeWire

/// A compact message at rest: about two bytes a point of handwriting, four where points have force and angles.
///
/// Nothing is lost: it comes back byte for byte. A message that the packing does not fit is kept as it came.
public struct PackedMessage: Sendable {
    private enum Storage: Sendable {
        case packed(MessageShape, numbers: [UInt8])
        case plain([UInt8])
    }

    private let storage: Storage

    /// Packs `bytes`, a message whose points lie as `points` says.
    init(_ bytes: [UInt8], points: PointArray, shapes: inout ShapeTable) {
        let packed = MessagePacker.pack(
            bytes, interior: points.interior, pointCount: points.count, shapes: &shapes)
        storage = packed.map { .packed($0.shape, numbers: $0.numbers) } ?? .plain(bytes)
    }

    /// The message, byte for byte as it was packed.
    public var bytes: [UInt8] {
        switch storage {
        case .plain(let bytes): return bytes
        case .packed(let shape, let numbers):
            var unpacker = MessageUnpacker(shape: shape, numbers: numbers)
            return unpacker.unpack()
        }
    }

    /// What it occupies in memory, in bytes, without what it shares with other messages.
    public var byteCount: Int {
        switch storage {
        case .plain(let bytes), .packed(_, numbers: let bytes): bytes.count
        }
    }
}
