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

extension SIMD4<Float> {
    /// The square roots, to five digits: unlike `squareRoot()` all at once, and the same on every machine.
    ///
    /// A guess from the exponent and two steps of Newton's method for the reciprocal (Lomont, "Fast Inverse Square
    /// Root").
    @inline(__always)
    var nearRoot: Self {
        let bits = 0x5F37_59DF &- (unsafeBitCast(self, to: SIMD4<UInt32>.self) &>> 1)
        let half = self * 0.5
        var guess = unsafeBitCast(bits, to: SIMD4<Float>.self)
        guess *= 1.5 - half * guess * guess
        guess *= 1.5 - half * guess * guess
        return self * guess
    }
}

extension Float {
    /// Adding 1.5 · 2²³ leaves the value, rounded to nearest, in the lower bits.
    static let shift: Float = 12_582_912

    /// The whole part of a value between 0 and 2²²; a whole number may give the one before.
    @inline(__always)
    var cell: Int32 { Int32(truncatingIfNeeded: ((self - 0.5) + .shift).bitPattern & 0x3F_FFFF) }

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
