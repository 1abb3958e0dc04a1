import PathGeometry
import TestSupport
import Testing

@testable import Scene

/// What an eraser has moved over.
@Suite struct EraserTests {
    private static func area(_ generator: inout SeededGenerator) -> Path {
        let (x, y) = (Double.random(in: 0..<1000, using: &generator), Double.random(in: 0..<1000, using: &generator))
        return Path(
            polygon: (0..<5).map { _ in
                Point(x + .random(in: -20...20, using: &generator), y + .random(in: -20...20, using: &generator))
            })
    }

    @Test(arguments: TestSeed.choose(8)) func `A long path touches what one of its lines touches`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var path = [Point(500, 500)]
        for _ in 0..<Int.random(in: 0..<200, using: &generator) {
            let last = path[path.count - 1]
            path.append(
                Point(
                    last.x + .random(in: -60...60, using: &generator), last.y + .random(in: -60...60, using: &generator)
                ))
        }
        let eraser = Eraser(path: path, radius: 4)
        let lines = zip(path, path.dropFirst()).map { Eraser(path: [$0, $1], radius: 4) }
        for _ in 0..<300 {
            let area = Self.area(&generator)
            let expected = lines.isEmpty ? eraser.touches(area) : lines.contains { $0.touches(area) }
            #expect(eraser.touches(area) == expected)
        }
    }

    @Test func `What was not compared any more counts as touched, and what lies far away costs nothing`() {
        let scribble = (0..<50_000).map { Point(Double($0 % 2) * 900 + 50, Double($0) / 100 + 50) }
        let eraser = Eraser(path: scribble, radius: 1)
        func square(_ x: Double, _ y: Double) -> Path {
            Path(polygon: [Point(x, y), Point(x + 3, y), Point(x + 3, y + 3), Point(x, y + 3)])
        }
        var comparisons = 0
        #expect(!eraser.touches(square(960, 300), within: &comparisons) && comparisons == 0)
        #expect(eraser.touches(square(945, 300), within: &comparisons) && comparisons < 0)
        comparisons = 10_000
        #expect(eraser.touches(square(500, 300), within: &comparisons))
    }
}
