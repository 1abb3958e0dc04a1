import StrokeWire

/// A compact message at rest.
public struct PackedMessage: Sendable {
    private let stored: [UInt8]

    /// Keeps `bytes`, a message that was decoded to `header`.
    init(_ bytes: [UInt8], header: StrokeMessage) {
        stored = bytes
    }

    /// The message, byte for byte as it was packed.
    public var bytes: [UInt8] { stored }

    /// What it occupies in memory, in bytes.
    public var byteCount: Int { stored.count }
}
