import Ink
import StrokeWire
import Testing

@Suite struct `Tips of stamps` {
    private func stroke(_ tip: InkTip, _ points: [StrokePoint], _ element: Element = .freehand) -> InkStroke {
        InkStroke(element: element, style: .stamp, width: 16, points: points, tip: tip)
    }

    private func samples(_ stroke: InkStroke) -> [CentreSample] {
        var fitter = ParabolaFitter(scale: 1, canvasWidth: 500, canvasHeight: 500)
        stroke.trace(into: &fitter)
        return fitter.samples
    }

    private func stamps(_ stroke: InkStroke) -> [Stamp] {
        var placer = StampPlacer(scale: 1, canvasWidth: 500, canvasHeight: 500, tip: stroke.tip)
        var stamps: [Stamp] = []
        func add(_ stamp: Stamp) -> Bool {
            stamps.append(stamp)
            return true
        }
        _ = samples(stroke).withUnsafeBufferPointer { placer.add($0, add) }
        _ = placer.finish(add)
        return stamps
    }

    private func path(_ azimuths: [Double?]) -> [StrokePoint] {
        azimuths.enumerated().map { StrokePoint(x: 20 + 30 * Double($0), y: 50, altitude: 0.9, azimuth: $1) }
    }

    @Test func `are told to clients with the style, and alone where they matter`() {
        #expect(
            InkTip.allCases.map { InkStyle.stamp.name(tip: $0) } == [
                "stamp", "stamp-square", "stamp-marker", "stamp-highlighter",
            ])
        #expect(InkStyle.pen.name(tip: .marker) == "pen")
    }

    @Test func `leave the line as it is, but for felt, whose width is even`() {
        let points = points([(20, 20), (60, 30), (90, 90), (40, 120), (200, 130)])
        func line(_ tip: InkTip, _ element: Element = .freehand, _ style: InkStyle = .stamp) -> [Recorder.Segment] {
            var recorder = Recorder()
            InkStroke(element: element, style: style, width: 16, points: points, tip: tip).trace(into: &recorder)
            return recorder.segments
        }
        #expect(line(.square) == line(.round))
        #expect(line(.round) == line(.round, .freehand, .pen))
        for tip in [InkTip.marker, .highlighter] {
            #expect(line(tip) != line(.round))
            #expect(samples(stroke(tip, points)).allSatisfy { $0.radius == 8 })
            #expect(line(tip, .eraser) == line(.round, .eraser))
            for style in InkStyle.allCases where style != .stamp {
                #expect(line(tip, .freehand, style) == line(.round, .freehand, style))
            }
        }
    }

    @Test func `The edge of a marker lies across the azimuth, and turns by the lesser angle`() throws {
        let turned = stamps(stroke(.marker, path([0.2, 0.2, 0.2])))
        for stamp in turned {
            let wanted = Vector(angle: 0.2 + Double.pi / 2)
            #expect(abs(Double(stamp.edge.x) - wanted.x) < 1e-5 && abs(Double(stamp.edge.y) - wanted.y) < 1e-5)
            #expect(stamp.alpha == Float(1 / 1.5) && stamp.radius == 8)
        }
        // From 3 to −3 radians is a short way.
        for stamp in stamps(stroke(.marker, path([3, 3, -3, -3]))) { #expect(abs(stamp.edge.y) > 0.98) }
        // One without an azimuth rises to the right, or keeps the last one.
        for stamp in stamps(stroke(.marker, path([nil, nil, nil]))) {
            #expect(abs(stamp.edge.x - 0.707107) < 1e-4 && abs(stamp.edge.y + 0.707107) < 1e-4)
        }
        for stamp in stamps(stroke(.marker, path([0, nil, nil]))) { #expect(abs(stamp.edge.y) > 0.9999) }
        let dot = try #require(stamps(stroke(.marker, path([0]))).first)
        #expect(dot.count == StampPlacer.dotStamps && abs(dot.edge.y) > 0.9999)
    }

    @Test func `The edge of a highlighter lies across the line, also on the way round a corner`() throws {
        let along = stamps(stroke(.highlighter, points([(20, 50), (90, 50)])))
        #expect(along.count > 100 && along.allSatisfy { abs($0.edge.x) < 1e-5 && abs($0.edge.y) > 0.9999 })
        let corner = stamps(
            stroke(.highlighter, points([(20, 50), (60, 50), (100, 50), (100, 50.1), (100, 90), (100, 130)])))
        for (one, other) in zip(corner, corner.dropFirst()) {
            #expect(abs((one.edge * other.edge).sum()) > 0.97)
            #expect(abs((one.edge * one.edge).sum() - 1) < 1e-4)
        }
        let last = try #require(corner.last)
        #expect(abs(last.edge.x) > 0.99)
    }
}
