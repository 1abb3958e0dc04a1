import Foundation
import StrokeWire
import TestSupport
import Testing

@testable import Ink

/// Even shapes for rough ones, where the pen rests.
@Suite struct `Shapes are recognized where the pen rests` {
    private enum Kind: CaseIterable { case line, circle, ellipse, rectangle, square, triangle }

    /// A shape as a hand draws it: with slow wobbles, jitter, a tilt, and ends that do not meet. Then the pen rests for 0.6 s.
    private struct RoughShape {
        let kind: Kind
        var points: [StrokePoint] = []
        let low, high: SIMD2<Double>

        init(_ kind: Kind, _ random: inout SeededGenerator) {
            func number(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &random) }
            self.kind = kind
            let size = number(40...400)
            let other = size * ([.circle, .square].contains(kind) ? 1 : number(0.35...0.75))
            let half = (Bool.random(using: &random) ? SIMD2(size, other) : SIMD2(other, size)) / 2
            let centre = SIMD2(number(250...750), number(250...500))
            (low, high) = (centre - half, centre + half)
            var path: [SIMD2<Double>]
            switch kind {
            case .line:
                let angle = number(0...(2 * .pi))
                path = (0...60).map { SIMD2(cos(angle), sin(angle)) * (size * (Double($0) / 60 - 0.5)) }
            case .circle, .ellipse:
                let (start, end) = (number(0...(2 * .pi)), number(5.9...6.6))
                path = (0...90).map { step in
                    let angle = start + end * Double(step) / 90
                    return half * SIMD2(cos(angle), sin(angle))
                }
            case .rectangle, .square, .triangle:
                var corners = [SIMD2(-half.x, -half.y), SIMD2(half.x, -half.y), half, SIMD2(-half.x, half.y)]
                if kind == .triangle {
                    corners = [SIMD2(number(-0.4...0.4) * half.x, -half.y), half, SIMD2(-half.x, half.y)]
                }
                if Bool.random(using: &random) { corners.reverse() }
                let first = Int.random(in: corners.indices, using: &random)
                corners = Array(corners[first...] + corners[...first])
                path = zip(corners, corners.dropFirst()).flatMap { from, to in
                    (0..<25).map { from + (to - from) * (Double($0) / 25) }
                }
                let (last, gap) = (corners[corners.count - 1], number(-0.05...0.05))
                path.append(last + (last - corners[corners.count - 2]) * gap)
            }
            let tilt = number(-0.1...0.1)
            let (wobble, turn, other2) = (number(0...0.02) * size, number(0...6), number(0...6))
            var milliseconds = 0.0
            for (step, place) in path.enumerated() {
                let turned = SIMD2(place.x * cos(tilt) - place.y * sin(tilt), place.x * sin(tilt) + place.y * cos(tilt))
                let at = Double(step) / 14
                let off = SIMD2(
                    wobble * sin(at + turn) + number(-0.5...0.5), wobble * cos(1.3 * at + other2) + number(-0.5...0.5))
                let seen = centre + turned + off
                points.append(StrokePoint(x: seen.x, y: seen.y, milliseconds: milliseconds))
                milliseconds += 16
            }
            let last = points[points.count - 1]
            for _ in 0..<38 {
                milliseconds += 16
                points.append(
                    StrokePoint(x: last.x + number(-1...1), y: last.y + number(-1...1), milliseconds: milliseconds))
            }
        }

