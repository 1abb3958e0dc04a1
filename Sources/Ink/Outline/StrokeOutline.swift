internal import StrokeWire

extension InkStroke {
    /// Sends outlines that cover the stroke when they are filled under the nonzero rule: those of the discs' steps along
    /// the line, in units scaled by `scale`, no farther than ``Flattener/tolerance`` from the curve.
    ///
    /// Returns the mean opacity of the line, 0 … 1: a filled outline has but one.
    @discardableResult
    public func outline(scale: Double, into sink: inout some OutlineSink) -> Double {
        var flattener = Flattener(scale: scale, canvasWidth: 1 << 40, canvasHeight: 1 << 40)
        trace(into: &flattener)
        let samples = flattener.samples
        guard let first = samples.first else { return 1 }
        func place(_ sample: CentreSample) -> Vector { Vector(Double(sample.x), Double(sample.y)) }
        if samples.count == 1 { CapsuleOutline.disc(place(first), Double(first.radius), into: &sink) }
        for (a, b) in zip(samples, samples.dropFirst()) where a != b {
            CapsuleOutline.trace(
                from: place(a), radius: Double(a.radius), to: place(b), radius: Double(b.radius), into: &sink)
        }
        return samples.reduce(0) { $0 + Double($1.opacity) } / Double(samples.count)
    }
}
