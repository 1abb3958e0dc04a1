import Ink
import TestSupport
import Testing

@testable import VectorGraphics

/// Counts the winding numbers of contours around points; arcs are taken as 8 chords.
private struct WindingCounter: ContourSink {
    let places: [Vector]
    var counts: [Int]
    private var position = Vector.zero
    private var start = Vector.zero
    /// Whether all contours are closed; only closed ones have a winding number.
    private(set) var isClosed = true

    init(_ places: [Vector]) {
        self.places = places
        counts = places.map { _ in 0 }
    }

    mutating func move(to point: Vector) {
        isClosed = isClosed && position == start
        position = point
        start = point
    }

    mutating func line(to point: Vector) {
        for (index, place) in places.enumerated() where (position.y <= place.y) != (point.y <= place.y) {
            let side = (point - position).cross(place - position)
            if position.y <= place.y, side > 0 { counts[index] += 1 }
            if position.y > place.y, side < 0 { counts[index] -= 1 }
        }
        position = point
    }

    mutating func arc(to point: Vector, around centre: Vector, radius: Double) {
        let from = position - centre
        let to = point - centre
        #expect(from.dot(to) > -1e-6 * radius * radius, "not more than a quarter")
        #expect(from.cross(to) > -1e-6 * radius * radius, "clockwise")
        for step in 1..<8 {
            let between = from.interpolated(to: to, at: Double(step) / 8)
            line(to: centre + between * (radius / between.length))
        }
        line(to: point)
    }

    mutating func close() { line(to: start) }
}

@Suite("The outline of a stroke of changing width")
struct RibbonOutlineTests {
    /// The distance of a point from the area that the discs cover on their way; negative inside.
    private func distance(_ place: Vector, _ discs: [Disc]) -> Double {
        if discs.count == 1 { return (place - discs[0].centre).length - discs[0].radius }
        return zip(discs, discs.dropFirst()).map { a, b in
            // The distance is convex along the way.
            func gap(_ t: Double) -> Double {
                (place - a.centre.interpolated(to: b.centre, at: t)).length - (a.radius + (b.radius - a.radius) * t)
            }
            var low = 0.0
            var high = 1.0
            for _ in 0..<40 {
                let third = (high - low) / 3
                if gap(low + third) < gap(high - third) { high -= third } else { low += third }
            }
            return min(gap(0), gap(1), gap((low + high) / 2))
        }.min() ?? .infinity
    }

    @Test(
        "winds round what the pen covered, nowhere against the clock, and round nothing else",
        arguments: TestSeed.choose(24))
    func winding(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // From gentle curves to scribbles: with larger turns come hairpins, with larger jumps discs in discs.
        let turn = [0.3, 1, 3][Int(seed % 3)]
        let jump = [0.02, 0.2, 3][Int(seed / 3 % 3)]
        var place = Vector(50, 50)
        var forward = Vector(1, 0)
        var radius = 4.0
        var discs: [Disc] = []
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            discs.append(Disc(centre: place, radius: radius))
            let left = Vector(forward.y, -forward.x) * Double.random(in: -turn...turn, using: &random)
            forward = (forward + left) / (forward + left).length
            if turn > 2, Double.random(in: 0...1, using: &random) < 0.2 { forward = -forward }
            place += forward * Double.random(in: 0...6, using: &random)
            radius = min(max(radius + Double.random(in: -jump...jump, using: &random), 0.5), 12)
        }
        let places =
            (0..<600).map { _ in
                Vector(Double.random(in: -30...130, using: &random), Double.random(in: -30...130, using: &random))
            } + discs.map(\.centre) + discs.map { $0.centre + Vector(0, $0.radius - 0.3) }
        var counter = WindingCounter(places)
        RibbonOutline(tolerance: 0.05).trace(discs, into: &counter)
        #expect(counter.isClosed)
        for (place, count) in zip(places, counter.counts) {
            let distance = distance(place, discs)
            if distance < -0.12 { #expect(count > 0, "inside by \(-distance)") }
            if distance > 0.12 { #expect(count == 0, "outside by \(distance)") }
            #expect(count >= 0)
        }
    }

    @Test("keeps to the line when discs are left out", arguments: TestSeed.choose(8))
    func thinning(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var place = Vector.zero
        var forward = Vector(1, 0)
        let discs = (0..<300).map { index in
            let left = Vector(forward.y, -forward.x) * Double.random(in: -0.05...0.05, using: &random)
            forward = (forward + left) / (forward + left).length
            place += forward
            return Disc(centre: place, radius: 3 + Double(index % 50) * 0.02)
        }
        let thinned = discs.simplified(tolerance: 0.05)
        #expect(thinned.first == discs.first && thinned.last == discs.last)
        #expect(thinned.count < discs.count * 3 / 4)
        for disc in discs {
            let nearest =
                zip(thinned, thinned.dropFirst()).map { a, b in
                    let way = b.centre - a.centre
                    let part = min(max((disc.centre - a.centre).dot(way) / way.dot(way), 0), 1)
                    let there = a.centre.interpolated(to: b.centre, at: part)
                    return (there - disc.centre).length + abs(a.radius + (b.radius - a.radius) * part - disc.radius)
                }.min() ?? .infinity
            #expect(nearest < 0.051)
        }
    }
}
