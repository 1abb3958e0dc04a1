/// The memory of signed areas for one run of a stroke at a time: a number for every pixel of a box, all 0 between runs.
///
/// Grows to the largest box asked for.
struct AreaCells: Sendable {
    /// The cells, behind them what lies left of the rows.
    private var values: [Float] = []
    private var marks: [UInt64] = []
    private var pieces = [Float](repeating: 0, count: SidePieces.size)

    /// Lends clear cells for a box; whoever writes sweeps them clear again. `isWhole` says that all sides will lie in it.
    mutating func withRows<Result>(
        width: Int, height: Int, isWhole: Bool, _ body: (AreaRows) -> Result
    ) -> Result {
        let blocks = RowBlocks(width: width)
        let stride = blocks.stride(width: width)
        let cells = stride * height
        let size = cells + height + 2
        if values.count < size { values.append(contentsOf: repeatElement(0, count: size - values.count)) }
        if marks.count < height { marks.append(contentsOf: repeatElement(0, count: height - marks.count)) }
        return values.withUnsafeMutableBufferPointer { values in
            marks.withUnsafeMutableBufferPointer { marks in
                pieces.withUnsafeMutableBufferPointer { pieces in
                    guard let values = values.baseAddress, let marks = marks.baseAddress,
                        let pieces = pieces.baseAddress
                    else { preconditionFailure("a box has at least one pixel") }
                    return body(
                        AreaRows(
                            cells: values, lefts: values + cells, marks: marks, blocks: blocks,
                            pieces: SidePieces(pieces), stride: stride, width: width, height: height,
                            isWhole: isWhole))
                }
            }
        }
    }
}
