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

    /// Blends four pixels; neither place has to be aligned.
    @inline(__always)
    func blend(over pixels: UnsafeMutableRawPointer, mask: UnsafeRawPointer) {
        let bytes = mask.loadUnaligned(as: SIMD4<UInt8>.self)
        let pairs = SIMD4<UInt32>(truncatingIfNeeded: bytes)
        let coverage = Self.words(pairs | pairs &<< 16)
        let rest = 255 &- coverage
        let below = pixels.loadUnaligned(as: SIMD4<UInt32>.self)
        let evenMix = Self.rounded(
            Self.words(below & Self.lowBytes) &* rest &+ even &* coverage)
        let oddMix = Self.rounded(
            Self.words(below &>> 8 & Self.lowBytes) &* rest &+ odd &* coverage)
        let mixed = unsafeBitCast(evenMix, to: SIMD4<UInt32>.self) | unsafeBitCast(oddMix, to: SIMD4<UInt32>.self) &<< 8
        pixels.storeBytes(of: mixed, as: SIMD4<UInt32>.self)
    }

    /// x / 255, rounded to nearest, for x up to 255².
    @inline(__always)
    private static func rounded(_ sum: SIMD8<UInt16>) -> SIMD8<UInt16> {
        let sum = sum &+ 128
        return (sum &+ (sum &>> 8)) &>> 8
    }

    @inline(__always)
    private static func words(_ pixels: SIMD4<UInt32>) -> SIMD8<UInt16> {
        unsafeBitCast(pixels, to: SIMD8<UInt16>.self)
    }
}
