/// An opaque colour, eight bits a channel.
public struct RGB: Sendable, Hashable {
    /// The red channel, 0 … 255.
    public var red: UInt8
    /// The green channel, 0 … 255.
    public var green: UInt8
    /// The blue channel, 0 … 255.
    public var blue: UInt8

    /// Makes a colour of its channels.
    @inlinable
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Makes a colour of `0xRRGGBB`; higher bits are ignored.
    @inlinable
    public init(_ value: UInt32) {
        self.init(
            red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
            blue: UInt8(truncatingIfNeeded: value))
    }

    /// The opaque pixel of this colour, as tiles keep it.
    var pixel: UInt32 { UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000 }
}
