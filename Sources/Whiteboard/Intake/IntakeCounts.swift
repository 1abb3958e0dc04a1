public import StrokeWire

/// How often what happened at the intake of a room.
public struct IntakeCounts: Sendable, Equatable {
    public var messages = 0
    public var repeats = 0
    /// Gaps that made an operation wait.
    public var gaps = 0
    /// Ranges of numbers that were given up.
    public var gaveUp = 0
    /// Strokes that were drawn after they had been given up.
    public var late = 0
    public private(set) var rejected: [RejectionCode: Int] = [:]

    public init() {}

    mutating func reject(_ code: RejectionCode) {
        rejected[code, default: 0] += 1
    }

    public static func += (left: inout IntakeCounts, right: IntakeCounts) {
        left.messages += right.messages
        left.repeats += right.repeats
        left.gaps += right.gaps
        left.gaveUp += right.gaveUp
        left.late += right.late
        left.rejected.merge(right.rejected, uniquingKeysWith: +)
    }
}
