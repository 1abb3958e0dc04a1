// Messages as an author writes them. `more` is put in as it stands, with its comma before it.

/// A whole stroke of `points` points from (`x`, 0) on.
func draw(_ number: Int64, x: Int = 0, points: Int = 2, _ more: String = "") -> String {
    #"{"n":\#(number)\#(more),"d":[\#(pointText(x..<(x + points)))]}"#
}

/// One shard, with the points of these abscissae.
func shard(_ number: Int64, _ order: Int, of count: Int, points: Range<Int> = 0..<2, _ more: String = "") -> String {
    #"{"n":\#(number),"s":\#(count),"o":\#(order)\#(more),"d":[\#(pointText(points))]}"#
}

func undo(_ number: Int64, _ more: String = "") -> String { #"{"n":\#(number),"a":2\#(more)}"# }
func redo(_ number: Int64, _ more: String = "") -> String { #"{"n":\#(number),"a":3\#(more)}"# }
func clear(_ number: Int64, _ more: String = "") -> String { #"{"n":\#(number),"a":4\#(more)}"# }

private func pointText(_ points: Range<Int>) -> String {
    points.map { #"{"x":\#($0),"y":\#($0 % 7)}"# }.joined(separator: ",")
}
