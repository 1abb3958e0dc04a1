/// Some of the tiles of a canvas.
struct TileSet: Sendable {
    private var members: [Bool]
    private let columns: Int
    private(set) var count = 0

    /// No tile of the given canvas.
    init(of canvas: Canvas) {
        members = [Bool](repeating: false, count: canvas.tiles.count)
        columns = canvas.columns
    }

    /// The numbers of the tiles, row by row.
    var indices: some Sequence<Int> { members.indices.lazy.filter { members[$0] } }

    @inline(__always)
    func contains(_ index: Int) -> Bool { members[index] }

    /// Adds the tiles that a box of pixels touches; the box lies on the canvas.
    mutating func insert(_ box: PixelBox) {
        guard !box.isEmpty else { return }
        for row in box.minY / Tile.side...(box.maxY - 1) / Tile.side {
            for column in box.minX / Tile.side...(box.maxX - 1) / Tile.side where !members[row * columns + column] {
                members[row * columns + column] = true
                count += 1
            }
        }
    }

    /// Whether a box of pixels touches any of the tiles.
    func touches(_ box: PixelBox) -> Bool {
        guard !box.isEmpty else { return false }
        for row in box.minY / Tile.side...(box.maxY - 1) / Tile.side {
            for column in box.minX / Tile.side...(box.maxX - 1) / Tile.side where members[row * columns + column] {
                return true
            }
        }
        return false
    }
}
