internal import Ink

/// Which pixels of each row a piece of a stroke can touch.
///
/// A piece lies in a strip along its chord and between two lines across its ends. All of these meet a row in columns
/// that move linearly from row to row.
struct PieceRows {
    /// Half the diagonal of a pixel and a little: farther away nothing is covered.
    static let fringe: Float = 0.71
    private static let far: Float = 1e9

    private let top: Float
    private let bottom: Float
    private let originX: Float
    private let originY: Float
    /// Columns per row, the place on the row of the origin, and half the width.
    private let stripSlope: Float
    private let stripAt: Float
    private let stripHalf: Float
    private let begin: Border
    private let finish: Border

    /// A line across an end. Nothing is visited left of `at + slope·dy + left`, nor right of `at + slope·dy + right`: one
    /// of both is out of reach.
    private struct Border {
        var slope: Float
        var at: Float
        var left: Float
        var right: Float

        /// The line through the point, moved `distance` along the direction; what lies ahead of it is kept.
        @inline(__always)
        init(x: Float, y: Float, directionX: Float, directionY: Float, distance: Float) {
            guard abs(directionX) > 1e-4 else {
                // A level border is left to the bounds of the rows.
                self = Border(slope: 0, at: 0, left: -far, right: far)
                return
            }
            let perColumn = 1 / directionX
            slope = -directionY * perColumn
            at = x + distance * perColumn - slope * y
            left = directionX > 0 ? 0 : -2 * far
            right = directionX > 0 ? 2 * far : 0
        }

        private init(slope: Float, at: Float, left: Float, right: Float) {
            self.slope = slope
            self.at = at
            self.left = left
            self.right = right
        }
    }

    /// The rows of a piece and of what lies so many pixels behind its ends.
    @inline(__always)
    init(_ piece: CentrePiece, before: Float, after: Float) {
        let reach = piece.largestRadius + Self.fringe
        let bulge = -piece.sag.dot(piece.direction.left)
        let bend = abs(bulge)
        originX = piece.start.x
        originY = piece.start.y
        let rise = piece.end.y - originY
        // The ends are straight across; an arc that passes its highest or lowest point in between goes farther.
        let peaks = piece.leaving.y * piece.arriving.y < 0
        let leaving = abs(piece.leaving.x)
        let arriving = abs(piece.arriving.x)
        let spread = peaks ? reach + bend : reach * (leaving > arriving ? leaving : arriving)
        top = (0 as Float).lowered(to: rise) - spread - before - after
        bottom = (0 as Float).raised(to: rise) + spread + before + after
        let isLevel = abs(piece.direction.y) < 1e-4
        let perRow = 1 / piece.direction.y
        stripSlope = isLevel ? 0 : piece.direction.x * perRow
        stripAt = isLevel ? 0 : -bulge * 0.5 * perRow
        stripHalf = isLevel ? Self.far : (reach + bend * 0.5) * abs(perRow)
        begin = Border(
            x: 0, y: 0, directionX: piece.leaving.x, directionY: piece.leaving.y, distance: -before)
        finish = Border(
            x: piece.end.x - originX, y: rise, directionX: -piece.arriving.x, directionY: -piece.arriving.y,
            distance: -after)
    }

    @inline(__always)
    func rows(_ rows: CoverageRows) -> Range<Int> { rows.rows(from: originY + top, to: originY + bottom) }

    /// The columns of a row that may be covered.
    @inline(__always)
    func columns(_ y: Int, _ rows: CoverageRows) -> Range<Int> {
        let dy = Float(y) + 0.5 - originY
        let strip = stripAt + dy * stripSlope
        let first = begin.at + dy * begin.slope
        let last = finish.at + dy * finish.slope
        let left = (first + begin.left).raised(to: last + finish.left)
        let right = (first + begin.right).lowered(to: last + finish.right)
        return rows.columns(
            from: originX + (strip - stripHalf).raised(to: left), to: originX + (strip + stripHalf).lowered(to: right))
    }
}
