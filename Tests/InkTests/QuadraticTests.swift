import Ink
import Testing

@Suite("The quadratic style")
struct QuadraticTests {
    @Test("goes from midpoint to midpoint around the points, and on to both ends")
    func midpoints() {
        let nib = Nib(width: 16)
        #expect(
            trace(.quadratic, points([(0, 0), (10, 0), (20, 10), (40, 10), (40, 0)])) == [
                .begin(Vector(0, 0), nib), .quadratic(Vector(10, 0), Vector(15, 5), nib),
                .quadratic(Vector(20, 10), Vector(30, 10), nib), .quadratic(Vector(40, 10), Vector(40, 0), nib),
            ])
    }
}
