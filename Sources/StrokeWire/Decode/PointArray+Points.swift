extension PointArray {
    /// Hands out the points one by one, without storing them. Force is clamped to 0 … 1.
    /// - Parameters:
    ///   - bytes: the message that this array was decoded from. Of any other text the points are handed out that can
    ///     be read up to the first fault.
    ///   - body: called with each point, first to last, before this returns.
    public func forEachPoint(of bytes: [UInt8], _ body: (StrokePoint) -> Void) {
        let text = bytes.span.extracting(first: min(interior.upperBound, bytes.count))
        // The array's own bracket is outside: the scanner starts at its first element.
        var scanner = JSONScanner(at: interior.lowerBound, depth: 2, maximumDepth: JSONScanner.messageDepth)
        var isFollowed = interior.lowerBound < text.count
        while isFollowed {
            if let point = scanner.takePlainPoint(text) {
                body(point)
            } else {
                guard let reading = try? scanner.takePoint(text), let point = StrokePoint(reading) else { return }
                body(point)
            }
            scanner.skipWhiteSpace(text)
            isFollowed = scanner.take(UInt8(ascii: ","), text)
            scanner.skipWhiteSpace(text)
        }
    }

    /// All points.
    /// - Parameter bytes: the message that this array was decoded from.
    public func decodePoints(of bytes: [UInt8]) -> [StrokePoint] {
        var points: [StrokePoint] = []
        // Not more than the bytes can hold, whatever a count made by hand says.
        points.reserveCapacity(max(0, min(count, bytes.count / Self.leastPointBytes + 1)))
        forEachPoint(of: bytes) { points.append($0) }
        return points
    }

    /// `{"x":1,"y":1},`
    static var leastPointBytes: Int { 14 }
}

extension StrokeMessage {
    /// All points of the message.
    /// - Parameter bytes: those that this message was decoded from.
    public func decodePoints(of bytes: [UInt8]) -> [StrokePoint] { points.decodePoints(of: bytes) }
}

extension StrokePoint {
    /// - Returns: nil where the point is not as it has to be.
    init?(_ reading: PointReading) {
        guard reading.problem == .none, let x = reading.x.value, let y = reading.y.value else { return nil }
        self.init(
            x: x, y: y, force: reading.force.value.map(Self.clamped(force:)), altitude: reading.altitude.value,
            azimuth: reading.azimuth.value, milliseconds: reading.milliseconds.value)
    }

    /// What is beyond the range of forces counts as its border; not a number stays that.
    @inline(__always)
    static func clamped(force: Double) -> Double { min(max(force, 0), 1) }
}

extension PointValue {
    fileprivate var value: Double? {
        if case .number(let number) = self { number } else { nil }
    }
}
