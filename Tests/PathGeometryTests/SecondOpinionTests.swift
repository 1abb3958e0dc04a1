internal import Foundation
import PathGeometry
import TestSupport
import Testing

/// The same areas as those of Skia's path operations, which share no code with this module.
///
/// Skia (skia-pathops 0.9.2) works in 32-bit floats: of 60,000 areas of such paths, about 100 wide, 87 were wrong or absent
/// there. The others agree to 0.01. Where the two differ, scan lines decide.
@Suite(.timeLimit(.minutes(5))) struct SecondOpinionTests {
    /// The error of scan lines and of their chords.
    private static let scanSlack = 0.05

    /// Python with skia-pathops, in an environment of its own; nil where it is not installed.
    private static let python = InstalledProgram(path: PackageRoot.path(to: ".build/paths/bin/python"))
        .flatMap { (try? $0.run(["-c", "import pathops"])) == nil ? nil : $0 }

    @Test(.enabled(if: python != nil, "needs skia-pathops: make paths"))
    func areasAreThoseOfSkia() throws {
        var lines = ""
        var areas: [(area: Double, seed: UInt64)] = []
        for seed in TestSeed.choose(400) {
            var random = SeededGenerator(seed: seed)
            let (one, other) = RandomPath.pair(using: &random)
            let (rule, otherRule) = (random.pick(FillRule.allCases), random.pick(FillRule.allCases))
            let found = [
                one.union(other, fillRule: rule, otherFillRule: otherRule).area,
                one.intersection(other, fillRule: rule, otherFillRule: otherRule).area,
                one.difference(other, fillRule: rule, otherFillRule: otherRule).area,
            ]
            areas += found.map { ($0, seed) }
            let (isEvenOdd, isOtherEvenOdd) = (rule == .evenOdd, otherRule == .evenOdd)
            let numbers = found.map { "\($0)" }.joined(separator: ",")
            lines += "[\(text(one)),\(text(other)),\(isEvenOdd),\(isOtherEvenOdd),\(numbers)]\n"
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "paths-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try lines.write(to: file, atomically: true, encoding: .utf8)
        let script = PackageRoot.path(to: "Tests/PathGeometryTests/skia_areas.py")
        let printed = try #require(try Self.python?.run([script, file.path]))
        // Skia's area, and the one by scan lines where that is another one.
        let answers = String(decoding: printed, as: UTF8.self).split(separator: "\n")
            .map { $0.split(separator: " ").map { Double($0) } }
        try #require(answers.count == areas.count)
        var differing = 0
        for (known, answer) in zip(areas, answers) where answer.count > 1 {
            differing += 1
            let scanned = try #require(answer[1])
            #expect(abs(known.area - scanned) <= Self.scanSlack, "seed \(known.seed), Skia: \(answer)")
        }
        print("Skia is wrong about, or lacks, \(differing) of \(areas.count) areas")
        #expect(differing <= 5 + areas.count / 200)
    }

    private func text(_ path: Path) -> String {
        let contours = path.contours.map { contour in
            let segments = contour.segments.map { segment in
                let points: [Point] =
                    switch segment {
                    case .line(let p, let q): [p, q]
                    case .quadratic(let p, let c, let q): [p, c, q]
                    case .cubic(let p, let c1, let c2, let q): [p, c1, c2, q]
                    }
                return "[\(points.map { "\($0.x),\($0.y)" }.joined(separator: ","))]"
            }
            return "[\(segments.joined(separator: ","))]"
        }
        return "[\(contours.joined(separator: ","))]"
    }
}
