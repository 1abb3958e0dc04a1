/// What every checkpoint begins with, and the ranges that hold in all of them.
enum CheckpointFormat {
    /// "LCP".
    static let mark: [UInt8] = [0x4c, 0x43, 0x50]
    static let version: UInt8 = 1
    /// Numbers of operations are below this, and so are indices, so that no sum of them overflows.
    static let numberBound: UInt64 = 1 << 53
}
