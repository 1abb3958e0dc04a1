import Ink
import StrokeWire
import TestSupport
import Testing

@Suite("Stamps")
struct StampTests {
    @Test("lie half a unit apart along the line, whatever the pieces, and stay within the alpha of the brush")
    func spacing() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for scale in [1.0, 2, 3.3] {
            var placer = StampPlacer(scale: scale, canvasWidth: 10_000, canvasHeight: 10_000)
            var place = Vector(100, 500)
            placer.begin(at: place, nib: Nib(width: 4))
            var length = 0.0
            for _ in 0..<200 {
                let step = Double.random(in: 0...3, using: &random)
                place.x += step
                length += step
                placer.line(to: place, nib: Nib(width: 4))
            }
            #expect(abs(Double(placer.stamps.count) - (length / 0.5 + 1)) <= 1, "seed \(seed)")
            for (a, b) in zip(placer.stamps, placer.stamps.dropFirst()) {
                #expect(abs(Double(b.x - a.x) - 0.5 * scale) < 0.01, "seed \(seed)")
                #expect(a.alpha == Float(1 / 1.5))
            }
        }
    }

    @Test("are full to a fifth of the brush and fade to nothing")
    func brush() {
        #expect(Stamp.brush(0) == 1)
        #expect(Stamp.brush(6.0 / 32) == 1)
        #expect(abs(Stamp.brush(18.0 / 32) - 0.5) < 1e-6)
        #expect(Stamp.brush(30.0 / 32) == 0)
        #expect(Stamp.brush(2) == 0)
    }

    @Test("are set only where they can be seen, however far the line reaches")
    func bounded() {
        var placer = StampPlacer(scale: 1, canvasWidth: 100, canvasHeight: 100)
        placer.begin(at: Vector(-65536, 50), nib: Nib(width: 2))
        placer.line(to: Vector(65536, 50), nib: Nib(width: 2))
        #expect(placer.stamps.count > 190 && placer.stamps.count < 220)
    }
}
