import Ink
import StrokeWire
import TestSupport
import Testing

/// Strokes of recorded and made pens, cut into random updates with predictions and late values, of which some are lost,
/// come twice or in another order.
@Suite struct `However a stroke is cut into updates` {
    @Test(arguments: TestSeed.choose(40))
    func `its path is in the end that of the points of its operation alone, in every style`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for (place, stream) in try TouchStream.random(6, using: &random).enumerated() {
            var pen = LossyPen(stream, seed: random.next())
            var model = StrokeModel(rememberedChanges: random.pick([0, 3, 64]))
            let unit = random.pick([1, 2, 0.25])
            var paths = InkStyle.allCases.map {
                StrokePath(element: stream.element, style: $0, width: stream.width, unit: unit)
            }
            func compare(_ when: String) {
                for index in paths.indices {
                    paths[index].update(to: model)
                    #expect(
                        line(paths[index]) == line(model.points, like: paths[index]),
                        "seed \(seed), stream \(place), \(paths[index].style), \(when)")
                }
            }
            try pen.play(to: &model) { model in
                for index in paths.indices where random.chance(1, in: 2) { paths[index].update(to: model) }
            }
            compare("after the last update that came")
            #expect(pen.points == stream.points, "seed \(seed), stream \(place)")
            try pen.heal(&model)
            #expect(Array(model.confirmed) == stream.points, "seed \(seed), stream \(place)")
            #expect(model.predicted.isEmpty, "seed \(seed), stream \(place)")
            compare("after the whole stroke")
            model.complete(with: stream.points)
            compare("after the operation")
            #expect(line(paths[0]) == line(stream.points, like: paths[0]))
        }
    }

    @Test(arguments: TestSeed.choose(40))
    func `its operation ends it, also where updates were lost`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for stream in try TouchStream.random(4, using: &random) {
            var pen = LossyPen(stream, seed: random.next())
            var model = StrokeModel()
            var path = StrokePath(element: stream.element, style: random.pick(InkStyle.allCases), width: stream.width)
            try pen.play(to: &model) { path.update(to: $0) }
            model.complete(with: stream.points)
            path.update(to: model)
            #expect(model.points == stream.points, "seed \(seed)")
            #expect(line(path) == line(stream.points, like: path), "seed \(seed), \(path.style)")
        }
    }

    @Test(arguments: TestSeed.choose(40))
    func `its changes name all that differs, and hardly more`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for stream in try TouchStream.random(4, using: &random) {
            var pen = LossyPen(stream, seed: random.next())
            var model = StrokeModel()
            var path = StrokePath(element: stream.element, style: random.pick(InkStyle.allCases), width: stream.width)
            var seen: [(model: StrokeModel, path: StrokePath)] = [(model, path)]
            try pen.play(to: &model) { model in
                let before = path
                let change = path.update(to: model)
                check(change, from: before, to: path, isExact: true, "seed \(seed), \(path.style)")
                seen.append((model, path))
                // Another reader of the same path, which has not looked for some versions.
                let earlier = random.pick(seen.suffix(12).map { $0 })
                check(earlier.model, to: model, isExact: false, "seed \(seed)")
                check(
                    path.changes(since: earlier.path.version), from: earlier.path, to: path, isExact: false,
                    "seed \(seed), \(path.style)")
            }
        }
    }

    @Test(arguments: TestSeed.choose(40))
    func `each change names the first and the last point that differ`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for stream in try TouchStream.random(4, using: &random) {
            var model = StrokeModel()
            for input in stream.inputs {
                let before = model
                model.receive(input)
                check(before, to: model, isExact: true, "seed \(seed)")
            }
            #expect(model.points == stream.points, "seed \(seed)")
        }
    }

    // MARK: - Checks

    private func line(_ path: StrokePath) -> [Recorder.Segment] {
        var recorder = Recorder()
        path.trace(into: &recorder)
        return recorder.segments
    }

    private func line(_ points: [StrokePoint], like path: StrokePath) -> [Recorder.Segment] {
        var recorder = Recorder()
        InkStroke(
            element: path.element, style: path.style, width: path.width, points: points, unit: path.unit
        ).trace(into: &recorder)
        return recorder.segments
    }

    /// Compares what the model says about the places since a version with the points themselves.
    private func check(_ before: StrokeModel, to after: StrokeModel, isExact: Bool, _ comment: Comment) {
        let differing = after.points.indices.filter { place in
            place >= before.points.count || before.points[place] != after.points[place]
                || before.status(of: place) != after.status(of: place)
        }
        guard let change = after.changes(since: before.version) else {
            #expect(differing.isEmpty && before.points.count == after.points.count, comment)
            return
        }
        #expect(change.count == after.points.count, comment)
        #expect(differing.allSatisfy(change.places.contains), comment)
        guard isExact else { return }
        if let first = differing.first, let last = differing.last {
            // Where points are gone the change begins with them, at most.
            #expect(change.places.lowerBound == min(first, change.count), comment)
            #expect(change.places.upperBound == last + 1, comment)
        } else {
            #expect(change.places.isEmpty && before.points.count > after.points.count, comment)
        }
    }

    /// Compares what a path says with the segments themselves.
    private func check(
        _ change: StrokePath.Change?, from before: StrokePath, to after: StrokePath, isExact: Bool, _ comment: Comment
    ) {
        func start(_ path: StrokePath, _ place: Int) -> PathSegment? { place > 0 ? path.segments[place - 1] : nil }
        let differing = after.segments.indices.filter { place in
            guard place < before.segments.count, before.segments[place] == after.segments[place] else { return true }
            return after.segments[place].kind != .begin
                && (start(before, place)?.end != start(after, place)?.end
                    || start(before, place)?.nib != start(after, place)?.nib)
        }
        guard let change else {
            #expect(differing.isEmpty && before.segments.count == after.segments.count, comment)
            return
        }
        #expect(change.count == after.segments.count, comment)
        #expect(differing.allSatisfy(change.segments.contains), comment)
        guard isExact else { return }
        if let first = differing.first, let last = differing.last {
            #expect(change.segments == first..<last + 1, comment)
        } else {
            #expect(change.segments.isEmpty && before.segments.count > after.segments.count, comment)
        }
        // Boxes: of what is there now at least, around every changed end.
        for place in differing {
            let segment = after.segments[place]
            #expect(all(change.box.low .<= segment.end) && all(change.box.high .>= segment.end), comment)
        }
        #expect(all(change.tailBox.low .<= change.box.low) && all(change.tailBox.high .>= change.box.high), comment)
    }
}
