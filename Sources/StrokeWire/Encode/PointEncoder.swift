/// Writes points, for clients that draw.
public enum PointEncoder {
    /// The points as they stand between the brackets of `d`, every number with the fewest digits that read back as
    /// the same value.
    public static func interior(of points: [StrokePoint]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(points.count * 24)
        for point in points {
            bytes.append(bytes.isEmpty ? "{\"x\":" : ",{\"x\":")
            bytes.append(number: point.x)
            bytes.append(",\"y\":")
            bytes.append(number: point.y)
            append(",\"f\":", point.force, to: &bytes)
            append(",\"i\":", point.altitude, to: &bytes)
            append(",\"z\":", point.azimuth, to: &bytes)
            append(",\"m\":", point.milliseconds, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        return bytes
    }

    private static func append(_ key: StaticString, _ value: Double?, to bytes: inout [UInt8]) {
        guard let value else { return }
        bytes.append(key)
        bytes.append(number: value)
    }
}
