/// FNV-1a, 64 bit (Fowler, Noll, Vo): tells what differs or was damaged; no protection against malice.
package struct FNV1a64: Sendable {
    /// The hash of what has been added.
    package private(set) var value: UInt64

    /// Begins with nothing, or goes on from a hash.
    package init(_ value: UInt64 = 0xcbf2_9ce4_8422_2325) {
        self.value = value
    }

    /// Adds a byte, or a whole word as if it were one.
    @inline(__always)
    package mutating func add(_ byte: UInt64) {
        value = (value ^ byte) &* 0x0000_0100_0000_01b3
    }

    /// The hash of some bytes.
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = FNV1a64()
        // Called from other modules, too: walking any sequence would take many times as long there.
        let isAdded: Void? = bytes.withContiguousStorageIfAvailable { for byte in $0 { hash.add(UInt64(byte)) } }
        if isAdded == nil {
            for byte in bytes { hash.add(UInt64(byte)) }
        }
        return hash.value
    }

    /// A hash of some bytes of which all bits are well mixed: the finalizer of SplitMix64, for FNV alone hardly mixes its
    /// last bytes.
    package static func mixed(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = hash(bytes)
        hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
        return hash ^ (hash >> 31)
    }

    /// A hash as 16 lower-case hexadecimal digits.
    package static func digits(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
