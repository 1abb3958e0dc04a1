import Ink
import StrokeWire
import TestSupport
import Testing

@Suite("Stamps")
struct StampTests {
    private func stamps(
        _ line: [CentreSample], chunk: Int = .max, scale: Double = 1, canvas: Int = 10_000
    ) -> [Stamp] {
        var placer = StampPlacer(scale: scale, canvasWidth: canvas, canvasHeight: canvas)
        var stamps: [Stamp] = []
        var start = 0
        repeat {
            let end = chunk < line.count - start ? start + chunk : line.count
            _ = line[max(start - 1, 0)..<end].withUnsafeBufferPointer { samples in
                placer.add(samples) { stamp in
                    stamps.append(stamp)
                    return true
                }
            }
            start = end
        } while start < line.count
        _ = placer.finish { stamp in
            stamps.append(stamp)
            return true
        }
        return stamps
    }

    @Test("lie half a unit apart along the line, whatever the chunks, and stay within the alpha of the brush")
    func spacing() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for scale in [1.0, 2, 3.3] {
            var place = 100 * scale
            var line = [CentreSample(x: Float(place), y: 500, radius: 4)]
            for _ in 0..<200 {
                place += Double.random(in: 0...3, using: &random) * scale
                line.append(CentreSample(x: Float(place), y: 500, radius: 4))
            }
            let stamps = stamps(line, scale: scale)
            #expect(abs(Double(stamps.count) - ((place - 100 * scale) / scale / 0.5 + 1)) <= 1, "seed \(seed)")
            for (a, b) in zip(stamps, stamps.dropFirst()) {
                #expect(abs(Double(b.x - a.x) - 0.5 * scale) < 0.01, "seed \(seed)")
                #expect(a.alpha == Float(1 / 1.5) && a.count == 1)
            }
            for chunk in [1, 2, 7] { #expect(self.stamps(line, chunk: chunk, scale: scale) == stamps) }
        }
    }

    @Test("of a wide brush are as many as ever, some set as one no farther apart than a 64th of the radius")
    func together() {
        let radius: Float = 200
        let line = [0.0, 300, 301, 302, 900].map { CentreSample(x: Float($0), y: 0, radius: radius) }
        let stamps = stamps(line)
        #expect(stamps.reduce(0) { $0 + $1.count } == 1801)
        #expect(stamps.count < 1801 / 4)
        for (a, b) in zip(stamps, stamps.dropFirst()) { #expect(b.x - a.x <= radius / 64 + 0.001) }
    }

    @Test("of a line that goes nowhere are a dot")
    func dot() {
        let place = CentreSample(x: 5, y: 5, radius: 3)
        for count in [1, 2, 5] {
            for chunk in [1, 3] {
                let stamps = stamps([CentreSample](repeating: place, count: count), chunk: chunk)
                #expect(stamps.map(\.count) == [StampPlacer.dotStamps])
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
        let line = [-65536.0, 65536].map { CentreSample(x: Float($0), y: 50, radius: 2) }
        let count = stamps(line, canvas: 100).count
        #expect(count > 190 && count < 220)
    }
}
