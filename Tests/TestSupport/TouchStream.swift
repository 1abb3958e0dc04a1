internal import Foundation
package import Ink
package import StrokeWire

/// What a pen tells in one go.
package enum TouchInput: Sendable {
    case event(TouchEvent)
    case late(LateTouchValues)
}

extension StrokeModel {
    @discardableResult
    package mutating func receive(_ input: TouchInput) -> Outcome {
        switch input {
        case .event(let event): receive(event)
        case .late(let late): receive(late)
        }
    }
}

/// The touches of one stroke, and the points that it has in the end.
package struct TouchStream: Sendable {
    package let inputs: [TouchInput]
    /// Those of the operation.
    package let points: [StrokePoint]
    package let element: Element
    package let width: Double
}

// MARK: - Recordings

/// Touches of an Apple Pencil as they were recorded: with estimated forces, later updates and predictions.
package enum PencilRecording: String, CaseIterable, Sendable {
    case loops = "events"
    case lines = "pencil-antigrain"

    private var path: String {
        let folder = EnvironmentVariable("LECTERN_SHARED_DATA").text ?? PackageRoot.path(to: "../shared/data")
        return "\(folder)/pencil/\(rawValue).json"
    }

    package static let areThere = allCases.allSatisfy { FileManager.default.isReadableFile(atPath: $0.path) }

    private struct Touch: Decodable {
        let phase: Int
        let timestamp: Double
        let location: [Double]
        let force, maximumPossibleForce, altitudeAngle, azimuth: Double
        let estimatedPropertiesExpectingUpdates: Int
        let estimationUpdateIndex: Int64?
        let isUpdate, isPrediction: Bool

        func point(since start: Double) -> StrokePoint {
            StrokePoint(
                x: location[0], y: location[1], force: min(max(force / maximumPossibleForce, 0), 1),
                altitude: altitudeAngle, azimuth: azimuth, milliseconds: ((timestamp - start) * 1000).rounded())
        }
    }

    /// The recorded touches. The points of the operation are found in another way than the model does it: the last report
    /// of each sample, without predictions.
    package func stream() throws -> TouchStream {
        let touches = try JSONDecoder().decode([Touch].self, from: Data(contentsOf: URL(filePath: path)))
        let start = touches[0].timestamp
        var inputs: [TouchInput] = []
        var event: TouchEvent?
        func end() {
            if let event { inputs.append(.event(event)) }
            event = nil
        }
        for touch in touches {
            let point = touch.point(since: start)
            let expected = TouchProperties(rawValue: touch.estimatedPropertiesExpectingUpdates)
            if touch.isPrediction {
                event?.predicted.append(point)
            } else if touch.isUpdate, let index = touch.estimationUpdateIndex {
                end()
                inputs.append(.late(LateTouchValues(estimationIndex: index, point: point, stillExpected: expected)))
            } else {
                if event?.predicted.isEmpty != true || touch.phase == 3 { end() }
                if event == nil {
                    event = TouchEvent(
                        phase: touch.phase == 0 ? .began : touch.phase == 3 ? .ended : .moved, samples: [])
                }
                event?.samples.append(
                    TouchSample(point, expected: expected, estimationIndex: touch.estimationUpdateIndex))
            }
        }
        end()
        let samples = touches.filter { !$0.isPrediction && !$0.isUpdate }
        let points = samples.map { sample in
            var point = sample.point(since: start)
            let last = touches.last { $0.isUpdate && $0.estimationUpdateIndex == sample.estimationUpdateIndex }
            if sample.estimationUpdateIndex != nil, let last { point.force = last.point(since: start).force }
            return point
        }
        return TouchStream(inputs: inputs, points: points, element: .freehand, width: 6)
    }
}

// MARK: - Made streams

extension TouchStream {
    /// Touches that end as the points of a stroke: a random number of samples at once, predictions of random use, and
    /// force, angles and places that come late, some of them twice and some after the pen is up.
    package init(of stroke: SampleStroke, using random: inout SeededGenerator) {
        var inputs: [TouchInput] = []
        var waiting: [LateTouchValues] = []
        var index: Int64 = Int64(random.int(0...1000))
        var place = 0
        while place < stroke.points.count {
            let count = min(random.int(1...random.pick([1, 4, 12])), stroke.points.count - place)
            let samples = stroke.points[place..<place + count].map { point in
                guard random.chance(1, in: 3) else { return TouchSample(point) }
                index += 1
                let expected: TouchProperties = random.chance(1, in: 4) ? [.force, .location, .altitude] : [.force]
                var estimated = point
                if point.force != nil { estimated.force = 0.5 }
                if expected.contains(.location) {
                    estimated.x += Double(random.int(-4...4))
                    if point.altitude != nil { estimated.altitude = 1 }
                }
                if random.chance(1, in: 4) {
                    waiting.append(LateTouchValues(estimationIndex: index, point: estimated, stillExpected: expected))
                }
                waiting.append(LateTouchValues(estimationIndex: index, point: point))
                return TouchSample(estimated, expected: expected, estimationIndex: index)
            }
            let phase: TouchEvent.Phase =
                place + count == stroke.points.count ? .ended : place == 0 ? .began : .moved
            inputs.append(
                .event(
                    TouchEvent(
                        phase: phase, samples: samples,
                        predicted: Self.predictions(stroke.points, after: place + count, using: &random))))
            place += count
            while !waiting.isEmpty, random.chance(2, in: 3) { inputs.append(.late(waiting.removeFirst())) }
        }
        self.init(
            inputs: inputs + waiting.map { .late($0) }, points: stroke.points, element: stroke.element,
            width: stroke.width)
    }

