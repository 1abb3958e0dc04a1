internal import StrokeWire

/// A picture of premultiplied RGBA pixels in tiles.
///
/// A value: copying it keeps a version at the cost of the tiles that change afterwards. Transparent until painted.
public struct Canvas: Sendable {
    /// The largest width and height in pixels.
    public static let largestSide = 16_384

    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// How many tiles lie side by side.
    let columns: Int
    /// The tiles, row by row from the top.
    var tiles: [Tile]

    /// Makes a transparent canvas. Both sides are brought into 1 … ``largestSide``.
    public init(width: Int, height: Int) {
        self.width = min(max(width, 1), Self.largestSide)
        self.height = min(max(height, 1), Self.largestSide)
        columns = (self.width + Tile.side - 1) / Tile.side
        let rows = (self.height + Tile.side - 1) / Tile.side
        tiles = [Tile](repeating: .absent, count: columns * rows)
    }

    /// How many tiles have been painted.
    public var tileCount: Int { tiles.reduce(0) { $0 + ($1.isAbsent ? 0 : 1) } }

    /// The memory of the painted tiles in bytes, shared with other versions or not.
    public var byteCount: Int { tileCount * Tile.byteCount }

    /// The premultiplied pixel at a place inside the canvas, as `0xAABBGGRR`; 0 outside.
    public func pixel(x: Int, y: Int) -> UInt32 {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return 0 }
        let tile = tiles[(y / Tile.side) * columns + x / Tile.side]
        return tile.isAbsent ? 0 : tile.pixels[(y % Tile.side) * Tile.side + x % Tile.side]
    }

    /// A number that is the same for the same pixels and differs for others, but for one case in 2⁶⁴: FNV-1a over the
    /// pixels that are not transparent, with the numbers of their tiles.
    public var fingerprint: UInt64 {
        var hash = FNV1a64()
        hash.add(UInt64(width))
        hash.add(UInt64(height))
        for (index, tile) in tiles.enumerated() where tile.pixels.contains(where: { $0 != 0 }) {
            hash.add(UInt64(index))
            for pixel in tile.pixels { hash.add(UInt64(pixel)) }
        }
        return hash.value
    }
}
