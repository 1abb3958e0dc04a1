package import StrokeWire

/// A stroke of random points on a canvas that it is turned, scaled and cut on, for comparing renderers.
package struct RandomStroke: CustomStringConvertible {
    package let element: Element
    /// In board units.
    package let points: [StrokePoint]
    /// In board units.
    package let width: Double
    /// Of the canvas in pixels.
    package let canvasWidth, canvasHeight: Int
    /// Pixels a board unit.
    package let scale: Double

    /// How many strokes tests of renderers draw: `LECTERN_STROKES`, or so many.
    package static func count(usually: Int) -> Int {
        EnvironmentVariable("LECTERN_STROKES").number.map { Int($0) } ?? usually
    }

    /// 1 … 24 points that lie 1 … 400 pixels apart, mostly freehand. Half of them lie in the middle of the canvas, but for
    /// what bends beyond the box of the points, the others anywhere.
    package init(using random: inout SeededGenerator) {
        func logarithmic(_ range: ClosedRange<Double>) -> Double {
            // Without the C library: a random power of two and a random place on the way to the next.
            var value = range.lowerBound
            while value * 2 <= range.upperBound, random.chance(3, in: 4) { value *= 2 }
            return min(Double.random(in: value...value * 2, using: &random), range.upperBound)
        }
        let isCut = random.chance(1, in: 2)
        let side = random.pick([60, 280, 280, 700])
        let cutSize = (width: random.int(side / 3...side), height: random.int(side / 3...side))
        scale = logarithmic(0.25...4)
        width = logarithmic(0.4...60) / scale
        element = random.chance(5, in: 6) ? .freehand : random.pick([.line, .rectangle, .ellipse])
        let step = logarithmic(1...400)
        // Between going straight on and turning anywhere.
        let turn = Double.random(in: 0...2, using: &random)
        let hasForce = random.chance(1, in: 3)
        var forward = Self.direction(&random)
        var x = Double.random(in: -40...Double(cutSize.width) + 40, using: &random)
        var y = Double.random(in: -40...Double(cutSize.height) + 40, using: &random)
        var time = 0.0
        var places: [StrokePoint] = []
        for _ in 0..<random.int(1...random.pick([4, 9, 9, 24])) {
            places.append(
                StrokePoint(
                    x: x / scale, y: y / scale, force: hasForce ? Double.random(in: 0...1, using: &random) : nil,
                    milliseconds: time))
            forward = Self.turned(forward, by: Self.direction(&random) * turn)
            let length = step * Double.random(in: 0.4...1, using: &random)
            x += forward.x * length
            y += forward.y * length
            time += Double(random.int(1...40))
        }
        guard !isCut else {
            (canvasWidth, canvasHeight) = cutSize
            points = places
            return
        }
        let margin = width * scale / 2 + Double.random(in: 2...70, using: &random)
        canvasWidth = Self.fit(&places, \.x, margin: margin, scale: scale)
        canvasHeight = Self.fit(&places, \.y, margin: margin, scale: scale)
        points = places
    }

    /// Moves points to the margin of a canvas; returns how many pixels that needs, 900 at most.
    private static func fit(
        _ points: inout [StrokePoint], _ coordinate: WritableKeyPath<StrokePoint, Double>, margin: Double, scale: Double
    ) -> Int {
        let low = (points.map { $0[keyPath: coordinate] }.min() ?? 0) * scale
        let high = (points.map { $0[keyPath: coordinate] }.max() ?? 0) * scale
        for index in points.indices { points[index][keyPath: coordinate] += (margin - low) / scale }
        return min(Int(high - low + 2 * margin) + 1, 900)
    }

    package var description: String {
        let places = points.map { "(\($0.x), \($0.y))" }.joined(separator: " ")
        return "\(element) of width \(width) at scale \(scale) on \(canvasWidth) × \(canvasHeight): \(places)"
    }

    /// A unit vector.
    private static func direction(_ random: inout SeededGenerator) -> SIMD2<Double> {
        while true {
            let place = SIMD2(Double.random(in: -1...1, using: &random), Double.random(in: -1...1, using: &random))
            let square = (place * place).sum()
            if square > 0.01, square <= 1 { return place / square.squareRoot() }
        }
    }

    private static func turned(_ way: SIMD2<Double>, by other: SIMD2<Double>) -> SIMD2<Double> {
        let sum = way + other
        let square = (sum * sum).sum()
        return square > 1e-6 ? sum / square.squareRoot() : way
    }
}

extension [StrokePoint] {
    /// 1 … 7 points that are next to nothing apart, in space and in time.
    package static func nearEachOther(using random: inout SeededGenerator) -> [StrokePoint] {
        let least = Double.leastNonzeroMagnitude
        let steps = [0, least, 2 * least, 1e-170, 3e-162, 1e-155, 1e-45, 1e-38, 1e-20, 1e-9, 0.1]
        let usual = random.pick(steps)
        var (x, y, time) = (0.0, 0.0, 0.0)
        let isHeldFlat = random.chance(1, in: 2)
        return (0..<random.int(1...7)).map { _ in
            let step = random.chance(3, in: 4) ? usual : random.pick(steps)
            x += step * random.pick([-1, 0, 1, 2])
            y += step * random.pick([-1, 0, 1, 3])
            time += random.pick(steps)
            return StrokePoint(
                x: x, y: y, altitude: isHeldFlat ? 0.3 : nil, azimuth: isHeldFlat ? 0.6 : nil, milliseconds: time)
        }
    }

    /// A walk of so many points with repeats, pauses, jumps and, half of the time, pen force and times.
    package static func random(count: Int, using random: inout SeededGenerator) -> [StrokePoint] {
        var x = Double.random(in: 0...1000, using: &random)
        var y = Double.random(in: 0...700, using: &random)
        var time = 0.0
        let hasPen = Bool.random(using: &random)
        return (0..<count).map { _ in
            let step = ([0, 0.4, 5, 5, 5, 40] as [Double]).randomElement(using: &random) ?? 5
            x += Double.random(in: -step...step, using: &random)
            y += Double.random(in: -step...step, using: &random)
            time += ([0, 4, 16, 16, 400] as [Double]).randomElement(using: &random) ?? 16
            return StrokePoint(
                x: x, y: y, force: hasPen ? Double.random(in: 0...1, using: &random) : nil,
                altitude: hasPen ? Double.random(in: 0...1.6, using: &random) : nil,
                azimuth: hasPen ? Double.random(in: -3.2...6.4, using: &random) : nil,
                milliseconds: hasPen ? time : nil)
        }
    }
}
