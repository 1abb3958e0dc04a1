internal import Foundation
import StrokeWire

/// Turns the values of a trace into points: units, directions, ranges.
struct SampleReader {
    /// Where a channel's values stand, and what they are multiplied by.
    private struct Column {
        let place: Int
        let factor: Double
    }

    private let x: Column
    private let y: Column
    /// Added where values count from the far edge of the writing surface.
    private let offset: SIMD2<Double>
    private let force: (column: Column, minimum: Double)?
    private let elevation: Column?
    private let azimuth: Column?
    private let tilt: (x: Column, y: Column)?
    private let time: Column?
    /// Milliseconds added to times that count from a timestamp.
    private let timeOrigin: Double
    /// Whether times count from the beginning of the trace, or of the ink.
    let isTimeRelative: Bool
    /// Whether the greatest force is known.
    let hasForceRange: Bool
    /// Board units of a unit of X.
    let unit: Double
    /// The writing surface; nil where it is unknown.
    let area: InkDocument.Size?

    init(_ format: TraceFormat, _ source: InkSource?, _ references: inout InkReferences) throws(InkMLError) {
        let channels = format.channels
        func channel(_ name: String) -> (place: Int, channel: Channel)? {
            guard let place = channels.firstIndex(where: { $0.name == name }) else { return nil }
            return (place, channels[place])
        }
        /// Units that nobody else knows count as those of the device.
        func column(_ name: String, _ quantity: Quantity, usual: String = "dev") -> Column? {
            guard let (place, channel) = channel(name) else { return nil }
            let factor =
                source?.resolutions[name]?.factor(of: quantity) ?? quantity.factor(of: channel.units ?? usual)
                ?? quantity.factor(of: usual) ?? 1
            return Column(place: place, factor: channel.isReversed ? -factor : factor)
        }
        guard let x = column("X", .length), let y = column("Y", .length) else {
            throw InkMLError(.missingChannel, line: channels.first?.line ?? 1, "The format has no channels X and Y.")
        }
        (self.x, self.y, unit) = (x, y, abs(x.factor))
        area = source?.area.flatMap { area in
            let factor = area.units.flatMap { $0 == "dev" ? nil : Quantity.length.factor(of: $0) }
            let (width, height) = (area.width * (factor ?? abs(x.factor)), area.height * (factor ?? abs(y.factor)))
            guard Self.sides ~= width, Self.sides ~= height else { return nil }
            return InkDocument.Size(width: width, height: height)
        }
        offset = SIMD2(x.factor < 0 ? area?.width ?? 0 : 0, y.factor < 0 ? area?.height ?? 0 : 0)
        elevation = column("OE", .angle, usual: "deg")
        azimuth = column("OA", .angle, usual: "deg")
        if elevation == nil, azimuth == nil, let x = column("OTx", .angle, usual: "deg"),
            let y = column("OTy", .angle, usual: "deg")
        {
            tilt = (x, y)
        } else {
            tilt = nil
        }
        time = column("T", .time, usual: "ms")
        if let reference = channel("T")?.channel.respectTo {
            timeOrigin = Double(try references.timestamp(reference, line: channels[time?.place ?? 0].line))
            isTimeRelative = false
        } else {
            timeOrigin = 0
            isTimeRelative = true
        }
        guard let (place, channel) = channel("F") else {
            (force, hasForceRange) = (nil, true)
            return
        }
        let minimum = channel.minimum ?? 0
        let maximum = channel.maximum ?? (channel.units == "%" ? 100 : minimum)
        hasForceRange = maximum > minimum && (maximum - minimum).isFinite
        force = (Column(place: place, factor: hasForceRange ? maximum - minimum : 1), minimum)
    }

    /// Sides of a writing surface in board units: ink can be scaled from any of them to a board.
    private static let sides = 1e-6...1e12

    /// The point of these values, its time counted from ``isTimeRelative``'s beginning; nil without X or Y, or where units
    /// make a value larger than any number. A force beyond a known range is cut off.
    func point(_ values: [Double]) -> StrokePoint? {
        func value(_ column: Column?) -> Double? {
            guard let column else { return nil }
            let value = values[column.place]
            return value.isNaN ? nil : value * column.factor
        }
        guard let px = value(x), let py = value(y) else { return nil }
        var point = StrokePoint(x: px + offset.x, y: py + offset.y)
        if let force, case let value = values[force.column.place], !value.isNaN {
            let share = (value - force.minimum) / force.column.factor
            point.force = hasForceRange ? min(max(share, 0), 1) : max(value, 0)
        }
        point.altitude = value(elevation)
        point.azimuth = value(azimuth)
        if let tilt, let alongX = value(tilt.x), let alongY = value(tilt.y) {
            (point.altitude, point.azimuth) = Self.angles(alongX, alongY)
        }
        point.milliseconds = value(time).map { $0 + timeOrigin }
        guard point.x.isFinite, point.y.isFinite, point.altitude?.isFinite ?? true, point.azimuth?.isFinite ?? true,
            point.milliseconds?.isFinite ?? true
        else { return nil }
        return point
    }

    /// Altitude and azimuth of a pen that leans by these angles along both axes (W3C Pointer Events 3, tilt2spherical).
    private static func angles(_ x: Double, _ y: Double) -> (altitude: Double, azimuth: Double) {
        let slope = SIMD2(tan(x), tan(y))
        let length = (slope.x * slope.x + slope.y * slope.y).squareRoot()
        return (atan2(1, length), length > 0 ? atan2(slope.y, slope.x) : 0)
    }
}

/// Where the times of a trace's points count from.
struct TraceClock {
    /// Time of the stroke's beginning; nil while it is unknown.
    private(set) var start: Int64?
    private let hasNoTime: Bool
    /// Whether values count from the timestamp, for lack of an offset.
    private let hasNoOffset: Bool
    /// Milliseconds from 1970, or from the video's beginning, to the value 0; nil for a trace that has no time.
    private var origin: Int64

    /// - Parameters:
    ///   - offset: of the trace; nil where it has none.
    ///   - timestamp: of the context, from which the offset counts.
    ///   - isRelative: whether values count from the beginning of the trace, or, without an offset, from the timestamp.
    ///   - hasNoTime: whether the stroke has no time; values count from its beginning.
    init(offset: Int64?, timestamp: Int64?, isRelative: Bool, hasNoTime: Bool) {
        let begin = offset.map { $0 &+ (timestamp ?? 0) }
        self.hasNoTime = hasNoTime
        start = hasNoTime ? nil : begin
        origin = isRelative ? begin ?? timestamp ?? 0 : 0
        hasNoOffset = isRelative && begin == nil
    }

    /// Goes on with a stroke that has begun before.
    /// - Parameter hasOffset: whether the trace that began it has an offset: values of one without an offset go on counting
    ///   from there.
    mutating func begin(at time: Int64?, hasOffset: Bool) {
        start = time
        if let time, hasOffset, hasNoOffset { origin = time }
    }

    /// Milliseconds of a value since the beginning of the stroke, which the first value decides where nothing else does.
    mutating func milliseconds(_ value: Double) -> Double {
        guard !hasNoTime else { return value }
        guard let start else {
            guard let whole = Int64(exactly: value.rounded(.down)) else { return value }
            start = origin &+ whole
            return value - value.rounded(.down)
        }
        return value + Double(origin &- start)
    }
}
