/// Numbers by pairs of whole numbers: a hash table with open addressing for the inner loops of arrangements, of which
/// Swift's dictionary took a quarter of the time.
///
/// The pairs come from the places of points, which clients choose. So they are mixed with factors that are other ones in each
/// process (multiply–shift: Dietzfelbinger and others, 1997, A reliable randomized algorithm for the closest-pair problem):
/// nobody can find many points that get in each other's way. What is found does not depend on them.
///
/// O(1) a key; 24 bytes for each place, a quarter to half of which are used.
struct PairTable {
    private static let absent = -1
    private static let factors = (odd(of: 1), odd(of: 2), odd(of: 3))

    /// A number that is another one in each process, as Swift's hashes are.
    private static func odd(of index: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(index)
        return UInt64(bitPattern: Int64(hasher.finalize())) | 1
    }

    private let factors = Self.factors
    private var keys: [SIMD2<Int>]
    private var values: [Int]
    private var count = 0
    private let shift: UInt64

    /// Makes room for some keys.
    init(capacity: Int) {
        var bits: UInt64 = 4
        while 1 << bits < 2 * capacity { bits += 1 }
        shift = 64 - bits
        keys = [SIMD2<Int>](repeating: .zero, count: 1 << bits)
        values = [Int](repeating: Self.absent, count: 1 << bits)
    }

    /// The value of a key, at least 0; −1 for none. A new value has to be at least 0.
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
        let sum =
            UInt64(bitPattern: Int64(key.x)) &* factors.0 &+ UInt64(bitPattern: Int64(key.y)) &* factors.1
        var place = Int(truncatingIfNeeded: ((sum ^ (sum &>> 31)) &* factors.2) &>> shift)
        while values[place] >= 0, keys[place] != key { place = (place &+ 1) & (values.count &- 1) }
        return place
    }

    private mutating func grow() {
        var larger = PairTable(capacity: values.count)
        for (key, value) in zip(keys, values) where value >= 0 { larger[key] = value }
        self = larger
    }
}
