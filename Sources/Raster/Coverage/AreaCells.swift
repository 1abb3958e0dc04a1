/// The memory of signed areas for one run of a stroke at a time: a number for every pixel of a box, all 0 between runs.
///
/// Grows to the largest box asked for.
struct AreaCells: Sendable {
    /// Cells behind the last column that sides and whole vectors may touch.
    static let slack = 8

    private var cells: [Float] = []
    private var spans: [RowSpan] = []
    private var lefts: [Float] = []

    /// Lends clear cells for a box; whoever writes sweeps them clear again.
    mutating func withRows<Result>(width: Int, height: Int, _ body: (AreaRows) -> Result) -> Result {
        let stride = width + Self.slack
        let size = stride * height
        if cells.count < size { cells.append(contentsOf: repeatElement(0, count: size - cells.count)) }
        if spans.count < height { spans.append(contentsOf: repeatElement(.empty, count: height - spans.count)) }
        if lefts.count < height + 2 {
            lefts.append(contentsOf: repeatElement(0, count: height + 2 - lefts.count))
        }
        return cells.withUnsafeMutableBufferPointer { cells in
            spans.withUnsafeMutableBufferPointer { spans in
                lefts.withUnsafeMutableBufferPointer { lefts in
                    guard let cells = cells.baseAddress, let spans = spans.baseAddress, let lefts = lefts.baseAddress
                    else { preconditionFailure("a box has at least one pixel") }
                    return body(
                        AreaRows(
                            cells: cells, spans: spans, lefts: lefts, stride: stride, width: width, height: height))
                }
            }
        }
    }
}
