import Ink
import StrokeWire
import Testing

@Suite("The calligraphy style")
struct CalligraphyTests {
    @Test("is force · 39 + 1 sixteenths of the line width, from the third point on a fifth of it")
    func force() {
        let forces = [0.5, 1, 0.25, 0.75, 0]
        let stroke = forces.enumerated().map { StrokePoint(x: Double($0) * 10, y: 0, force: $1) }
        var sizes = [20.5, 40]
        for fresh in [10.75, 30.25, 1] { sizes.append(0.2 * fresh + 0.8 * sizes[sizes.count - 1]) }
        let pieces = trace(.calligraphy, width: 32, stroke)
        let expected = [sizes[0], (sizes[1] + sizes[2]) / 2, (sizes[2] + sizes[3]) / 2, sizes[4]].map { $0 * 2 }
        #expect(pieces.count == expected.count)
        for (piece, width) in zip(pieces, expected) { #expect(abs(piece.nib.width - width) < 1e-9) }
    }

    @Test(
        "is speed / 166 within 1 … 40 where there is no force",
        arguments: [(1000.0, 1000.0 / 166), (50, 1), (9000, 40)])
    func speed(speed: Double, size: Double) {
        let stroke = [StrokePoint(x: 0, y: 0, milliseconds: 0), StrokePoint(x: speed, y: 0, milliseconds: 1000)]
        #expect(trace(.calligraphy, stroke).allSatisfy { abs($0.nib.width - size) < 1e-9 })
    }

    @Test(
        "is never thinner than a board unit, nor than the line where that is thinner",
        arguments: [(3.0, 1.0), (0.5, 0.5)])
    func legible(width: Double, least: Double) {
        let stroke = (0..<9).map { StrokePoint(x: Double($0) * 2, y: 0) }
        #expect(trace(.calligraphy, width: width, stroke).allSatisfy { $0.nib.width == least })
    }

    @Test("leaves out points closer than 1.5 units, but for the last")
    func near() {
        let places = [(0.0, 0.0), (1.4, 0), (1.5, 0), (2.9, 0), (10, 0), (11, 0)]
        let pieces = trace(.calligraphy, width: 1, points(places))
        let nib = Nib(width: 1)
        #expect(
            pieces == [
                .begin(Vector(0, 0), nib), .quadratic(Vector(1.5, 0), Vector(5.75, 0), nib),
                .quadratic(Vector(10, 0), Vector(11, 0), nib),
            ])
    }
}
