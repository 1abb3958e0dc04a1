/// A member of a point as it was found.
enum PointValue {
    case absent
    /// There, but no number.
    case other
    /// May be infinite.
    case number(Double)
}

/// The members of one point, each the last of its key.
struct PointReading {
    var x = PointValue.absent
    var y = PointValue.absent
    var force = PointValue.absent
    var altitude = PointValue.absent
    var azimuth = PointValue.absent
    var milliseconds = PointValue.absent

    /// Whether `key` is one of the members.
    @inline(__always)
    static func isMember(_ key: UInt8) -> Bool {
        switch key {
        case UInt8(ascii: "x"), UInt8(ascii: "y"), UInt8(ascii: "f"), UInt8(ascii: "i"), UInt8(ascii: "z"),
            UInt8(ascii: "m"):
            true
        default: false
        }
    }

    @inline(__always)
    mutating func set(_ key: UInt8, _ value: PointValue) {
        switch key {
        case UInt8(ascii: "x"): x = value
        case UInt8(ascii: "y"): y = value
        case UInt8(ascii: "f"): force = value
        case UInt8(ascii: "i"): altitude = value
        case UInt8(ascii: "z"): azimuth = value
        case UInt8(ascii: "m"): milliseconds = value
        default: break
        }
    }
}
