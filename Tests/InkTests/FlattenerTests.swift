import Ink
import TestSupport
import Testing

@Suite("Flattening")
struct FlattenerTests {
    @Test("keeps every chord within the tolerance of the curve")
    func tolerance() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            func place() -> Vector {
                Vector(Double.random(in: 0...400, using: &random), Double.random(in: 0...400, using: &random))
            }
            let p0 = place()
            let p1 = place()
            let p2 = place()
            let p3 = place()
            var flattener = Flattener(scale: 2, canvasWidth: 800, canvasHeight: 800)
            flattener.begin(at: p0, nib: Nib(width: 1))
            flattener.cubic(control1: p1, control2: p2, to: p3, nib: Nib(width: 3))
            let samples = flattener.samples
            let pieces = samples.count - 1
            for step in 0...(8 * pieces) {
                let t = Double(step) / Double(8 * pieces)
                let u = 1 - t
                let onCurve = (p0 * (u * u * u) + p1 * (3 * u * u * t) + p2 * (3 * u * t * t) + p3 * (t * t * t)) * 2
                let index = min(step / 8, pieces - 1)
                let a = Vector(Double(samples[index].x), Double(samples[index].y))
                let b = Vector(Double(samples[index + 1].x), Double(samples[index + 1].y))
                let onChord = a.interpolated(to: b, at: Double(step) / 8 - Double(index))
                #expect((onCurve - onChord).length < Flattener.tolerance + 1e-3, "seed \(seed)")
            }
        }
    }

    @Test("carries the nib along and ends exactly at the end")
    func nib() {
        var flattener = Flattener(scale: 2, canvasWidth: 100, canvasHeight: 100)
        flattener.begin(at: Vector(0, 0), nib: Nib(width: 1))
        flattener.quadratic(control: Vector(10, 30), to: Vector(20, 0), nib: Nib(width: 5, opacity: 0.5))
        #expect(flattener.isTranslucent)
        #expect(flattener.samples.first == CentreSample(x: 0, y: 0, radius: 1))
        #expect(flattener.samples.last == CentreSample(x: 40, y: 0, radius: 5, opacity: 0.5))
        for (a, b) in zip(flattener.samples, flattener.samples.dropFirst()) {
            #expect(a.radius < b.radius)
            #expect(a.opacity > b.opacity)
        }
    }

    @Test("spends one piece on what cannot be seen and a bounded number on what reaches far")
    func bounded() {
        var flattener = Flattener(scale: 1, canvasWidth: 100, canvasHeight: 100)
        flattener.begin(at: Vector(-65536, 0), nib: Nib(width: 1))
        flattener.cubic(
            control1: Vector(-60000, 90), control2: Vector(-9, 9), to: Vector(-9, 65536), nib: Nib(width: 1))
        #expect(flattener.samples.count == 2)
        flattener.cubic(
            control1: Vector(1e9, -1e9), control2: Vector(-1e9, 1e9), to: Vector(1e9, 1e9), nib: Nib(width: 512))
        #expect(flattener.samples.count == 2 + Flattener.mostPieces)
    }
}
