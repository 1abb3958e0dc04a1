import PathGeometry
import TestSupport
import Testing

@testable import Scene

/// The list shows at each place what the definition of a lasso says: the picture below outside the path, and above it
/// the picture's inside, moved.
@Suite(.timeLimit(.minutes(5))) struct LassoDefinitionTests {
    /// A picture as a function of places, by inverse maps.
    private struct Definition {
        let entries: [Shape]

        /// The entry that is seen at a place, with the place on it where it was drawn; nil for paper.
        func top(at place: Point) -> (entry: Int, place: Point)? { top(at: place, below: entries.count) }

        private func top(at place: Point, below count: Int) -> (entry: Int, place: Point)? {
            var index = count - 1
            while index >= 0 {
                switch entries[index] {
                case .drawing(let area): if area.contains(place) { return (index, place) }
                case .eraser(let area): if area.contains(place) { return nil }
                case .lasso(let lasso):
                    let path = Path(polygon: lasso.points)
                    if let origin = lasso.map?.inverse?(place), path.contains(origin, fillRule: .evenOdd),
                        let found = top(at: origin, below: index)
                    {
                        return found
                    }
                    if !lasso.keepsOriginal, path.contains(place, fillRule: .evenOdd) { return nil }
                }
                index -= 1
            }
            return nil
        }
    }

    private static func area(using random: inout SeededGenerator) -> Path {
        func next() -> Point {
            Point(Double.random(in: 0...100, using: &random), Double.random(in: 0...100, using: &random))
        }
        let (corner, size) = (next(), next() / 2)
        switch random.int(0..<4) {
        case 0: return Path(ellipse: corner.x, corner.y, width: size.x, height: size.y)
        case 1: return Path(rectangle: corner.x, corner.y, width: size.x, height: size.y)
        case 2: return Path(polygon: (0..<random.int(3...7)).map { _ in next() })
        default:
            var contour = Contour(start: next())
            for _ in 0..<random.int(1...4) { contour.addQuadratic(control: next(), to: next()) }
            contour.close()
            return Path([contour])
        }
    }

    private static func entry(using random: inout SeededGenerator) -> Shape {
        guard random.chance(2, in: 5) else {
            return random.chance(1, in: 4) ? .eraser(area(using: &random)) : .drawing(area(using: &random))
        }
        let corners = (0..<random.int(3...8)).map { _ in
            Point(Double.random(in: -20...120, using: &random), Double.random(in: -20...120, using: &random))
        }
        func next(_ size: Double) -> Double { Double.random(in: -size...size, using: &random) }
        let map: AffineMap? =
            switch random.int(0..<6) {
            case 0: nil
            case 1: AffineMap(1, 0, 0, 1, next(50), next(50))
            case 2: AffineMap(-1, 0, 0, 1, 100, next(20))
            case 3: AffineMap(next(1), next(1), 0, 0, 10, 10)
            default: AffineMap(next(1.5), next(1.5), next(1.5), next(1.5), next(80), next(80))
            }
        return .lasso(Lasso(points: corners, map: map, keepsOriginal: random.chance(1, in: 3)))
    }

    @Test func listShowsWhatTheDefinitionSays() {
        var (seen, compared) = (0, 0)
        for var random in TestSeed.generators(200) {
            let entries = (0..<random.int(2...14)).map { _ in Self.entry(using: &random) }
            let definition = Definition(entries: entries)
            let list = ShapeList(entries)
            #expect(list.skippedEntries.isEmpty)
            for _ in 0..<60 {
                let whole = Box(lower: Point(-50, -50), upper: Point(150, 150))
                let box = random.chance(1, in: 3) ? whole : list.items.randomElement(using: &random)?.bounds ?? whole
                let place = Point(
                    Double.random(in: box.lower.x...box.upper.x, using: &random),
                    Double.random(in: box.lower.y...box.upper.y, using: &random))
                let expected = definition.top(at: place)
                // Beside borders rounding may decide.
                let isAway = (0..<8).allSatisfy { index in
                    let step = [1, 0.7, 0, -0.7, -1, -0.7, 0, 0.7]
                    let beside = definition.top(at: place + Point(step[index], step[(index + 2) % 8]) * 0.01)
                    return beside?.entry == expected?.entry
                        && ((beside?.place ?? .zero) - (expected?.place ?? .zero)).isShort
                }
                guard isAway else { continue }
                compared += 1
                let item = list.items.last { list.area(of: $0).contains(place) }
                #expect(item?.entry == expected?.entry, "seed \(random.seed) at \(place)")
                guard let item, let expected, let inverse = item.map.inverse else { continue }
                seen += 1
                #expect((inverse(place) - expected.place).isShort, "seed \(random.seed) at \(place)")
            }
        }
        print("\(compared) places compared, \(seen) of them with ink")
        #expect(TestSeed.given != nil || seen > 0)
    }
}

extension AffineMap {
    fileprivate var inverse: AffineMap? {
        guard determinant != 0 else { return nil }
        let (a, b, c, d) = (self.d / determinant, -self.b / determinant, -self.c / determinant, self.a / determinant)
        return AffineMap(a, b, c, d, -(a * e + c * f), -(b * e + d * f))
    }
}

extension Point {
    /// Whether places that a small step apart are seen together, though a small map magnifies the step.
    fileprivate var isShort: Bool { (self * self).sum() < 25 }
}

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

    @Test func `Outlines that are not compared any more count as touched, and distant ones cost nothing`() {
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
