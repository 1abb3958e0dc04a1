/// FNV-1a, 32 bit (Fowler, Noll, Vo).
public enum FNV1a32 {
    public static func hash(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}
