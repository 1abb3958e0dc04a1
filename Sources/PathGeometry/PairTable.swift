/// Numbers by pairs of whole numbers: a hash table with open addressing, for the inner loops of arrangements, where Swift's
/// dictionary spends most of its time on hashes that nobody can guess. Clients choose the keys by their coordinates, rounded
/// to the tolerance, but not how far they are apart in memory: keys are mixed by multiplication (Fibonacci hashing).
///
/// O(1) a key; 24 bytes each, and as much again until half full.
struct PairTable {
    private static let absent: Int = -1

    private var keys: [SIMD2<Int>]
    private var values: [Int]
    private var count = 0
    private var shift: UInt64

    /// Makes room for some keys.
    init(capacity: Int) {
        var bits: UInt64 = 4
        while 1 << bits < 2 * capacity { bits += 1 }
        shift = 64 - bits
        keys = [SIMD2<Int>](repeating: .zero, count: 1 << bits)
        values = [Int](repeating: Self.absent, count: 1 << bits)
    }

    /// The value of a key, at least 0; −1 for none. A new value must not be −1.
    subscript(key: SIMD2<Int>) -> Int {
        @inline(__always) get { values[place(of: key)] }
        set {
            let place = place(of: key)
            if values[place] < 0 {
                keys[place] = key
                count += 1
            }
            values[place] = newValue
            if 2 * count > values.count { grow() }
        }
    }

    /// Where a key is, or would be.
    @inline(__always)
    private func place(of key: SIMD2<Int>) -> Int {
        let mixed =
            UInt64(bitPattern: Int64(key.x)) &* 0x9E37_79B9_7F4A_7C15
            ^ UInt64(bitPattern: Int64(key.y)) &* 0xC2B2_AE3D_27D4_EB4F
        var place = Int(truncatingIfNeeded: ((mixed ^ (mixed &>> 29)) &* 0xBF58_476D_1CE4_E5B9) &>> shift)
        while values[place] >= 0, keys[place] != key { place = (place &+ 1) & (values.count &- 1) }
        return place
    }

    private mutating func grow() {
        var larger = PairTable(capacity: values.count)
        for (key, value) in zip(keys, values) where value >= 0 { larger[key] = value }
        self = larger
    }
}
