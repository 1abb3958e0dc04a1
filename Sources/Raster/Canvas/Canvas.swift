internal import StrokeWire

/// A picture of premultiplied RGBA pixels in tiles, transparent until painted.
///
/// A value: a copy is a version that costs the memory of the tiles that change afterwards.
public struct Canvas: Sendable {
    /// The largest width and height in pixels.
    public static let largestSide = 16_384

    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The number of tiles side by side.
    let columns: Int
    /// The tiles, row by row from the top.
    var tiles: [Tile]

    /// Makes a transparent canvas. Width and height are clamped to 1 … ``largestSide``.
    public init(width: Int, height: Int) {
        self.width = min(max(width, 1), Self.largestSide)
        self.height = min(max(height, 1), Self.largestSide)
        columns = (self.width + Tile.side - 1) / Tile.side
        let rows = (self.height + Tile.side - 1) / Tile.side
        tiles = [Tile](repeating: .absent, count: columns * rows)
    }

    /// The number of painted tiles.
    public var tileCount: Int { tiles.reduce(0) { $0 + ($1.isAbsent ? 0 : 1) } }

    /// The memory of the painted tiles in bytes, including those that other versions share.
    public var byteCount: Int { tileCount * Tile.byteCount }

    /// The memory in bytes of the painted tiles that this canvas does not share with `other`, tile by tile.
    public func unsharedByteCount(with other: Canvas?) -> Int {
        guard let other, other.tiles.count == tiles.count else { return byteCount }
        var count = 0
        for (mine, theirs) in zip(tiles, other.tiles) where !mine.isAbsent && mine.identity != theirs.identity {
            count += 1
        }
        return count * Tile.byteCount
    }

    /// The premultiplied pixel at a place inside the canvas, as `0xAABBGGRR`; 0 outside.
    public func pixel(x: Int, y: Int) -> UInt32 {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return 0 }
        let tile = tiles[(y / Tile.side) * columns + x / Tile.side]
        return tile.isAbsent ? 0 : tile.pixels[(y % Tile.side) * Tile.side + x % Tile.side]
    }

    /// A hash of the pixels, the same on every machine: FNV-1a over the tiles that are not transparent and their numbers.
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

/// The size of a canvas that shows all of a board.
public struct CanvasSize: Sendable, Equatable {
    /// The width in pixels, 1 … ``Canvas/largestSide``.
    public let width: Int
    /// The height in pixels, 1 … ``Canvas/largestSide``.
    public let height: Int
    /// Pixels a board unit, above 0.
    public let scale: Double
    /// The sides of the board in its units.
    public let boardWidth, boardHeight: Double

    /// The size at `scale` pixels a board unit; a smaller scale where a side would be longer than ``Canvas/largestSide`` or
    /// where there would be more than `mostPixels`, not counting one row and one column.
    ///
    /// All numbers are above 0.
    public init(boardWidth: Double, boardHeight: Double, scale: Double, mostPixels: Int = .max) {
        let longest = Double(Canvas.largestSide)
        let fitting = min(longest / boardWidth, longest / boardHeight)
        let affordable = (Double(mostPixels) / boardWidth).squareRoot() / boardHeight.squareRoot()
        self.scale = min(scale, fitting, affordable)
        (self.boardWidth, self.boardHeight) = (boardWidth, boardHeight)
        width = Self.side(boardWidth * self.scale)
        height = Self.side(boardHeight * self.scale)
    }

    /// The size with exactly the given width, 1 … ``Canvas/largestSide``; narrower only where the height would be above
    /// ``Canvas/largestSide``.
    public init(boardWidth: Double, boardHeight: Double, width: Int) {
        let longest = Double(Canvas.largestSide)
        let width = min(max(width, 1), Canvas.largestSide)
        scale = min(Double(width) / boardWidth, longest / boardHeight)
        (self.boardWidth, self.boardHeight) = (boardWidth, boardHeight)
        self.width = boardHeight * (Double(width) / boardWidth) <= longest ? width : Self.side(boardWidth * scale)
        height = Self.side(boardHeight * scale)
    }

    /// A length in pixels, rounded up except for rounding errors.
    package static func side(_ length: Double) -> Int {
        Int(min(max((length - length * 1e-12).rounded(.up), 1), Double(Canvas.largestSide)))
    }
}
