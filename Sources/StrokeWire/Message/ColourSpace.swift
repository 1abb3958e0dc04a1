/// What the colour of a message means.
public enum ColourSpace: Sendable, Equatable {
    /// An index into a palette of `count` colours.
    case palette(count: Int)
    /// `0xRRGGBB`.
    case rgb

    /// Whether `colour` names a colour of this space.
    public func contains(_ colour: Int64) -> Bool {
        switch self {
        case .palette(let count): 0 <= colour && colour < Int64(count)
        case .rgb: 0 <= colour && colour <= 0xff_ffff
        }
    }
}