    /// Points that come true, or miss a little, or lead astray.
    private static func predictions(
        _ points: [StrokePoint], after end: Int, using random: inout SeededGenerator
    ) -> [StrokePoint] {
        let off = random.pick([0, 0, 2, 90])
        return points[end..<min(end + random.int(0...3), points.count)].map { point in
            var point = point
            point.x += Double(random.int(-off...off))
            point.y += Double(random.int(-off...off))
            return point
        }
    }

    /// Streams of the recorded pens, where they are there, and of some strokes of the lessons.
    package static func random(_ count: Int, using random: inout SeededGenerator) throws -> [TouchStream] {
        let strokes = try SampleLesson.short.flatMap { try $0.strokes() }
        let made = (0..<count).map { _ in TouchStream(of: random.pick(strokes), using: &random) }
        return PencilRecording.areThere ? try made + PencilRecording.allCases.map { try $0.stream() } : made
    }
}

// MARK: - The way over the network

/// A pen whose strokes go out as updates that get lost, come twice, or late.
package struct LossyPen {
    private let stream: TouchStream
    private var random: SeededGenerator
    /// The client that draws.
    private var sender = StrokeModel()
    private var update: Int64 = 0
    private var sent: UInt64 = 0
    private var inFlight: [[UInt8]] = []
    package private(set) var outcomes: [StrokeModel.Outcome] = []

    package init(_ stream: TouchStream, seed: UInt64) {
        self.stream = stream
        random = SeededGenerator(seed: seed)
    }

    /// Plays the stroke up to its last update, without its operation.
    /// - Parameter look: called after each update that came, and now and then twice in between.
    package mutating func play(
        to receiver: inout StrokeModel, _ look: (StrokeModel) throws -> Void
    ) throws {
        for input in stream.inputs {
            sender.receive(input)
            if random.chance(1, in: 2) { try send(since: sent) }
            if random.chance(1, in: 20) { try sendWhole() }
            try deliver(to: &receiver, look)
        }
        while !inFlight.isEmpty { try deliver(to: &receiver, look) }
    }

    /// What the client has in the end.
    package var points: [StrokePoint] { Array(sender.confirmed) }

    /// Sends the whole stroke until it has come.
    package mutating func heal(_ receiver: inout StrokeModel) throws {
        for update in try whole() { outcomes.append(receiver.receive(update.points, update: update.number)) }
    }

    private mutating func send(since version: UInt64) throws {
        var points = sender.update(since: version, style: WetStrokeStyle(element: stream.element))
        sent = sender.version
        // Sometimes in two halves.
        if points.points.count > 1, random.chance(1, in: 5) {
            let cut = random.int(1..<points.points.count)
            var first = points
            first.points.removeSubrange(cut...)
            first.predicted = []
            try queue(first)
            points.first += cut
            points.points.removeSubrange(..<cut)
        }
        try queue(points)
    }

    private mutating func sendWhole() throws { for part in try whole() { try post(part.number, part.points) } }

    /// All points, in parts of at most 200.
    private mutating func whole() throws -> [(number: Int64, points: WetPoints)] {
        let points = Array(sender.confirmed)
        return stride(from: 0, to: points.count, by: 200).map { first in
            update += 1
            let end = min(first + 200, points.count)
            return (
                update,
                WetPoints(
                    style: WetStrokeStyle(element: stream.element), first: first, points: Array(points[first..<end]),
                    predicted: end == points.count ? Array(sender.predicted) : [])
            )
        }
    }

    private mutating func queue(_ points: WetPoints) throws {
        update += 1
        try post(update, points)
    }

    private mutating func post(_ number: Int64, _ points: WetPoints) throws {
        guard random.chance(5, in: 6) else { return }
        let bytes = WetUpdate(number: 1, update: number, .points(points)).encoded()
        // Late by some, or twice.
        inFlight.insert(bytes, at: random.chance(1, in: 8) ? random.int(0...inFlight.count) : inFlight.count)
        if random.chance(1, in: 8) { inFlight.append(bytes) }
    }

    private mutating func deliver(to receiver: inout StrokeModel, _ look: (StrokeModel) throws -> Void) throws {
        while !inFlight.isEmpty, random.chance(2, in: 3) {
            let update = try WetUpdate(decoding: inFlight.removeFirst())
            guard case .points(let points) = update.content else { continue }
            outcomes.append(receiver.receive(points, update: update.update))
            if random.chance(2, in: 3) { try look(receiver) }
        }
    }
}
