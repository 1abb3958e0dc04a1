/// What shows through where nothing is painted.
public enum PNGBackground: Sendable, Hashable {
    /// Opaque white paper.
    case white
    /// Nothing: the image has straight alpha.
    case transparent

    /// The pixel as the image has it, from a premultiplied one; both as `0xAABBGGRR`.
    @inline(__always)
    func shown(_ pixel: UInt32) -> UInt32 {
        let alpha = pixel >> 24
        switch self {
        case .white:
            // Premultiplied colour never exceeds alpha, so that no channel overflows.
            return pixel &+ (255 &- alpha) &* 0x0101_0101
        case .transparent:
            guard alpha != 255, alpha != 0 else { return pixel }
            let half = alpha / 2
            let red = ((pixel & 255) &* 255 &+ half) / alpha
            let green = ((pixel >> 8 & 255) &* 255 &+ half) / alpha
            let blue = ((pixel >> 16 & 255) &* 255 &+ half) / alpha
            return red | green << 8 | blue << 16 | alpha << 24
        }
    }
}
