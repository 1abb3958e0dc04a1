import Ink
import Raster
import StrokeWire

/// How far the ink of some points is from the ink of all that the pen gave.
enum InkDifference {
    /// Pixels a board unit.
    private static let scale = 2.0

    /// The coverage that differs, of the coverage of the full ink, in percent; over all strokes, each on a canvas of its
    /// own at two pixels a unit.
    static func percent(of content: PenContent, in recordings: [PenRecording], style: InkStyle, width: Double) -> Double
    {
        percent(of: recordings.map(content.reduced), in: recordings, style: style, width: width)
    }

    /// The same of any points for each stroke.
    static func percent(
        of strokes: [[StrokePoint]], in recordings: [PenRecording], style: InkStyle, width: Double
    ) -> Double {
        var (different, all) = (0.0, 0.0)
        for (recording, points) in zip(recordings, strokes) {
            let full = coverage(recording.points, style, width)
            let reduced = coverage(points, style, width)
            for (one, other) in zip(full, reduced) {
                different += abs(Double(one) - Double(other))
                all += Double(one)
            }
        }
        return all > 0 ? 100 * different / all : 0
    }

    private static func coverage(_ points: [StrokePoint], _ style: InkStyle, _ width: Double) -> [UInt8] {
        let size = CanvasSize(boardWidth: 1024, boardHeight: 768, scale: scale)
        var canvas = Canvas(width: size.width, height: size.height)
        var painter = StrokePainter(canvasWidth: size.width, canvasHeight: size.height, scale: size.scale)
        let stroke = InkStroke(element: .freehand, style: style, width: width, points: points)
        painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0)), on: &canvas)
        var alpha: [UInt8] = []
        alpha.reserveCapacity(size.width * size.height)
        for y in 0..<size.height {
            for x in 0..<size.width { alpha.append(UInt8(canvas.pixel(x: x, y: y) >> 24)) }
        }
        return alpha
    }
}

/// How well a pen's predictions foretell it, in board units.
struct PredictionError {
    /// From the last real point to where the pen was at the time of the farthest prediction: what is seen without them.
    private(set) var without: [Double] = []
    /// From that prediction to where the pen was.
    private(set) var with: [Double] = []
    /// Milliseconds from the last real point to the farthest prediction.
    private(set) var reach: [Double] = []

    init(_ recordings: [PenRecording]) {
        for recording in recordings {
            var last: StrokePoint?
            for (_, event) in recording.events {
                switch event {
                case .sample(let point): last = point
                case .lateForce: break
                case .predicted(let points):
                    guard let last, let farthest = points.max(by: { $0.time < $1.time }), farthest.time > last.time,
                        let real = recording.place(at: farthest.time)
                    else { continue }
                    without.append(real.distance(to: last))
                    with.append(real.distance(to: farthest))
                    reach.append(farthest.time - last.time)
                }
            }
        }
        without.sort()
        with.sort()
        reach.sort()
    }
}

extension StrokePoint {
    fileprivate var time: Double { milliseconds ?? 0 }

    fileprivate func distance(to other: StrokePoint) -> Double {
        let (dx, dy) = (x - other.x, y - other.y)
        return (dx * dx + dy * dy).squareRoot()
    }
}

extension PenRecording {
    /// Where the pen was, between two points on the straight line; nil after the last one.
    fileprivate func place(at time: Double) -> StrokePoint? {
        guard let next = points.firstIndex(where: { $0.time >= time }), next > 0 else { return nil }
        let (before, after) = (points[next - 1], points[next])
        let part = (time - before.time) / max(after.time - before.time, 0.001)
        return StrokePoint(x: before.x + part * (after.x - before.x), y: before.y + part * (after.y - before.y))
    }
}
