/// Puts a colour over pixels, as far as a mask covers them.
///
/// Over an opaque source and for removing paint (a source of 0) the rule is the same for all four premultiplied
/// channels: `destination + (source − destination) · coverage`, rounded to nearest.
enum PixelBlend {
    /// Blends `count` pixels.
    @inline(__always)
    static func blend(
        _ source: UInt32, over pixels: UnsafeMutablePointer<UInt32>, mask: UnsafePointer<UInt8>, count: Int
    ) {
        var x = 0
        while x &+ 4 <= count {
            let four = UnsafeRawPointer(mask + x).loadUnaligned(as: UInt32.self)
            if four == 0xFFFF_FFFF {
                UnsafeMutableRawPointer(pixels + x).storeBytes(of: SIMD4(repeating: source), as: SIMD4<UInt32>.self)
            } else if four != 0 {
                blendFour(source, pixels + x, mask + x)
            }
            x &+= 4
        }
        while x < count {
            let coverage = UInt32(mask[x])
            if coverage != 0 { pixels[x] = mix(pixels[x], source, coverage) }
            x &+= 1
        }
    }

    @inline(__always)
    private static func blendFour(
        _ source: UInt32, _ pixels: UnsafeMutablePointer<UInt32>, _ mask: UnsafePointer<UInt8>
    ) {
        for lane in 0..<4 {
            let coverage = UInt32(mask[lane])
            if coverage != 0 { pixels[lane] = mix(pixels[lane], source, coverage) }
        }
    }

    /// One pixel, two channels at a time in the halves of a word.
    @inline(__always)
    static func mix(_ destination: UInt32, _ source: UInt32, _ coverage: UInt32) -> UInt32 {
        let rest = 255 &- coverage
        let even = divided((destination & 0x00FF_00FF) &* rest &+ (source & 0x00FF_00FF) &* coverage)
        let odd = divided(((destination >> 8) & 0x00FF_00FF) &* rest &+ ((source >> 8) & 0x00FF_00FF) &* coverage)
        return even | odd << 8
    }

    /// Both halves divided by 255, rounded to nearest.
    @inline(__always)
    private static func divided(_ halves: UInt32) -> UInt32 {
        let sum = halves &+ 0x0080_0080
        return ((sum &+ ((sum >> 8) & 0x00FF_00FF)) >> 8) & 0x00FF_00FF
    }
}
