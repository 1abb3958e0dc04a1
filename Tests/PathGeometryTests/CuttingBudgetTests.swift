import PathGeometry
import TestSupport
import Testing

/// Paths that take quadratic time and more: the work ends with its budget.
@Suite(.timeLimit(.minutes(2))) struct CuttingBudgetTests {
    enum DearPath: CaseIterable {
        /// Crosses itself at each of its lines.
        case scribble
        /// Lines through one place.
        case star
        /// Curves that are nearly the same.
        case bundle
        /// Lines in a strip, and one far away from it: all of them are in one band.
        case strip
        /// Contours apart from each other, of which each has a ray.
        case row

        var path: Path {
            var random = SeededGenerator(seed: 1)
            func place(_ width: Double, _ height: Double) -> Point {
                Point(Double.random(in: 0...width, using: &random), Double.random(in: 0...height, using: &random))
            }
            let away = Path(polygon: [Point(0, 1e6), Point(1, 1e6), Point(0, 1e6 + 1)]).contours
            switch self {
            case .scribble: return Path(polygon: (0..<1000).map { _ in place(1024, 768) })
            case .star:
                let ends = (0..<1000).map { _ in place(600, 600) - 300 }
                return Path(
                    ends.map { Contour(polyline: [$0, .zero, -$0, Point(1, 1)], closed: true) })
            case .bundle:
                return Path(
                    (0..<100).flatMap {
                        let shift = 1e-5 * Double($0)
                        return Path(ellipse: 100 + shift, 100, width: 500, height: 300 + shift).contours
                    })
            case .strip:
                return Path(
                    (0..<1000).map { _ in Contour(polyline: [place(1000, 1e-3), place(1000, 1e-3)], closed: true) }
                        + away)
            case .row:
                return Path(
                    (0..<4000).flatMap {
                        Path(ellipse: Double($0) * 3, Double($0 % 7) * 0.1, width: 2, height: 2).contours
                    }
                        + away)
            }
        }
    }

    private static let few: Int64 = 1 << 24
    private static let many: Int64 = 1 << 29

    @Test(arguments: DearPath.allCases) func dearPathEndsWithTheBudget(dear: DearPath) {
        var budget = CuttingBudget(steps: Self.few)
        #expect(throws: CuttingBudget.Exceeded.self) {
            _ = try PathCutter(dear.path, fillRule: .nonzero, within: &budget)
        }
        #expect(budget.spent > Self.few && budget.spent < 2 * Self.few)
    }

    @Test func cutIsTheSameWithinABudget() throws {
        for var random in TestSeed.generators(100) {
            let (path, border) = (
                RandomPath.closed(step: nil, using: &random),
                RandomPath.closed(step: random.pick([nil, 5]), using: &random)
            )
            var spent: [Int64] = []
            for _ in 0..<2 {
                var budget = CuttingBudget(steps: Self.many)
                let parts = try PathCutter(border, within: &budget).cut(path, within: &budget)
                let expected = PathCutter(border).cut(path)
                #expect(parts.inside == expected.inside && parts.outside == expected.outside, "seed \(random.seed)")
                spent.append(budget.spent)
            }
            #expect(spent[0] > 0 && spent[0] == spent[1], "seed \(random.seed)")
        }
    }

    @Test func `Edges that are nearly tangent where they meet count for what it takes to tell them apart`() throws {
        // A fan whose sheets differ by half a degree.
        let count = 100
        let fan = Path(
            (0..<count).map {
                Contour(polyline: [.zero, Point(100, Double($0)), Point(100, Double($0) + 0.5)], closed: true)
            })
        let border = Path(rectangle: 50, -10, width: 100, height: 300)
        var budget = CuttingBudget(steps: Self.many)
        let parts = try PathCutter(border, within: &budget).cut(fan, within: &budget)
        #expect(abs(parts.inside.area + parts.outside.area - fan.area) < 1e-3)
        #expect(budget.spent > 300 * Int64(count * count))
    }

    @Test func dearCutLeavesStepsForTheNext() throws {
        let teeth = Path(polygon: (0..<1024).map { Point(Double($0), $0.isMultiple(of: 2) ? 0 : 768) })
        var budget = CuttingBudget(steps: Self.many, ofOperation: Self.few)
        let cutter = try PathCutter(teeth, within: &budget)
        #expect(throws: CuttingBudget.Exceeded.self) { try cutter.cut(DearPath.scribble.path, within: &budget) }
        let spent = budget.spent
        let square = Path(rectangle: 500, 100, width: 10, height: 10)
        let parts = try cutter.cut(square, within: &budget)
        #expect(abs(parts.inside.area + parts.outside.area - 100) < 1e-6)
        #expect(!parts.inside.isEmpty && !parts.outside.isEmpty && budget.spent > spent)
        #expect(budget.spent < 2 * Self.few)
    }
}
