/// Cells of signed area while they are lent: outlines go in side by side, coverage comes out row by row. Not to be kept.
///
/// A side adds to the cells of every row what it covers of the pixels to its right: the running sum along a row is then
/// the exact covered part of each pixel, times how often the outline winds around it (the method of FreeType's and
/// font-rs's rasterisers, in single precision, and with bent sides). Sides may lie anywhere: what is above, below or to
/// the right of the box covers nothing of it, what is to the left of it covers whole rows, and costs no more for many
/// rows than for one.
struct AreaRows {
    let cells: UnsafeMutablePointer<Float>
    let spans: UnsafeMutablePointer<RowSpan>
    /// How what lies left of the box changes from row to row: as many rows as the box and two more.
    let lefts: UnsafeMutablePointer<Float>
    let stride: Int
    let width: Int
    let height: Int

    /// A side whose chord is this many times as high as its middle lies above or below the chord's counts as even: with
    /// roots it would be hardly more exact, but take longer.
    private static let evenness: Float = 40

    /// Adds a side of an outline, a parabola whose middle is by `sag` off its chord; `sign` is 1, or −1 where the outline
    /// runs the other way.
    @inline(__always)
    func add(from start: SIMD2<Float>, to end: SIMD2<Float>, sag: SIMD2<Float>, sign: Float) {
        // A parabola stays within the triangle of its ends and its control point.
        let control = (start + end) * 0.5 + sag * 2
        guard isInside(start), isInside(end), isInside(control) else {
            return addPart(from: start, to: end, sag: sag, sign: sign)
        }
        let rise = end.y - start.y
        guard abs(sag.y) * 4 > abs(rise) else { return addFalling(from: start, to: end, sag: sag, sign: sign) }
        // It turns back on its way: at the place where its slope is 0.
        let at = (0.5 + rise / (sag.y * 8)).raised(to: 0).lowered(to: 1)
        let peak = start + ((end - start) + sag * (4 * (1 - at))) * at
        addFalling(from: start, to: peak, sag: sag * (at * at), sign: sign)
        addFalling(from: peak, to: end, sag: sag * ((1 - at) * (1 - at)), sign: sign)
    }

    @inline(__always)
    private func isInside(_ place: SIMD2<Float>) -> Bool {
        place.x >= 0 && place.y >= 0 && place.x < Float(width) && place.y < Float(height)
    }

    /// Adds a side in the box that only falls or only rises.
    @inline(__always)
    func addFalling(from start: SIMD2<Float>, to end: SIMD2<Float>, sag: SIMD2<Float>, sign: Float) {
        var row = start.y.cell
        let last = end.y.cell
        if row == last { return add(row, from: start, to: end, sag: sag, sign: sign) }
        let way = end - start
        if (abs(sag.y) * Self.evenness).raised(to: 0.01) < abs(way.y) {
            return addEven(from: start, to: end, sag: sag, sign: sign)
        }
        let bend = sag * 4
        let down = row < last
        let step: Float = down ? 1 : -1
        // y(t) = start + slope·t − bend·t², solved for the borders of the rows.
        let slope = way.y + bend.y
        let square = slope * slope
        var border = Float(row) + (down ? 1 : 0)
        var place = start
        var at: Float = 0
        while row != last {
            let fall = border - start.y
            let root = (square - 4 * bend.y * fall).raised(to: 0).squareRoot()
            let next = (2 * fall / (slope + root * step)).raised(to: at).lowered(to: 1)
            let x = start.x + (way.x + bend.x * (1 - next)) * next
            let reached = SIMD2(x.raised(to: 0).lowered(to: Float(width)), border)
            add(row, from: place, to: reached, sag: sag * ((next - at) * (next - at)), sign: sign)
            (place, at) = (reached, next)
            border += step
            row &+= down ? 1 : -1
        }
        add(row, from: place, to: end, sag: sag * ((1 - at) * (1 - at)), sign: sign)
    }

    /// The same of one whose height changes so evenly on its way that its place is a quadratic function of its height.
    private func addEven(from start: SIMD2<Float>, to end: SIMD2<Float>, sag: SIMD2<Float>, sign: Float) {
        var row = start.y.cell
        let last = end.y.cell
        let rise = end.y - start.y
        let perRise = 1 / rise
        let wide = end.x - start.x
        let cross = wide * sag.y - rise * sag.x
        // x(u) = start + (wide + bend·(1 − u))·u, with the same area between it and the chord.
        let bend = -4 * cross * perRise
        let down = row < last
        let step: Float = down ? 1 : -1
        var border = Float(row) + (down ? 1 : 0)
        var place = start
        let shape = cross * (perRise * perRise * perRise)
        while row != last {
            let u = (border - start.y) * perRise
            let x = (start.x + (wide + bend * (1 - u)) * u).raised(to: 0).lowered(to: Float(width))
            let reached = SIMD2(x, border)
            let fall = border - place.y
            add(row, from: place, to: reached, cross: shape * (fall * fall * fall), sign: sign)
            place = reached
            border += step
            row &+= down ? 1 : -1
        }
        let fall = end.y - place.y
        add(row, from: place, to: end, cross: shape * (fall * fall * fall), sign: sign)
    }
}

extension Float {
    /// Adding 1.5 · 2²³ leaves the value, rounded to nearest, in the lower bits.
    static let shift: Float = 12_582_912

    /// The whole part of a value between 0 and 2²², with ``shift`` added; a whole number may give the one before.
    @inline(__always)
    var shifted: Float { (self - 0.5) + .shift }

    /// The whole number to which ``shift`` was added.
    @inline(__always)
    var shiftedCell: Int { Int(truncatingIfNeeded: bitPattern & 0x3F_FFFF) }

    /// The whole part of a value between 0 and 2²²; a whole number may give the one before.
    @inline(__always)
    var cell: Int { shifted.shiftedCell }
}

extension SIMD4<Float> {
    /// The lanes, at least `bound`.
    @inline(__always)
    func clampedBelow(_ bound: Float) -> Self {
        replacing(with: Self(repeating: bound), where: self .< bound)
    }

    /// The lanes, at most `bound`.
    @inline(__always)
    func clampedAbove(_ bound: Float) -> Self {
        replacing(with: Self(repeating: bound), where: self .> bound)
    }
}
