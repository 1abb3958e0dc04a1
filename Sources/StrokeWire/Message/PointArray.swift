/// Where the points of a message lie in its bytes. The points themselves stay there, byte for byte as they were sent.
public struct PointArray: Sendable, Equatable {
    /// Number of points.
    public let count: Int
    /// Byte offsets in the message, between the brackets, without white space at either end.
    public let interior: Range<Int>

    /// No points at all.
    public static let empty = PointArray(count: 0, interior: 0..<0)

    public init(count: Int, interior: Range<Int>) {
        self.count = count
        self.interior = interior
    }
}
