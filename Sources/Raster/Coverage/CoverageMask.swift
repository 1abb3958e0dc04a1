/// The coverage of one stroke: a byte a pixel, 0 … 255, over the part of the canvas that the stroke can touch.
///
/// All bytes are zero between strokes, so that taking a mask into use costs nothing but the rows' spans; whoever
/// writes also widens the span of the row, and ``clear()`` wipes no more than the spans. The memory is kept and grows
/// to the largest box asked for.
struct CoverageMask: Sendable {
    /// Bytes behind the last column that whole vectors may spill into.
    static let slack = 16

    private var bytes: [UInt8] = []
    private var spans: [RowSpan] = []
    private(set) var box = PixelBox.empty
    private(set) var stride = 0

    /// Takes the (clear) mask into use for a box of the canvas.
    mutating func prepare(for box: PixelBox) {
        self.box = box
        stride = (box.width + Self.slack + 15) & ~15
        let size = stride * box.height
        if bytes.count < size { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
        if spans.count < box.height {
            spans.append(contentsOf: repeatElement(.empty, count: box.height - spans.count))
        }
    }

    /// Lends the rows for writing; taken once a stroke.
    mutating func withRows<Result>(_ body: (CoverageRows) -> Result) -> Result {
        let box = box
        let stride = stride
        return bytes.withUnsafeMutableBufferPointer { bytes in
            spans.withUnsafeMutableBufferPointer { spans in
                guard let bytes = bytes.baseAddress, let spans = spans.baseAddress else {
                    preconditionFailure("prepare(for:) makes room for at least one pixel")
                }
                return body(
                    CoverageRows(bytes: bytes, spans: spans, stride: stride, width: box.width, height: box.height))
            }
        }
    }

    /// Wipes what was written.
    mutating func clear() {
        guard box.height > 0 else { return }
        withRows { rows in
            for y in 0..<rows.height { rows.wipe(y) }
        }
    }
}

/// The columns of one row that may be covered.
struct RowSpan: Sendable {
    var lower: Int32
    var upper: Int32

    static let empty = RowSpan(lower: .max, upper: .min)
    var isEmpty: Bool { upper <= lower }
}
