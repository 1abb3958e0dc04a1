import StrokeWire

// Messages of an author. `more` is inserted as it is, its comma first.

/// A whole stroke of `points` points from (`x`, 0) on.
func draw(_ number: Int64, x: Int = 0, points: Int = 2, _ more: String = "") -> String {
    #"{"n":\#(number)\#(more),"d":[\#(pointText(x..<(x + points)))]}"#
}

/// One shard, with points at these x coordinates.
func shard(_ number: Int64, _ order: Int, of count: Int, points: Range<Int> = 0..<2, _ more: String = "") -> String {
    #"{"n":\#(number),"s":\#(count),"o":\#(order)\#(more),"d":[\#(pointText(points))]}"#
}

func undo(_ number: Int64, _ more: String = "") -> String { #"{"n":\#(number),"a":2\#(more)}"# }
func redo(_ number: Int64, _ more: String = "") -> String { #"{"n":\#(number),"a":3\#(more)}"# }
func clear(_ number: Int64, _ more: String = "") -> String { #"{"n":\#(number),"a":4\#(more)}"# }

/// Code and field of what a message is refused for; nil where it is taken.
func fault(of message: String) -> String? {
    do throws(MalformedMessage) {
        _ = try StrokeMessage(decoding: Array(message.utf8))
        return nil
    } catch {
        return "\(error.rejection.code.rawValue) \(error.rejection.field ?? "")"
    }
}

private func pointText(_ points: Range<Int>) -> String {
    points.map { #"{"x":\#($0),"y":\#($0 % 7)}"# }.joined(separator: ",")
}
