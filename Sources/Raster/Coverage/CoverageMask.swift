/// The coverage of one stroke: a byte a pixel, 0 … 255, over the part of the canvas that the stroke can touch.
///
/// All bytes are zero between strokes, so that taking a mask into use costs nothing but the rows' blocks; whoever
/// writes also marks the blocks, and ``clear()`` wipes no more than those. The memory is kept and grows to the largest
/// box asked for.
struct CoverageMask: Sendable {
    private var bytes: [UInt8] = []
    private var marks: [UInt64] = []

    /// Bytes behind the last row that whole vectors may spill into.
    private static let slack = 16

    /// Takes the (clear) mask into use for a box of so many pixels, and lends its rows for writing; taken once a stroke.
    mutating func withRows<Result>(width: Int, height: Int, _ body: (CoverageRows) -> Result) -> Result {
        let blocks = RowBlocks(width: width)
        let stride = blocks.stride(width: width)
        let size = stride * height + Self.slack
        if bytes.count < size { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
        if marks.count < height { marks.append(contentsOf: repeatElement(0, count: height - marks.count)) }
        return bytes.withUnsafeMutableBufferPointer { bytes in
            marks.withUnsafeMutableBufferPointer { marks in
                guard let bytes = bytes.baseAddress, let marks = marks.baseAddress else {
                    preconditionFailure("a box has at least one pixel")
                }
                return body(
                    CoverageRows(
                        bytes: bytes, marks: marks, blocks: blocks, stride: stride, width: width, height: height))
            }
        }
    }
}
