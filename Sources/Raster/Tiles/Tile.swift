/// 64×64 premultiplied pixels, row by row from the top; red in the lowest byte, then green, blue and alpha.
///
/// An array: copies share the pixels until one of them is written to. Empty (no memory at all) until painted.
struct Tile: Sendable, Equatable {
    static let side = 64
    static let pixelCount = side * side
    static let byteCount = pixelCount * MemoryLayout<UInt32>.stride

    private(set) var pixels: [UInt32] = []

    static let absent = Tile()

    /// Nothing was ever painted here.
    var isAbsent: Bool { pixels.isEmpty }

    /// Lends the pixels for writing; an absent tile becomes a transparent one, a shared one is copied first.
    @inline(__always)
    mutating func withPixels(_ body: (UnsafeMutablePointer<UInt32>) -> Void) {
        if pixels.isEmpty { pixels = [UInt32](repeating: 0, count: Self.pixelCount) }
        pixels.withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { body(base) }
        }
    }

    /// Tells tiles apart that do not share their memory; only for counting.
    var identity: UInt {
        pixels.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }
}
