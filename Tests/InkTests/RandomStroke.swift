import StrokeWire
import TestSupport

extension [StrokePoint] {
    /// A walk of so many points with repeats, pauses, jumps and, half of the time, pen force and times.
    static func random(count: Int, using random: inout SeededGenerator) -> [StrokePoint] {
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
                milliseconds: hasPen ? time : nil)
        }
    }
}
