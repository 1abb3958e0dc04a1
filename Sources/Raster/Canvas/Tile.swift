/// 64×64 premultiplied pixels, row by row from the top; red in the lowest byte, then green, blue and alpha.
///
/// An array: copies share the pixels until one of them is written to. Empty, without memory, until painted.
struct Tile: Sendable, Equatable {
    static let side = 64
    static let pixelCount = side * side
    static let byteCount = pixelCount * MemoryLayout<UInt32>.stride

    private(set) var pixels: [UInt32] = []

    static let absent = Tile()

    /// Whether nothing was ever painted here.
    var isAbsent: Bool { pixels.isEmpty }

    /// Lends the pixels for writing; an absent tile becomes a transparent one, a shared one is copied first.
    @inline(__always)
    mutating func withPixels(_ body: (UnsafeMutablePointer<UInt32>) -> Void) {
        if pixels.isEmpty { pixels = [UInt32](repeating: 0, count: Self.pixelCount) }
        pixels.withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { body(base) }
        }
    }

    /// The address of the pixels, for counting tiles that share memory once.
    var identity: UInt { pixels.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
}

/// Some of the tiles of a canvas.
struct TileSet: Sendable {
    private var members: [Bool]
    private let columns: Int
    private(set) var count = 0

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
        for row in box.tileRows {
            for column in box.tileColumns where !members[row * columns + column] {
                members[row * columns + column] = true
                count += 1
            }
        }
    }

    /// Removes the tiles that another set does not have.
    mutating func formIntersection(_ other: TileSet) {
        for index in members.indices where members[index] && !other.members[index] {
            members[index] = false
            count -= 1
        }
    }

    /// The part of a box of pixels, which touches some of the tiles, that has all of these inside.
    func hull(_ box: PixelBox) -> PixelBox {
        var hull = PixelBox(minX: box.maxX, minY: box.maxY, maxX: box.minX, maxY: box.minY)
        for row in box.tileRows {
            for column in box.tileColumns where members[row * columns + column] {
                hull.minX = min(hull.minX, max(column * Tile.side, box.minX))
                hull.minY = min(hull.minY, max(row * Tile.side, box.minY))
                hull.maxX = max(hull.maxX, min((column + 1) * Tile.side, box.maxX))
                hull.maxY = max(hull.maxY, min((row + 1) * Tile.side, box.maxY))
            }
        }
        return hull
    }

    /// Whether a box of pixels touches any of the tiles.
    func touches(_ box: PixelBox) -> Bool {
        guard !box.isEmpty else { return false }
        for row in box.tileRows {
            for column in box.tileColumns where members[row * columns + column] {
                return true
            }
        }
        return false
    }
}

/// A rectangle of whole pixels; the upper bounds are not part of it.
struct PixelBox: Sendable, Equatable {
    var minX: Int
    var minY: Int
    var maxX: Int
    var maxY: Int

    var width: Int { maxX - minX }
    var height: Int { maxY - minY }
    var isEmpty: Bool { maxX <= minX || maxY <= minY }

    /// The rows and columns of tiles that it touches; not of an empty box.
    var tileRows: ClosedRange<Int> { minY / Tile.side...(maxY - 1) / Tile.side }
    var tileColumns: ClosedRange<Int> { minX / Tile.side...(maxX - 1) / Tile.side }
}

extension PixelBox {
    /// The pixels of a canvas whose upper left corners lie between two places.
    init(from low: SIMD2<Double>, to high: SIMD2<Double>, on canvas: Canvas) {
        func clamped(_ value: Double, _ limit: Int) -> Int { Int(max(0, min(Double(limit), value))) }
        self.init(
            minX: clamped(low.x, canvas.width), minY: clamped(low.y, canvas.height),
            maxX: clamped(high.x, canvas.width), maxY: clamped(high.y, canvas.height))
    }

    /// The box from the left border of a tile on.
    var fromTile: PixelBox { PixelBox(minX: minX / Tile.side * Tile.side, minY: minY, maxX: maxX, maxY: maxY) }

    /// The part of a rectangle that lies on a canvas.
    init(_ rectangle: PixelRectangle, on canvas: Canvas) {
        func clamped(_ value: Int, _ limit: Int) -> Int { max(0, min(limit, value)) }
        self.init(
            minX: clamped(rectangle.x, canvas.width), minY: clamped(rectangle.y, canvas.height),
            maxX: clamped(rectangle.x + rectangle.width, canvas.width),
            maxY: clamped(rectangle.y + rectangle.height, canvas.height))
    }
}