        /// Whether it is that shape, about where it was drawn.
        func isMet(by shape: EvenShape?) -> Bool {
            let reach = 0.12 * (high - low).max() + 3
            func isNear(_ from: SIMD2<Double>, _ to: SIMD2<Double>) -> Bool {
                let (seenLow, seenHigh) = (pointwiseMin(from, to), pointwiseMax(from, to))
                let off = [seenLow.x - low.x, seenLow.y - low.y, seenHigh.x - high.x, seenHigh.y - high.y]
                return off.allSatisfy { abs($0) < reach }
            }
            switch (kind, shape) {
            case (.line, .line(let from, let to)):
                let (first, last) = (points[0], points[60])
                return [from.x - first.x, from.y - first.y, to.x - last.x, to.y - last.y].allSatisfy { abs($0) < 6 }
            case (.circle, .ellipse(let from, let to)):
                return isNear(from, to) && abs((to.x - from.x) - (to.y - from.y)) < 0.001
            case (.ellipse, .ellipse(let from, let to)), (.rectangle, .rectangle(let from, let to)):
                return isNear(from, to)
            case (.square, .rectangle(let from, let to)): return isNear(from, to)
            case (.triangle, .triangle(let one, let other, let last)):
                return isNear(
                    pointwiseMin(one, pointwiseMin(other, last)), pointwiseMax(one, pointwiseMax(other, last)))
            default: return false
            }
        }
    }

    /// The shape of a stroke whose pen was lifted after so many milliseconds.
    private static func shape(_ points: [StrokePoint], until milliseconds: Double) -> EvenShape? {
        ShapeRecognizer.beforeRest(points, until: milliseconds).flatMap { ShapeRecognizer.shape(of: $0) }
    }

    @Test func `95 of 100 rough shapes of each kind become even about where they were drawn`() {
        var random = SeededGenerator(seed: 20_261_128)
        for kind in Kind.allCases {
            var (met, count) = (0, 0)
            for _ in 0..<400 {
                let rough = RoughShape(kind, &random)
                let end = rough.points.last?.milliseconds ?? 0
                count += 1
                if rough.isMet(by: Self.shape(rough.points, until: end)) { met += 1 }
                // The same without the rest.
                #expect(Self.shape(Array(rough.points.dropLast(38)), until: end - 38 * 16) == nil, "\(kind)")
            }
            #expect(met * 100 >= count * 95, "\(kind): \(met) of \(count)")
        }
    }

    @Test(arguments: SampleLesson.available)
    func `no letter and no word of the lessons is a shape where the pen does not rest`(lesson: SampleLesson) throws {
        var (strokes, like, shards) = (0, 0, [StrokePoint]())
        func check() {
            guard shards.count > 1 else { return }
            strokes += 1
            // Lessons without times were written at 60 points a second.
            if shards[0].milliseconds == nil {
                for place in shards.indices { shards[place].milliseconds = Double(place) * 1000 / 60 }
            }
            let end = shards.last?.milliseconds ?? 0
            #expect(Self.shape(shards, until: end) == nil)
            if ShapeRecognizer.shape(of: shards) != nil { like += 1 }
        }
        for message in try lesson.messages() {
            var points: [StrokePoint] = []
            let header = try StrokeMessage(decoding: message, limits: .accepted, points: &points)
            guard header.action == .draw, header.element == .freehand else { continue }
            if header.isSharded, header.shardOrder > 0 {
                shards += points
            } else {
                check()
                shards = points
            }
        }
        check()
        #expect(strokes > 15)
        print("\(lesson): \(like) of \(strokes) strokes would be shapes if the pen rested at their ends")
    }

    @Test func `a stroke that is no shape, too small or not of numbers stays as it is`() {
        func points(_ places: [(Double, Double)]) -> [StrokePoint] { places.map { StrokePoint(x: $0.0, y: $0.1) } }
        #expect(ShapeRecognizer.shape(of: points([])) == nil)
        #expect(ShapeRecognizer.shape(of: points([(1, 1)])) == nil)
        #expect(ShapeRecognizer.shape(of: points([(1, 1), (1, 1)])) == nil)
        #expect(ShapeRecognizer.shape(of: points([(0, 0), (.nan, 5)])) == nil)
        #expect(ShapeRecognizer.shape(of: points([(0, 0), (10, 0)])) == nil, "too small")
        #expect(ShapeRecognizer.shape(of: points([(0, 0), (100, 0)])) == .line(from: SIMD2(0, 0), to: SIMD2(100, 0)))
        func curve(_ count: Int, step: Double, _ radius: (Double) -> Double) -> [StrokePoint] {
            (0..<count).map { place in
                let (angle, reach) = (Double(place) * step, radius(Double(place)))
                return StrokePoint(x: 300 + reach * cos(angle), y: 300 + reach * sin(angle))
            }
        }
        #expect(ShapeRecognizer.shape(of: curve(200, step: 0.125) { $0 }) == nil, "a spiral")
        #expect(ShapeRecognizer.shape(of: curve(6, step: 2.513) { _ in 100 }) == nil, "a star")
        #expect(ShapeRecognizer.shape(of: curve(40, step: 0.1) { _ in 100 }) == nil, "an arc")
    }
}
