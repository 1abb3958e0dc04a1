public import LecternClient
public import StrokeWire

/// The built-in lesson: about ninety seconds of a physics and maths class on two boards.
///
/// It is generated, handwriting included, and covers the protocol: all elements and actions, sharded strokes, several
/// colours and widths, undo and redo runs, a clear.
public enum DemoLesson {
    /// Makes the lesson, the same for the same seed on every machine.
    ///
    /// - Parameters:
    ///   - seed: seed of the jitter and the pauses of the hand. The content is always the same.
    ///   - hasTimes: whether each point has its time, so that strokes can grow while they are drawn.
    /// - Throws: an invalid message, which no known seed makes.
    public static func make(seed: UInt64 = 1, hasTimes: Bool = false) throws(MalformedMessage) -> Lesson {
        try lesson(
            DemoScript.firstBoard + [.clear, .pause(milliseconds: 900)] + DemoScript.secondBoard,
            by: DemoHand(seed: seed, hasTimes: hasTimes))
    }

    /// Makes the lesson on slides, about a minute: ink on the pages of ``DemoSlides``, turns, a lasso, a pointer, a text, a page of
    /// squared paper.
    ///
    /// - Parameters:
    ///   - pages: those of the room that show the three slides; page 0 has squares.
    ///   - firstNumber: of its operations, after those that brought the slides.
    /// - Throws: an invalid message, which no known seed makes.
    public static func makeOnSlides(_ pages: [Int], firstNumber: Int64) throws(MalformedMessage) -> Lesson {
        let hand = DemoHand(seed: 1, hasTimes: true, firstNumber: firstNumber)
        return try lesson(DemoScript.onSlides(pages), by: hand)
    }

    private static func lesson(_ script: [DemoStep], by hand: DemoHand) throws(MalformedMessage) -> Lesson {
        var hand = hand
        for step in script { hand.perform(step) }
        return Lesson(
            try hand.messages.map { bytes throws(MalformedMessage) in (bytes, try StrokeMessage(decoding: bytes)) })
    }
}

/// A step of the demo lesson's script.
enum DemoStep {
    /// A line of handwriting; see ``Handwriting`` for `^` and `_`.
    case write(String, at: Place, size: Double, Pen = .black)
    /// A straight line, sent as its two ends.
    case line(Place, Place, Pen)
    /// A straight line with a freehand arrow head at its end.
    case arrow(Place, Place, Pen)
    /// A rectangle or an ellipse, sent as the whole drag from corner to corner.
    case box(Element, Place, Place, Pen)
    /// A freehand curve through the places.
    case curve([Place], Pen)
    /// An eraser stroke through the places.
    case erase([Place], width: Double)
    case undo(Int)
    case redo(Int)
    case clear
    case point([Place])
    /// A typed line of letters; `size` is its height.
    case type(String, at: Place, size: Double, Pen = .black)
    case rule(Paper.Ruling, page: Int)
    /// Shows a page.
    case turn(Int)
    /// Moves what lies inside of a path.
    case lasso([Place], right: Double, down: Double)
    /// The teacher talks and draws nothing.
    case pause(milliseconds: Int64)

    /// An index into the default palette and a width in board units.
    struct Pen {
        var colour: UInt32
        var width: Double

        static let black = Pen(colour: 0, width: 2.5)
        static let red = Pen(colour: 1, width: 3)
        static let pointer = Pen(colour: 1, width: 8)
        static let blue = Pen(colour: 2, width: 3)
        static let green = Pen(colour: 3, width: 4)
        static let orange = Pen(colour: 4, width: 2)
        static let violet = Pen(colour: 5, width: 3.5)
        static let grey = Pen(colour: 7, width: 1.5)
    }
}

/// Draws the steps of the script and encodes the messages of a teacher client.
private struct DemoHand {
    /// Longer strokes are sent in shards of this many points.
    private static let pointsPerShard = 48
    /// Points per second.
    private static let sampling: Int64 = 60
    private static let board = (width: 1024.0, height: 768.0)

    private(set) var messages: [[UInt8]] = []
    private let hasTimes: Bool
    private var random: SeededGenerator
    private var number: Int64 = 0
    private var milliseconds: Int64 = 400

    init(seed: UInt64, hasTimes: Bool, firstNumber: Int64 = 1) {
        self.hasTimes = hasTimes
        number = firstNumber - 1
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
        case .point(let places):
            draw(.pointer, PenPath.smooth(places, step: 8), .pointer)
        case .type(let text, let start, let size, let pen):
            type(text, at: start, height: size, pen)
        case .rule(let ruling, let page):
            var header = next(.paper)
            header.page = page
            header.content = .paper(Paper(.ruled(ruling, distance: 32)))
            messages.append(header.encoded(interior: []))
        case .turn(let page):
            command(.turn, page: page)
        case .lasso(let places, let right, let down):
            lasso(places, LassoMap(a: 1, b: 0, c: 0, d: 1, e: right, f: down))
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
        let points = places.enumerated().map { index, place in
            StrokePoint(
                x: tenths(place.x), y: tenths(place.y),
                milliseconds: hasTimes ? Double(Int64(index) * 1000 / Self.sampling) : nil)
        }
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

    /// Its points have no times: it takes effect at once, when the pen is lifted.
    private mutating func lasso(_ places: [Place], _ map: LassoMap) {
        milliseconds += Int64(places.count) * 1000 / Self.sampling
        var header = next(.draw)
        header.element = .lasso
        header.content = .lasso(map, keepsOriginal: false)
        let points = places.map { StrokePoint(x: tenths($0.x), y: tenths($0.y)) }
        messages.append(header.encoded(interior: PointEncoder.interior(of: points)[...]))
        milliseconds += Int64.random(in: 100...250, using: &random)
    }

    /// It takes effect at once, when all of it is typed. A letter is a half of its line wide.
    private mutating func type(_ text: String, at start: Place, height: Double, _ pen: DemoStep.Pen) {
        milliseconds += Int64(text.count) * 120
        var header = next(.draw)
        header.element = .text
        (header.colour, header.width, header.content) = (pen.colour, height, .text(text))
        let end = Place(start.x + Double(text.count) * height / 2, start.y + height)
        let points = [start, end].map { StrokePoint(x: tenths($0.x), y: tenths($0.y)) }
        messages.append(header.encoded(interior: PointEncoder.interior(of: points)[...]))
        milliseconds += Int64.random(in: 100...250, using: &random)
    }

    private mutating func command(_ action: Action, page: Int? = nil) {
        var header = next(action)
        header.page = page
        messages.append(header.encoded(interior: []))
        milliseconds += Int64.random(in: 180...360, using: &random)
    }

    private mutating func next(_ action: Action) -> StrokeMessage {
        number += 1
        return StrokeMessage(
            number: number, action: action, time: milliseconds, boardWidth: Self.board.width,
            boardHeight: Self.board.height)
    }

    /// A tenth of a unit is finer than any screen; more digits cost bytes.
    private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
