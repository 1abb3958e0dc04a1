import ArgumentParser
import Foundation
import LecternClient
import StrokeWire

/// A stroke as a pen gave it: its points, and what was known of them when.
struct PenRecording {
    /// What came from the pen at one moment.
    enum Event {
        /// The next point, with its force estimated where the pen sends it late.
        case sample(StrokePoint)
        /// The force of an earlier point, as measured.
        case lateForce(place: Int, Double)
        /// Where the pen will be. Holds until the next sample.
        case predicted([StrokePoint])
    }

    let name: String
    /// In the order in which they came; times in milliseconds from the first point.
    let events: [(time: Double, event: Event)]
    /// The points as they are in the end.
    let points: [StrokePoint]
    let width: Double

    /// Milliseconds from the first point to the last.
    var duration: Double { points.last?.milliseconds ?? 0 }

    /// The same stroke with each force as it was estimated at first.
    var estimated: PenRecording {
        let points = events.compactMap { if case .sample(let point) = $0.event { point } else { nil } }
        return PenRecording(name: name, events: events, points: points, width: width)
    }
}

// MARK: - Recorded touch events

extension PenRecording {
    /// A touch as iOS reports it, as far as it is read.
    private struct Touch: Decodable {
        let timestamp: Double
        let location: [Double]
        let force: Double
        let maximumPossibleForce: Double
        let altitudeAngle: Double
        let azimuth: Double
        let isUpdate: Bool
        let isPrediction: Bool
        let estimationUpdateIndex: Int?
    }

    /// Reads a JSON array of touches: one stroke.
    ///
    /// A recording does not say when a report came. Taken is: a sample, when it was made; a late force or a prediction,
    /// with the sample before it in the recording. Predictions between two samples are those of one moment.
    init(touchesIn file: URL) throws {
        let touches = try JSONDecoder().decode([Touch].self, from: Data(contentsOf: file))
        guard let start = touches.first?.timestamp else { throw ValidationError("no touches in \(file.path)") }
        var events: [(time: Double, event: Event)] = []
        var points: [StrokePoint] = []
        var places: [Int: Int] = [:]
        var now = 0.0
        for touch in touches {
            let force = Self.rounded(min(touch.force / touch.maximumPossibleForce, 1), 1000)
            if touch.isUpdate {
                guard let place = touch.estimationUpdateIndex.flatMap({ places[$0] }) else { continue }
                points[place].force = force
                events.append((now, .lateForce(place: place, force)))
                continue
            }
            guard touch.location.count == 2 else { throw ValidationError("a touch without x and y in \(file.path)") }
            let point = StrokePoint(
                x: Self.rounded(touch.location[0], 100), y: Self.rounded(touch.location[1], 100), force: force,
                altitude: Self.rounded(touch.altitudeAngle, 1000), azimuth: Self.rounded(touch.azimuth, 1000),
                milliseconds: Self.rounded((touch.timestamp - start) * 1000, 10))
            if touch.isPrediction {
                if case .predicted(let others)? = events.last?.event {
                    events[events.count - 1].event = .predicted(others + [point])
                } else {
                    events.append((now, .predicted([point])))
                }
                continue
            }
            now = point.milliseconds ?? now
            if let index = touch.estimationUpdateIndex { places[index] = points.count }
            points.append(point)
            events.append((now, .sample(point)))
        }
        name = file.deletingPathExtension().lastPathComponent
        self.events = events
        self.points = points
        width = 8
    }

    private static func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }

    /// Reads the recordings of a folder, in the order of their names.
    static func touches(inFolder folder: String) throws -> [PenRecording] {
        try FileManager.default.contentsOfDirectory(at: URL(filePath: folder), includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }.map { try PenRecording(touchesIn: $0) }
    }
}

// MARK: - Strokes of a lesson

extension PenRecording {
    /// The freehand strokes of a lesson; each point was there at its time. Without times they come 60 a second. Of strokes
    /// with the same times, which are one recording at several sizes, only the first.
    static func strokes(of lesson: Lesson) -> [PenRecording] {
        var strokes: [Int64: (width: Double, shards: [(order: Int, points: [StrokePoint])])] = [:]
        var order: [Int64] = []
        for message in lesson.messages where message.header.action == .draw && message.header.element == .freehand {
            let header = message.header
            if strokes[header.number] == nil {
                strokes[header.number] = (header.width, [])
                order.append(header.number)
            }
            strokes[header.number]?.shards.append((Int(header.shardOrder), header.decodePoints(of: message.bytes)))
        }
        var times: Set<[Double]> = []
        return order.compactMap { number -> PenRecording? in
            guard let stroke = strokes[number] else { return nil }
            var points = stroke.shards.sorted { $0.order < $1.order }.flatMap(\.points)
            guard points.count > 2 else { return nil }
            let moments = points.compactMap(\.milliseconds)
            if moments.count < points.count {
                for place in points.indices { points[place].milliseconds = rounded(Double(place) * 1000 / 60, 10) }
            } else if !times.insert(moments).inserted {
                return nil
            }
            return PenRecording(
                name: "stroke \(number)", events: points.map { ($0.milliseconds ?? 0, .sample($0)) }, points: points,
                width: stroke.width)
        }
    }
}
