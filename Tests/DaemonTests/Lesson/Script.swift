import TestSupport

/// What a teacher does, drawn at random from a seed.
struct Script {
    struct Step: Sendable {
        let number: Int
        /// One body each; the media time is filled in when they are sent.
        let bodies: [@Sendable (_ time: Int) -> String]
    }

    private var random: SeededGenerator
    private var number = 0
    private let isPlain: Bool

    /// - Parameter isPlain: unsharded strokes only, as long as each other.
    init(seed: UInt64, isPlain: Bool) {
        random = SeededGenerator(seed: seed)
        self.isPlain = isPlain
    }

    mutating func next() -> Step {
        number += 1
        let points = Handwriting.strokes.randomElement(using: &random) ?? []
        guard !isPlain, number > 1 else { return draw(Array(points.prefix(20)), shards: 1) }
        switch random.int(0..<100) {
        case ..<12: return command(2)
        case ..<20: return command(3)
        case ..<22: return command(4)
        case ..<25: return draw(points, shards: 1, element: 9)
        case ..<45: return draw(points, shards: random.int(2...4))
        default: return draw(points, shards: 1)
        }
    }

    private func command(_ action: Int) -> Step {
        Step(number: number, bodies: [{ [number] time in #"{"n":\#(number),"a":\#(action),"t":\#(time)}"# }])
    }

    private mutating func draw(_ points: [ModelMessage.Point], shards: Int, element: Int = 0) -> Step {
        let first = shards > 1 && Bool.random(using: &random) ? 1 : 0
        let colour = random.int(0..<8)
        let bodies = (0..<shards).map { shard -> @Sendable (Int) -> String in
            let part = points[points.count * shard / shards..<points.count * (shard + 1) / shards]
            let text = part.map { #"{"x":\#($0.x),"y":\#($0.y)}"# }.joined(separator: ",")
            let head = #"{"n":\#(number),"c":\#(colour),"l":3,"s":\#(shards > 1 ? shards : 0),"o":\#(shard + first)"#
            return { #"\#(head),"e":\#(element),"a":1,"t":\#($0),"w":1024,"h":768,"d":[\#(text)]}"# }
        }
        return Step(number: number, bodies: bodies)
    }
}
