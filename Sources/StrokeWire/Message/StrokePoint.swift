/// One point of a stroke and the state of the pen there.
///
/// Coordinates are in the sender's board units, origin top left, y down. An absent value is stored as NaN: a point
/// takes 48 bytes and no flags.
@frozen
public struct StrokePoint: Sendable {
    /// −65536 … 65536.
    public var x: Double
    /// −65536 … 65536.
    public var y: Double
    @usableFromInline var storedForce: Double
    @usableFromInline var storedAltitude: Double
    @usableFromInline var storedAzimuth: Double
    @usableFromInline var storedMilliseconds: Double

    @inlinable
    public init(
        x: Double, y: Double, force: Double? = nil, altitude: Double? = nil, azimuth: Double? = nil,
        milliseconds: Double? = nil
    ) {
        (self.x, self.y) = (x, y)
        storedForce = force ?? .nan
        storedAltitude = altitude ?? .nan
        storedAzimuth = azimuth ?? .nan
        storedMilliseconds = milliseconds ?? .nan
    }

    /// Force, 0 … 1. `f` on the wire.
    @inlinable public var force: Double? {
        get { Self.present(storedForce) }
        set { storedForce = newValue ?? .nan }
    }

    /// Altitude angle in radians, π/2 for an upright pen. `i`.
    @inlinable public var altitude: Double? {
        get { Self.present(storedAltitude) }
        set { storedAltitude = newValue ?? .nan }
    }

    /// Azimuth in radians. `z`.
    @inlinable public var azimuth: Double? {
        get { Self.present(storedAzimuth) }
        set { storedAzimuth = newValue ?? .nan }
    }

    /// Milliseconds since the message's time. `m`.
    @inlinable public var milliseconds: Double? {
        get { Self.present(storedMilliseconds) }
        set { storedMilliseconds = newValue ?? .nan }
    }

    @inlinable
    static func present(_ stored: Double) -> Double? { stored.isNaN ? nil : stored }
}

extension StrokePoint: Equatable {
    /// Absent equals absent, although NaN does not equal NaN.
    @inlinable
    public static func == (a: StrokePoint, b: StrokePoint) -> Bool {
        a.x == b.x && a.y == b.y && a.force == b.force && a.altitude == b.altitude && a.azimuth == b.azimuth
            && a.milliseconds == b.milliseconds
    }
}

/// Place of a message's points in its bytes. The points stay there, byte for byte as sent.
public struct PointArray: Sendable, Equatable {
    /// Number of points.
    public let count: Int
    /// Byte offsets in the message, between the brackets, without white space at either end.
    public let interior: Range<Int>

    /// No points.
    public static let empty = PointArray(count: 0, interior: 0..<0)

    public init(count: Int, interior: Range<Int>) { (self.count, self.interior) = (count, interior) }
}
