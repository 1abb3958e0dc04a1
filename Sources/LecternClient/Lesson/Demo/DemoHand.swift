import StrokeWire

/// Carries out the steps of the demo lesson and keeps what a teacher client would have sent.
struct DemoHand {
    /// Shards are cut where a stroke has more points than this.
    private static let pointsPerShard = 48
    /// Points are taken 60 times a second.
    private static let sampling: Int64 = 60
    private static let board = (width: 1024.0, height: 768.0)

    private(set) var messages: [[UInt8]] = []
    private var random: SeededGenerator
    private var number: Int64 = 0
    private var milliseconds: Int64 = 400

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func perform(_ step: DemoStep) {
        switch step {
        case .write(let text, let start, let size, let pen):
            for stroke in Handwriting(size: size).strokes(text, at: start, using: &random) {
                draw(.freehand, stroke, pen, pause: 35...85)
            }
            milliseconds += 100
        case .line(let from, let to, let pen):
            draw(.line, [from, to], pen)
        case .arrow(let from, let to, let pen):
            draw(.line, PenPath.straight(from, to, step: 9), pen, pause: 80...160)
            draw(.freehand, head(from, to), pen)
        case .box(let element, let from, let to, let pen):
            draw(element, PenPath.straight(from, to, step: 11), pen)
        case .curve(let places, let pen):
            draw(.freehand, PenPath.smooth(places, step: 4), pen)
        case .erase(let places, let width):
            draw(.eraser, PenPath.smooth(places, step: 9), DemoStep.Pen(colour: 0, width: width))
        case .undo(let count):
            for _ in 0..<count { command(.undo) }
        case .redo(let count):
            for _ in 0..<count { command(.redo) }
        case .clear:
            command(.clear)
        case .pause(let pause):
            milliseconds += pause
        }
    }

    private func head(_ from: Place, _ to: Place) -> [Place] {
        let length = max(1, from.distance(to: to))
        let (dx, dy) = ((to.x - from.x) / length, (to.y - from.y) / length)
        let (back, side) = (12.0, 6.0)
        let left = Place(to.x - back * dx - side * dy, to.y - back * dy + side * dx)
        let right = Place(to.x - back * dx + side * dy, to.y - back * dy - side * dx)
        return PenPath.smooth([left, to, to, right], step: 3)
    }

    private mutating func draw(
        _ element: Element, _ places: [Place], _ pen: DemoStep.Pen, pause: ClosedRange<Int64> = 100...250
    ) {
        let points = places.map { StrokePoint(x: tenths($0.x), y: tenths($0.y)) }
        var header = next(.draw)
        header.colour = pen.colour
        header.width = pen.width
        header.element = element
        let interior = PointEncoder.interior(of: points)
        if points.count > Self.pointsPerShard {
            messages += ShardCutter.cut(header, interior: interior[...], pointsPerShard: Self.pointsPerShard)
        } else {
            messages.append(header.encoded(interior: interior[...]))
        }
        milliseconds += Int64(max(0, points.count - 1)) * 1000 / Self.sampling
        milliseconds += Int64.random(in: pause, using: &random)
    }

    private mutating func command(_ action: Action) {
        messages.append(next(action).encoded(interior: []))
        milliseconds += Int64.random(in: 180...360, using: &random)
    }

    private mutating func next(_ action: Action) -> StrokeMessage {
        number += 1
        return StrokeMessage(
            number: number, action: action, time: milliseconds, boardWidth: Self.board.width,
            boardHeight: Self.board.height)
    }

    /// A tenth of a unit is finer than any screen; more digits are only bytes.
    private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
