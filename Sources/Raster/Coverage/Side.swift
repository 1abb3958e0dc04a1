/// One side of an outline: a parabola whose middle is by `sag` off that of its chord.
struct Side {
    var start: SIMD2<Float>
    var end: SIMD2<Float>
    var sag = SIMD2<Float>.zero
    /// 1, or −1 where the outline runs the other way.
    var sign: Float

    /// Whether it turns back to where it came from, up or down.
    @inline(__always)
    var turnsBack: Bool { abs(sag.y) * 4 > abs(end.y - start.y) }

    /// Both parts of a side that turns back, cut where its slope is 0.
    var parts: (Side, Side) {
        let rise = end.y - start.y
        let at = (0.5 + rise / (sag.y * 8)).raised(to: 0).lowered(to: 1)
        let peak = start + ((end - start) + sag * (4 * (1 - at))) * at
        return (
            Side(start: start, end: peak, sag: sag * (at * at), sign: sign),
            Side(start: peak, end: end, sag: sag * ((1 - at) * (1 - at)), sign: sign)
        )
    }
}
