/// Puts a colour over pixels, as far as a mask covers them.
///
/// Over an opaque source and for removing paint (a source of 0) the rule is the same for all four premultiplied
/// channels: `destination + (source − destination) · coverage`, rounded to nearest.
struct PixelBlend {
    private let source: UInt32
    /// The channels of two source pixels.
    private let channels: SIMD8<UInt16>

    init(source: UInt32) {
        self.source = source
        let pair = SIMD2<UInt32>(repeating: source)
        channels = SIMD8<UInt16>(truncatingIfNeeded: unsafeBitCast(pair, to: SIMD8<UInt8>.self))
    }

    /// Blends `count` pixels.
    @inline(__always)
    func blend(over pixels: UnsafeMutablePointer<UInt32>, mask: UnsafePointer<UInt8>, count: Int) {
        var x = 0
        while x &+ 4 <= count {
            let four = UnsafeRawPointer(mask + x).loadUnaligned(as: UInt32.self)
            if four == 0xFFFF_FFFF {
                UnsafeMutableRawPointer(pixels + x).storeBytes(of: SIMD4(repeating: source), as: SIMD4<UInt32>.self)
            } else if four != 0 {
                blendTwo(pixels + x, four & 0xFFFF)
                blendTwo(pixels + x + 2, four >> 16)
            }
            x &+= 4
        }
        while x < count {
            var pair = SIMD2<UInt32>(pixels[x], 0)
            withUnsafeMutablePointer(to: &pair) { pair in
                pair.withMemoryRebound(to: UInt32.self, capacity: 2) { blendTwo($0, UInt32(mask[x])) }
            }
            pixels[x] = pair.x
            x &+= 1
        }
    }

    /// Two pixels; the coverages are the lowest two bytes.
    @inline(__always)
    private func blendTwo(_ pixels: UnsafeMutablePointer<UInt32>, _ coverages: UInt32) {
        let place = UnsafeMutableRawPointer(pixels)
        let below = SIMD8<UInt16>(truncatingIfNeeded: place.loadUnaligned(as: SIMD8<UInt8>.self))
        let spread = SIMD2(UInt64(coverages & 255), UInt64(coverages >> 8)) &* 0x0001_0001_0001_0001
        let coverage = unsafeBitCast(spread, to: SIMD8<UInt16>.self)
        // x / 255, rounded to nearest, for x up to 255².
        let sum = below &* (255 &- coverage) &+ channels &* coverage &+ 128
        let mixed = (sum &+ (sum &>> 8)) &>> 8
        place.storeBytes(of: SIMD8<UInt8>(truncatingIfNeeded: mixed), as: SIMD8<UInt8>.self)
    }
}
