internal import Ink

/// Which pixels of each row a capsule can touch, and which it covers for sure.
///
/// A row meets the strip beside the axis and the slab between the ends in a range of columns each; both ranges move
/// linearly from row to row. An axis that is nearly level or upright has only one of them.
struct CapsuleRows {
    /// Half the diagonal of a pixel and a little: farther away nothing is covered.
    static let fringe: Float = 0.75

    private let x0: Float
    private let y0: Float
    private let top: Float
    private let bottom: Float
    private let strip: Line
    private let slab: Line
    private let core: (strip: Float, slabMiddle: Float, slabHalf: Float)?

    /// The columns `x0 + middle + slope · dy ± half`.
    private struct Line {
        var slope: Float
        var middle: Float
        var half: Float

        static let unbounded = Line(slope: 0, middle: 0, half: 1e9)
    }

    /// The rows of a capsule from `low` to `high` pixels along its axis.
    @inline(__always)
    init(_ capsule: CapsuleCoverage, low: Float, high: Float) {
        let ux = capsule.directionX
        let uy = capsule.directionY
        let start = capsule.start.radius
        let end = capsule.end.radius
        x0 = capsule.start.x
        y0 = capsule.start.y
        let reach = (start > end ? start : end) + Self.fringe
        let yLow = y0 + low * uy
        let yHigh = y0 + high * uy
        let spread = reach * abs(ux)
        top = (yLow < yHigh ? yLow : yHigh) - spread
        bottom = (yLow < yHigh ? yHigh : yLow) + spread
        let level = abs(uy) < 1e-4
        let upright = abs(ux) < 1e-4
        let perRow = 1 / uy
        let perColumn = 1 / ux
        strip = level ? .unbounded : Line(slope: ux * perRow, middle: 0, half: reach * abs(perRow))
        slab =
            upright
            ? .unbounded
            : Line(
                slope: -uy * perColumn, middle: (low + high) * 0.5 * perColumn,
                half: (high - low) * 0.5 * abs(perColumn))
        let inner = (start < end ? start : end) - 1
        // Level and upright wide strokes are rare; without a core they are merely slower.
        core =
            inner > 4 && !level && !upright
            ? (inner * abs(perRow), capsule.length * 0.5 * perColumn, capsule.length * 0.5 * abs(perColumn)) : nil
    }

    @inline(__always)
    func rows(_ rows: CoverageRows) -> Range<Int> { rows.rows(from: top, to: bottom) }

    /// The columns of a row that may be covered, and those among them that are covered in full.
    @inline(__always)
    func columns(_ y: Int, _ rows: CoverageRows) -> (all: Range<Int>, solid: Range<Int>) {
        let dy = Float(y) + 0.5 - y0
        let stripAt = x0 + dy * strip.slope
        let slabAt = x0 + slab.middle + dy * slab.slope
        let all = rows.columns(
            from: (stripAt - strip.half).raised(to: slabAt - slab.half),
            to: (stripAt + strip.half).lowered(to: slabAt + slab.half))
        guard let core else { return (all, all.upperBound..<all.upperBound) }
        let coreAt = x0 + core.slabMiddle + dy * slab.slope
        let solid = rows.columns(
            from: (stripAt - core.strip).raised(to: coreAt - core.slabHalf),
            to: (stripAt + core.strip).lowered(to: coreAt + core.slabHalf))
        // Few pixels are not worth the change of pace.
        let narrow = solid.count < 8 || solid.lowerBound < all.lowerBound || solid.upperBound > all.upperBound
        return (all, narrow ? all.upperBound..<all.upperBound : solid)
    }
}
