import StrokeWire

/// One thing that the teacher of the demo lesson does.
enum DemoStep {
    /// A line of handwriting; see ``Handwriting`` for `^` and `_`.
    case write(String, at: Place, size: Double, Pen = .black)
    /// A straight line, as its two ends.
    case line(Place, Place, Pen)
    /// A straight line with a drawn head at its end.
    case arrow(Place, Place, Pen)
    /// A rectangle or an ellipse in a box, as the whole drag from corner to corner.
    case box(Element, Place, Place, Pen)
    /// A curve drawn in one go through the places.
    case curve([Place], Pen)
    /// An eraser drawn in one go through the places.
    case erase([Place], width: Double)
    /// So many times the button.
    case undo(Int)
    case redo(Int)
    case clear
    /// The teacher talks.
    case pause(milliseconds: Int64)

    /// What the teacher draws with: an index into the default palette and a width in board units.
    struct Pen {
        var colour: UInt32
        var width: Double

        static let black = Pen(colour: 0, width: 2.5)
        static let red = Pen(colour: 1, width: 3)
        static let blue = Pen(colour: 2, width: 3)
        static let green = Pen(colour: 3, width: 4)
        static let orange = Pen(colour: 4, width: 2)
        static let violet = Pen(colour: 5, width: 3.5)
        static let grey = Pen(colour: 7, width: 1.5)
    }
}
