import Ink
import StrokeWire
import TestSupport
import Testing

@Suite struct `A stroke that is drawn` {
    private var model = StrokeModel()
    private let style = WetStrokeStyle()

    private func points(_ xs: Double...) -> [StrokePoint] { xs.map { StrokePoint(x: $0, y: 0) } }

    private func places(_ points: some Sequence<StrokePoint>) -> [Double] { points.map(\.x) }

    private func update(_ first: Int, _ xs: [Double], predicted: [Double] = []) -> WetPoints {
        WetPoints(
            style: style, first: first, points: xs.map { StrokePoint(x: $0, y: 0) },
            predicted: predicted.map { StrokePoint(x: $0, y: 0) })
    }

    @Test mutating func `takes points to their places and leaves those behind them`() {
        #expect(model.receive(update(0, [1, 2, 3, 4]), update: 1) == .taken(firstChanged: 0))
        #expect(model.receive(update(1, [20, 3]), update: 2) == .taken(firstChanged: 1))
        #expect(places(model.confirmed) == [1, 20, 3, 4])
        #expect(model.changes(since: 1) == StrokeModel.Change(places: 1..<2, count: 4))
        #expect(model.receive(update(1, [20, 3]), update: 3) == .taken(firstChanged: nil))
        #expect(model.version == 2, "an update that changes nothing makes no version")
    }

    @Test mutating func `ignores what is not newer, and reports what is missing`() {
        _ = model.receive(update(0, [1, 2]), update: 4)
        #expect(model.receive(update(0, [9]), update: 4) == .repeated)
        #expect(model.receive(update(3, [9]), update: 5) == .gap)
        #expect(model.receive(update(2, [3]), update: 5) == .taken(firstChanged: 2), "a gap takes no number")
        #expect(places(model.points) == [1, 2, 3])
    }

    @Test mutating func `shows predicted points until the next update, which may confirm them`() {
        _ = model.receive(update(0, [1], predicted: [2, 3, 4]), update: 1)
        #expect(places(model.points) == [1, 2, 3, 4] && places(model.confirmed) == [1])
        #expect(model.status(of: 0) == .confirmed && model.status(of: 1) == .predicted)
        _ = model.receive(update(1, [2], predicted: [5]), update: 2)
        #expect(places(model.points) == [1, 2, 5])
        #expect(model.changes(since: 1) == StrokeModel.Change(places: 1..<3, count: 3))
        _ = model.receive(update(2, []), update: 3)
        #expect(places(model.points) == [1, 2])
        #expect(model.changes(since: 2) == StrokeModel.Change(places: 2..<2, count: 2), "points are gone")
    }

