import Testing

@testable import VectorGraphics

@Suite("Numbers in SVG")
struct SVGNumberTests {
    @Test(
        "are as short as they can be",
        arguments: [
            (0, "0"), (100, "1"), (150, "1.5"), (5, ".05"), (50, ".5"), (-50, "-.5"), (-105, "-1.05"), (1001, "10.01"),
        ])
    func text(steps: Int, text: String) {
        var bytes: [UInt8] = []
        bytes.append(steps: steps, decimals: 2)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test(
        "have two places on a large board and more on one of few units",
        arguments: [(16384.0, 2), (1024, 2), (500, 2), (320, 3), (10, 4), (1, 5)])
    func places(width: Double, decimals: Int) {
        #expect(SVGScale(width: width, height: width / 2).decimals == decimals)
    }

    @Test("never trap", arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func extremes(number: Double) {
        #expect(SVGScale(width: 1024, height: 768).steps(number).magnitude <= 1_000_000_000_000)
    }
}
