public import StrokeWire

/// What a pen or a finger tells at once: the samples since the last event, and where it will probably go.
///
/// Made from `UITouch` in this way: `samples` are the coalesced touches, `predicted` the predicted ones.
public struct TouchEvent: Sendable, Equatable {
    /// The part of a touch that an event belongs to.
    public enum Phase: Sendable, Equatable {
        /// The first samples.
        case began
        case moved
        /// The last samples.
        case ended
        /// The stroke is given up, as with a palm: nothing of it stays.
        case cancelled
    }

    public var phase: Phase
    /// In the order in which they were taken.
    public var samples: [TouchSample]
    /// Points that follow the last sample. The next event takes them back.
    public var predicted: [StrokePoint]

    public init(phase: Phase, samples: [TouchSample], predicted: [StrokePoint] = []) {
        self.phase = phase
        self.samples = samples
        self.predicted = predicted
    }
}

/// One sample of a touch.
public struct TouchSample: Sendable, Equatable {
    public var point: StrokePoint
    /// Values that are estimated now and will come late.
    public var expected: TouchProperties
    /// Names the sample in ``LateTouchValues``: `estimationUpdateIndex`. nil where nothing will come late.
    public var estimationIndex: Int64?

    public init(_ point: StrokePoint, expected: TouchProperties = [], estimationIndex: Int64? = nil) {
        self.point = point
        self.expected = expected
        self.estimationIndex = estimationIndex
    }
}

/// Better values of a sample that came before.
public struct LateTouchValues: Sendable, Equatable {
    /// Names the sample.
    public var estimationIndex: Int64
    /// The values. Those of other properties than the sample expects are not looked at; an absent one leaves what is there.
    public var point: StrokePoint
    /// Values of the sample that will come later still.
    public var stillExpected: TouchProperties

    public init(estimationIndex: Int64, point: StrokePoint, stillExpected: TouchProperties = []) {
        self.estimationIndex = estimationIndex
        self.point = point
        self.stillExpected = stillExpected
    }
}

/// Values of a touch that may be estimated; the bits are those of `UITouch.Properties`.
public struct TouchProperties: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let force = TouchProperties(rawValue: 1)
    public static let azimuth = TouchProperties(rawValue: 2)
    public static let altitude = TouchProperties(rawValue: 4)
    public static let location = TouchProperties(rawValue: 8)
}

extension StrokeModel {
    /// Takes a touch event: its samples become confirmed points, and its predicted points replace those of the last event.
    ///
    /// Late values come separately, with ``receive(_:)-(LateTouchValues)``; they leave the predicted points as they are.
    public mutating func receive(_ event: TouchEvent) -> Outcome {
        guard phase == .open else { return .closed }
        switch event.phase {
        case .cancelled: return cancel()
        case .began: guard confirmedCount == 0 else { return .repeated }
        case .moved, .ended: break
        }
        let first = confirmedCount
        for (offset, sample) in event.samples.enumerated() {
            guard let index = sample.estimationIndex, !sample.expected.isEmpty else { continue }
            expect(sample.expected, of: first + offset, index: index)
        }
        let isLast = event.phase == .ended
        let changed = replace(
            from: first, by: event.samples.map { $0.point }, predicted: isLast ? [] : event.predicted)
        if isLast { end() }
        return .taken(firstChanged: changed)
    }
}

extension StrokePoint {
    /// Another point with the values that this one has of some properties.
    func merged(into other: StrokePoint, _ properties: TouchProperties) -> StrokePoint {
        var point = other
        if properties.contains(.location) {
            point.x = x
            point.y = y
        }
        if properties.contains(.force), let force { point.force = force }
        if properties.contains(.altitude), let altitude { point.altitude = altitude }
        if properties.contains(.azimuth), let azimuth { point.azimuth = azimuth }
        return point
    }
}