    @Test mutating func `takes the late values that a sample expects, and no others`() {
        let expected: TouchProperties = [.force, .location]
        _ = model.receive(
            TouchEvent(
                phase: .began,
                samples: [
                    TouchSample(
                        StrokePoint(x: 1, y: 1, force: 0.3, altitude: 1), expected: expected, estimationIndex: 7),
                    TouchSample(StrokePoint(x: 2, y: 2, force: 0.3)),
                ], predicted: points(3)))
        #expect(model.status(of: 0) == .estimated && !model.isSettled)
        let late = StrokePoint(x: 1.5, y: 1, force: 0.8, altitude: 0.2)
        #expect(
            model.receive(LateTouchValues(estimationIndex: 7, point: late, stillExpected: .force))
                == .taken(firstChanged: 0))
        #expect(model.points[0] == StrokePoint(x: 1.5, y: 1, force: 0.8, altitude: 1))
        #expect(places(model.predicted) == [3], "late values leave predictions as they are")
        #expect(model.receive(LateTouchValues(estimationIndex: 8, point: late)) == .gap)
        // The place is settled by now.
        let last = StrokePoint(x: 99, y: 1, force: 0.9)
        #expect(model.receive(LateTouchValues(estimationIndex: 7, point: last)) == .taken(firstChanged: 0))
        #expect(model.points[0] == StrokePoint(x: 1.5, y: 1, force: 0.9, altitude: 1))
        #expect(model.receive(LateTouchValues(estimationIndex: 7, point: last)) == .gap)
    }

    @Test mutating func `ends with the pen up, and is settled with its last late value`() {
        let sample = TouchSample(StrokePoint(x: 1, y: 1, force: 0.3), expected: .force, estimationIndex: 1)
        _ = model.receive(TouchEvent(phase: .began, samples: [sample], predicted: points(2)))
        _ = model.receive(TouchEvent(phase: .ended, samples: [TouchSample(StrokePoint(x: 2, y: 2))]))
        #expect(model.phase == .ended && model.predicted.isEmpty && !model.isSettled)
        #expect(model.receive(TouchEvent(phase: .moved, samples: [sample])) == .closed)
        _ = model.receive(LateTouchValues(estimationIndex: 1, point: StrokePoint(x: 0, y: 0, force: 1)))
        #expect(model.isSettled && model.points[0].force == 1)
    }

    @Test mutating func `leaves nothing when it is given up, and takes nothing afterwards`() {
        _ = model.receive(update(0, [1, 2], predicted: [3]), update: 1)
        #expect(model.cancel(update: 1) == .repeated)
        #expect(model.cancel(update: 2) == .taken(firstChanged: 0))
        #expect(model.points.isEmpty && model.phase == .cancelled)
        #expect(model.receive(update(0, [1]), update: 3) == .closed)
        var touched = StrokeModel()
        _ = touched.receive(TouchEvent(phase: .began, samples: [TouchSample(StrokePoint(x: 1, y: 1))]))
        #expect(touched.receive(TouchEvent(phase: .cancelled, samples: [])) == .taken(firstChanged: 0))
        #expect(touched.points.isEmpty)
    }

    @Test func `has the points of its operation in the end, fewer or more`() {
        for operation in [points(1), points(1, 2, 7, 4, 5)] {
            var model = StrokeModel()
            _ = model.receive(update(0, [1, 2, 3], predicted: [4, 5, 6]), update: 1)
            model.complete(with: operation)
            #expect(model.points == operation && model.confirmedCount == operation.count)
            #expect(model.receive(update(0, [9]), update: 2) == .closed)
        }
    }

    @Test func `knows a bounded number of changes, and calls everything changed since one before them`() {
        var model = StrokeModel(rememberedChanges: 4)
        for place in 0..<10 { _ = model.receive(update(place, [Double(place)]), update: Int64(place + 1)) }
        #expect(model.version == 10)
        #expect(model.changes(since: 10) == nil)
        #expect(model.changes(since: 6)?.places == 6..<10)
        #expect(model.changes(since: 5)?.places == 0..<10)
        #expect(model.changes(since: 11)?.places == 0..<10, "a version of the future is none of this stroke")
        var forgetful = StrokeModel(rememberedChanges: 0)
        for place in 0..<3 { _ = forgetful.receive(update(place, [1]), update: Int64(place + 1)) }
        #expect(forgetful.changes(since: 2)?.places == 0..<3)
    }

    @Test mutating func `waits for the late values of a bounded number of samples`() {
        let samples = (0...StrokeModel.awaitedSamples).map {
            TouchSample(StrokePoint(x: Double($0), y: 0, force: 0), expected: .force, estimationIndex: Int64($0))
        }
        _ = model.receive(TouchEvent(phase: .began, samples: samples))
        let late = StrokePoint(x: 0, y: 0, force: 1)
        #expect(model.receive(LateTouchValues(estimationIndex: 0, point: late)) == .gap)
        #expect(model.receive(LateTouchValues(estimationIndex: 1, point: late)) == .taken(firstChanged: 1))
    }
}

@Suite struct `The path of a stroke that is drawn` {
    @Test func `changes by few segments for a new point, however long it is`() {
        for style in InkStyle.allCases {
            var model = StrokeModel()
            var path = StrokePath(element: .freehand, style: style, width: 4)
            for place in 0..<400 {
                let point = StrokePoint(x: Double(place) * 3, y: Double(place * place % 50), force: 0.5)
                _ = model.receive(TouchEvent(phase: .moved, samples: [TouchSample(point)]))
                guard let change = path.update(to: model) else { continue }
                #expect(change.segments.count <= 5, "\(style), point \(place): \(change.segments) of \(change.count)")
                #expect(change.box.high.x - change.box.low.x <= 24, "\(style), point \(place)")
            }
        }
    }

    @Test func `remembers a bounded number of changes, and calls everything changed since one before them`() {
        var model = StrokeModel()
        var path = StrokePath(element: .freehand, style: .quadratic, width: 4)
        for place in 0..<StrokePath.rememberedChanges + 2 {
            _ = model.receive(TouchEvent(phase: .moved, samples: [TouchSample(StrokePoint(x: Double(place), y: 0))]))
            path.update(to: model)
        }
        #expect(path.changes(since: path.version) == nil)
        #expect(path.changes(since: 2)?.segments.lowerBound == 1)
        #expect(path.changes(since: 1)?.segments == 0..<path.segments.count)
        #expect(path.changes(since: 1)?.box == .everything)
    }

    @Test func `is empty again when its stroke is given up`() {
        var model = StrokeModel()
        var path = StrokePath(element: .freehand, style: .pen, width: 4)
        _ = model.receive(
            TouchEvent(phase: .began, samples: (0..<9).map { TouchSample(StrokePoint(x: Double($0), y: 0)) }))
        path.update(to: model)
        model.cancel()
        let change = path.update(to: model)
        #expect(path.segments.isEmpty && change?.count == 0 && change?.segments.isEmpty == true)
        #expect(change?.box.low.x ?? 0 < 0 && change?.box.high.x ?? 0 > 8, "what is gone has to be repainted")
    }
}
