import StrokeWire
import TestSupport

/// A pen that draws a stroke of its teacher and sends updates of it: points that are new or were sent before, the whole
/// stroke now and then, values that come late, predicted points, or the word that it is given up.
final class Pen {
    let stroke: SentMessage
    private let world: World
    private let count: Int
    /// The number of points at which it is given up.
    private let end: Int?
    private var points: [StrokePoint] = []
    private var sent = 0
    private var update: Int64 = 0
    private(set) var isGivenUp = false
    private(set) var isUp = false

    /// Predicted points lie from here on.
    static let predicted = 900.0

    init(_ sent: SentMessage, world: World) {
        self.world = world
        var stroke = sent
        stroke.step = world.random.int(5...60)
        self.stroke = stroke
        count = world.random.int(1...16)
        end = world.chance(100) ? world.random.int(1...16) : nil
    }

    /// Draws the next point.
    /// - Returns: the updates that are sent.
    func move() -> [[UInt8]] {
        let index = points.count
        // A value that comes late.
        let y = Double(index % 7) + (world.chance(300) ? 0.5 : 0)
        points.append(StrokePoint(x: Double(index), y: y, milliseconds: Double(index * stroke.step)))
        isUp = points.count == count || points.count == end
        if points.count == end {
            isGivenUp = true
            update += 1
            return [WetUpdate(number: stroke.number, update: update, .givenUp).encoded()]
        }
        var updates: [[UInt8]] = []
        if world.chance(700) { updates.append(content(from: world.chance(150) ? 0 : sent)) }
        if world.chance(150), let late = points.firstIndex(where: { $0.y != $0.y.rounded(.down) }) {
            points[late].y = points[late].y.rounded(.down)
            updates.append(content(from: late))
        }
        return updates
    }

    private func content(from first: Int) -> [UInt8] {
        update += 1
        sent = points.count
        let predicted = (0..<(world.chance(500) ? 2 : 0)).map { StrokePoint(x: Self.predicted + Double($0), y: 0) }
        return WetUpdate(
            number: stroke.number, update: update,
            .points(
                WetPoints(
                    style: WetStrokeStyle(element: stroke.entry == .pointer ? .pointer : .freehand, time: stroke.time),
                    first: first,
                    points: Array(points[first...]),
                    predicted: predicted))
        ).encoded()
    }
}
