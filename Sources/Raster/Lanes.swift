internal import CLanes

extension SIMD where Scalar == Float {
    /// The lanes, at least `bound`; `bound` for what is not a number.
    @inline(__always)
    func raised(to bound: Float) -> Self { raised(to: Self(repeating: bound)) }

    /// The lanes, at most `bound`; `bound` for what is not a number.
    @inline(__always)
    func lowered(to bound: Float) -> Self { lowered(to: Self(repeating: bound)) }

    /// The larger of both, lane by lane; the other one for what is not a number.
    @inline(__always)
    func raised(to other: Self) -> Self { other.replacing(with: self, where: self .> other) }

    /// The smaller of both, lane by lane; the other one for what is not a number.
    @inline(__always)
    func lowered(to other: Self) -> Self { other.replacing(with: self, where: self .< other) }
}

extension Float {
    /// The whole part of a value between 0 and 2³¹.
    @inline(__always)
    var cell: Int32 { lanes_whole_one(self) }

    /// The square root. Swift's own may call the C library, for the sake of what is below 0.
    @inline(__always)
    var root: Float { lanes_root_one(self) }

    /// This, but at least `bound`; unlike `max` one instruction, and `bound` for what is not a number.
    @inline(__always)
    func raised(to bound: Float) -> Float { self > bound ? self : bound }

    /// This, but at most `bound`.
    @inline(__always)
    func lowered(to bound: Float) -> Float { self < bound ? self : bound }

    /// The nearest integer to a value between 0 and 2²².
    @inline(__always)
    var roundedToInt: Int { Int(truncatingIfNeeded: (self + 8_388_608).bitPattern & 0x7F_FFFF) }
}

extension SIMD2<Float> {
    @inline(__always)
    func dot(_ other: Self) -> Float { x * other.x + y * other.y }

    /// Positive when `other` lies clockwise of this vector on the screen.
    @inline(__always)
    func cross(_ other: Self) -> Float { x * other.y - y * other.x }

    @inline(__always)
    var length: Float { dot(self).root }

    /// The vector turned by a quarter to the left, on a screen whose y runs down.
    @inline(__always)
    var left: Self { Self(y, -x) }
}
