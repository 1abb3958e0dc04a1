/// The checksum of zlib's format (RFC 1950), a run of pixels at a time.
struct Adler32 {
    private static let modulus: UInt64 = 65_521

    private var low: UInt64 = 1
    private var high: UInt64 = 0

    var value: UInt32 { UInt32(high % Self.modulus) << 16 | UInt32(low % Self.modulus) }

    /// Adds the bytes of some runs.
    mutating func add(_ runs: [PixelRun], pixelBytes: Int) {
        for run in runs {
            guard run.count > 0 else {
                // Once a row is often enough: a row has at most 2¹⁶ bytes.
                low %= Self.modulus
                high = (high &+ low) % Self.modulus
                continue
            }
            add(run, pixelBytes: UInt64(pixelBytes))
        }
    }

    /// In closed form, so that a run of any length costs the same: every byte adds itself to the low sum, and to the
    /// high one as often as there are bytes from it on.
    @inline(__always)
    private mutating func add(_ run: PixelRun, pixelBytes: UInt64) {
        var sum: UInt64 = 0
        var staggered: UInt64 = 0
        for place in 0..<pixelBytes {
            let byte = UInt64(run.value >> UInt32(8 &* place) & 255)
            sum &+= byte
            staggered &+= byte &* place
        }
        let count = UInt64(run.count)
        high &+= count &* pixelBytes &* low &+ sum &* pixelBytes &* (count &* (count &+ 1) / 2) &- staggered &* count
        low &+= count &* sum
    }
}
