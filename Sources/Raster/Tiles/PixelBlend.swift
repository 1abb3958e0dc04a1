internal import CLanes

/// Puts a colour over pixels, as far as a mask covers them.
///
/// Over an opaque source and for removing paint (a source of 0) the rule is the same for all four premultiplied
/// channels: `destination + (source − destination) · coverage`, rounded to nearest.
struct PixelBlend {
    /// The red and blue channels of the source, and the green and alpha ones, of four pixels.
    private let even: SIMD8<UInt16>
    private let odd: SIMD8<UInt16>

    private static let lowBytes: UInt32 = 0x00FF_00FF

    init(source: UInt32) {
        even = Self.words(SIMD4(repeating: source & Self.lowBytes))
        odd = Self.words(SIMD4(repeating: source >> 8 & Self.lowBytes))
    }

    /// Blends four pixels; the place need not be aligned.
    @inline(__always)
    func blend(over pixels: UnsafeMutableRawPointer, mask: SIMD4<UInt8>) {
        let coverage = lanes_twice(mask)
        let rest = coverage ^ 255
        let below = pixels.loadUnaligned(as: SIMD4<UInt32>.self)
        let evenMix = lanes_over_255(Self.words(below & Self.lowBytes) &* rest &+ even &* coverage)
        let oddMix = lanes_over_255(Self.words(below &>> 8 & Self.lowBytes) &* rest &+ odd &* coverage)
        let mixed = unsafeBitCast(evenMix, to: SIMD4<UInt32>.self) | unsafeBitCast(oddMix, to: SIMD4<UInt32>.self) &<< 8
        pixels.storeBytes(of: mixed, as: SIMD4<UInt32>.self)
    }

    @inline(__always)
    private static func words(_ pixels: SIMD4<UInt32>) -> SIMD8<UInt16> {
        unsafeBitCast(pixels, to: SIMD8<UInt16>.self)
    }
}
