import Ink
import Raster
import StrokeWire
import TestSupport
import Testing

@Suite struct `Highlighters and arrows` {
    private static let side = 200

    private func drawn(_ element: Element, _ style: InkStyle, _ width: Double, _ points: [SIMD2<Double>]) -> [UInt32] {
        let stroke = InkStroke(
            element: element, style: style, width: width, points: points.map { StrokePoint(x: $0.x, y: $0.y) })
        return Canvas(width: Self.side, height: Self.side, drawing: stroke).allPixels
    }

    private func alpha(_ pixels: [UInt32], _ x: Double, _ y: Double) -> UInt32 {
        pixels[Int(y) * Self.side + Int(x)] >> 24
    }

    @Test(arguments: InkStyle.allCases)
    func `a highlighter is even where it crosses itself, in every style`(style: InkStyle) {
        let loop: [SIMD2<Double>] = [
            SIMD2(20, 100), SIMD2(100, 100), SIMD2(180, 100), SIMD2(180, 20), SIMD2(100, 20), SIMD2(100, 100),
            SIMD2(100, 180),
        ]
        let pixels = drawn(.highlighter, style, 20, loop)
        let expected = UInt32((InkStroke.highlighterOpacity * 255).rounded())
        #expect(Set(pixels.map { $0 >> 24 }).max() == expected)
        #expect(alpha(pixels, 40, 100) == expected)
        #expect(pixels == drawn(.highlighter, .smooth, 20, loop))
    }

    @Test(arguments: TestSeed.choose(20))
    func `an arrow's head is a filled triangle that ends at the last point`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let width = Double(random.int(2...8))
        let from = SIMD2(Double(random.int(60...140)), Double(random.int(60...140)))
        let to = from + SIMD2(Double(random.int(-40...40)), random.pick([-50, 50]))
        let way = to - from
        let along = way / (way * way).sum().squareRoot()
        let across = SIMD2(-along.y, along.x)
        let pixels = drawn(.arrow, random.pick(InkStyle.allCases), width, [from, SIMD2(1, 1), to])
        let length = max(4 * width, 10)
        for y in 0..<Self.side {
            for x in 0..<Self.side {
                let place = SIMD2(Double(x) + 0.5, Double(y) + 0.5) - to
                let (forward, aside) = ((place * along).sum(), abs((place * across).sum()))
                let ink = pixels[y * Self.side + x] >> 24
                // A pixel's diagonal from all borders, corners being round.
                if forward > 1 || aside > 1.5 * width + 1 { #expect(ink == 0, "\(x), \(y)") }
                let half = 1.5 * width * (-forward / length)
                if forward < -width - 1, forward > -length + width / 2 + 1, aside < half - width / 2 - 1 {
                    #expect(ink == 255, "\(x), \(y)")
                }
                if forward < -length - 1, aside > width / 2 + 1 { #expect(ink == 0, "\(x), \(y)") }
            }
        }
        #expect(alpha(pixels, (to - along * 2).x, (to - along * 2).y) > 0)
    }

    @Test func `an arrow from a point to itself is a dot`() {
        let place = SIMD2(100.0, 100)
        #expect(drawn(.arrow, .smooth, 8, [place, place]) == drawn(.line, .smooth, 8, [place, place]))
    }
}
