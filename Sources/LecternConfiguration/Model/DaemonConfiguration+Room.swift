public import StrokeWire
public import Whiteboard

extension DaemonConfiguration {
    /// The settings of every room.
    public var room: RoomConfiguration {
        RoomConfiguration(intake: intake, history: history, cohorts: cohorts, boardSize: boardSize, log: log)
    }

    /// What one room takes in; its colours are those of the palette, or any.
    public var intake: IntakeLimits {
        var intake = limits.intake
        intake.wire.colours = colourSpace
        return intake
    }

    /// What the colour of a message means.
    public var colourSpace: ColourSpace {
        switch colour {
        case .palette: .palette(count: palette.colours.count)
        case .rgb: .rgb
        }
    }

    /// The configured size of a room's board; nil takes it from the first draw.
    public var boardSize: BoardSize? {
        board.width > 0 && board.height > 0 ? BoardSize(width: board.width, height: board.height) : nil
    }
}
