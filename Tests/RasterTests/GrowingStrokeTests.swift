import Ink
import StrokeWire
import TestSupport
import Testing

@testable import Raster

@Suite struct `The picture of a stroke that is being drawn` {
    /// Some ink below the stroke.
    private func base(_ random: inout SeededGenerator, width: Int, height: Int) -> Canvas {
        var canvas = Canvas(width: width, height: height)
        var painter = StrokePainter(canvasWidth: width, canvasHeight: height)
        for colour in [0x2060A0, 0xA06020] as [UInt32] {
            let stroke = InkStroke(
                element: .freehand, style: .smooth, width: 30, points: .random(count: 30, using: &random))
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(colour)), on: &canvas)
        }
        return canvas
    }

    private func drawnAtOnce(_ points: [StrokePoint], like path: StrokePath, on base: Canvas, scale: Double) -> Canvas {
        var canvas = base
        var painter = StrokePainter(canvasWidth: base.width, canvasHeight: base.height, scale: scale)
        let stroke = InkStroke(element: path.element, style: path.style, width: path.width, points: points)
        painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0x102030)), on: &canvas)
        return canvas
    }

    private func differ(_ a: Canvas, _ b: Canvas) -> Int {
        (0..<a.tiles.count).count { index in
            a.tiles[index] != b.tiles[index]
                && (a.tiles[index].pixels.contains { $0 != 0 } || b.tiles[index].pixels.contains { $0 != 0 })
        }
    }

    /// The last seed found a stroke that changed pixels far to the left when its box became wider than 244 pixels.
    @Test(arguments: TestSeed.choose(16) + [507_901_812])
    func `is after each update that of the whole stroke drawn at once, in every style`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for stream in try TouchStream.random(2, using: &random) {
            let scale = random.pick([1, 1, 0.5, 0.1])
            let base = base(&random, width: Int(1024 * scale), height: Int(768 * scale))
            for style in InkStyle.allCases {
                var pen = LossyPen(stream, seed: random.next())
                var model = StrokeModel()
                var picture = GrowingStrokePainter(
                    on: base, element: stream.element, style: style,
                    width: random.pick([stream.width, stream.width, 20]), colour: RGB(0x102030), scale: scale)
                func compare(_ model: StrokeModel) {
                    picture.update(to: model)
                    let whole = drawnAtOnce(model.points, like: picture.path, on: base, scale: scale)
                    let count = differ(picture.canvas, whole)
                    #expect(
                        count == 0,
                        "seed \(seed), \(style), scale \(scale): \(count) tiles differ after \(model.points.count) points"
                    )
                }
                try pen.play(to: &model) { if random.chance(1, in: 3) { compare($0) } }
                model.complete(with: stream.points)
                compare(model)
                model = StrokeModel()
            }
        }
    }

    @Test func `leaves nothing of a stroke that was given up, nor of its predictions`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let base = base(&random, width: 600, height: 400)
        for style in InkStyle.allCases {
            var model = StrokeModel()
            var picture = GrowingStrokePainter(
                on: base, element: .freehand, style: style, width: 9, colour: RGB(0x102030))
            let points: [StrokePoint] = .random(count: 40, using: &random)
            let event = TouchEvent(
                phase: .began, samples: points[..<20].map { TouchSample($0) }, predicted: Array(points[20...]))
            _ = model.receive(event)
            picture.update(to: model)
            _ = model.receive(TouchEvent(phase: .moved, samples: []))
            picture.update(to: model)
            let confirmed = Array(points[..<20])
            #expect(
                differ(picture.canvas, drawnAtOnce(confirmed, like: picture.path, on: base, scale: 1)) == 0,
                "\(style) without predictions")
            model.cancel()
            picture.update(to: model)
            #expect(differ(picture.canvas, base) == 0, "\(style), given up")
        }
    }

    /// The opacity of a wide segment reaches beyond it, over thin parts of the line that stay.
    @Test func `leaves nothing of predictions that were much wider than all that remains`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let base = Canvas(width: 1024, height: 768)
        for trial in 0..<100 {
            // A pencil that lies flat and goes along its own side leaves a thin, light line.
            func flat(_ x: Double, _ y: Double, _ force: Double, _ azimuth: Double) -> StrokePoint {
                StrokePoint(x: x, y: y, force: force, altitude: 0.25, azimuth: azimuth, milliseconds: 0)
            }
            var confirmed = [flat(140, 140, 0, 0)]
            var (x, y) = (140.0, 140.0)
            for place in 0..<30 {
                let isLevel = place % 2 == 0
                if isLevel { x = Double(random.int(240...780)) } else { y = Double(random.int(240...540)) }
                confirmed.append(flat(x, y, 0.05, isLevel ? 0 : Double.pi / 2))
            }
            // Across its side it is many times as wide, all at once: the ends of its segments are far from straight.
            let width = Double(random.int(8...24))
            let predicted = (0..<random.int(1...2)).map { _ in
                let angle = Double(random.int(0...628)) / 100
                let way = Vector(angle: angle) * (width * Double(random.int(180...300)) / 100)
                (x, y) = (x + way.x, y + way.y)
                return flat(x, y, 1, angle + Double.pi / 2)
            }
            var model = StrokeModel()
            var picture = GrowingStrokePainter(
                on: base, element: .freehand, style: .pencil, width: width, colour: RGB(0x102030))
            _ = model.receive(
                TouchEvent(phase: .began, samples: confirmed.map { TouchSample($0) }, predicted: predicted))
            picture.update(to: model)
            _ = model.receive(TouchEvent(phase: .moved, samples: []))
            picture.update(to: model)
            let whole = drawnAtOnce(confirmed, like: picture.path, on: base, scale: 1)
            let count = differ(picture.canvas, whole)
            #expect(count == 0, "seed \(random.seed), trial \(trial): \(count) tiles differ")
        }
    }

    @Test func `costs the tiles around its end for a new point, those of the whole only where its box has doubled`() {
        var model = StrokeModel()
        var picture = GrowingStrokePainter(
            on: Canvas(width: 2048, height: 512), element: .freehand, style: .pen, width: 4, colour: RGB(0x102030))
        var dear = 0
        for place in 0..<500 {
            let point = StrokePoint(x: 8 + 4 * Double(place), y: Double(40 + place % 40), force: 0.5)
            _ = model.receive(TouchEvent(phase: .moved, samples: [TouchSample(point)]))
            let before = picture.paintedTiles
            picture.update(to: model)
            if place > 60, picture.paintedTiles - before > 4 { dear += 1 }
        }
        #expect(picture.canvas.tileCount > 50)
        // Each time the box has doubled its width, the whole is painted.
        #expect(dear <= 3)
    }
}
