public import StrokeWire

/// Width and height of a room's board, in board units.
public struct BoardSize: Sendable, Equatable {
    public var width: Double
    public var height: Double

    /// What a room has that nobody has given another: 1024 × 768.
    public static let standard = BoardSize(width: 1024, height: 768)

    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// The size that the first draw of a room fixes; what it leaves out is the standard's.
    init(firstDraw header: StrokeMessage) {
        self.init(
            width: header.boardWidth ?? Self.standard.width, height: header.boardHeight ?? Self.standard.height)
    }

    /// How a message's own units become units of this board: factors for x, for y and for the line width.
    public func scale(for header: StrokeMessage) -> (x: Double, y: Double, width: Double) {
        let x = width / (header.boardWidth ?? width)
        let y = height / (header.boardHeight ?? height)
        return (x, y, min(x, y))
    }
}
