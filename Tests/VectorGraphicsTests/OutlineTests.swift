import Ink
import PathGeometry
import Raster
import StrokeWire
import TestSupport
import Testing

@testable import Scene
@testable import VectorGraphics

@Suite("Outlines of long strokes")
struct OutlineTests {
    private static let board = (width: 1024.0, height: 768.0)

    /// Points all over the board, with forces that make a pencil's tones.
    private static func points(_ count: Int, seed: UInt64) -> [StrokePoint] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            StrokePoint(
                x: Double.random(in: 0...board.width, using: &random),
                y: Double.random(in: 0...board.height, using: &random),
                force: Double.random(in: 0.1...1, using: &random), azimuth: 0.6, milliseconds: Double(index * 16))
        }
    }

    /// The same, each near the one before, which takes few chords.
    private static func walk(_ count: Int, seed: UInt64) -> [StrokePoint] {
        var random = SeededGenerator(seed: seed)
        var (x, y) = (board.width / 2, board.height / 2)
        return points(count, seed: seed).map { point in
            x = min(max(x + Double.random(in: -20...20, using: &random), 0), board.width)
            y = min(max(y + Double.random(in: -20...20, using: &random), 0), board.height)
            var point = point
            (point.x, point.y) = (x, y)
            return point
        }
    }

    private static func stroke(
        _ style: InkStyle, _ points: [StrokePoint], tip: InkTip = .round, width: Double = 9
    ) -> PaintedStroke {
        PaintedStroke(
            stroke: InkStroke(element: .freehand, style: style, width: width, points: points, tip: tip), colour: RGB(0))
    }

    private static func drawing(_ strokes: [PaintedStroke]) -> BoardDrawing {
        BoardDrawing(width: board.width, height: board.height, strokes: strokes)
    }

    private func outline(_ stroke: PaintedStroke) throws -> [Contour] {
        let drawable = try #require(DrawableStroke(stroke, width: Self.board.width, height: Self.board.height))
        guard case .outline(let outline) = drawable.form else { return [] }
        var contours: [Contour] = []
        outline.forEachContour { contours.append($0) }
        return contours
    }

    private func samples(_ stroke: PaintedStroke, scale: Double) -> [CentreSample] {
        var fitter = ParabolaFitter(
            scale: scale, canvasWidth: Int(Self.board.width * scale) + 1,
            canvasHeight: Int(Self.board.height * scale) + 1)
        stroke.stroke.trace(into: &fitter)
        return fitter.samples
    }

    @Test("are the same whether some points are outlined at a time or all", arguments: [1, 2, 1024, 1025, 2100])
    func chunks(count: Int) throws {
        let seed = TestSeed.choose()
        let points = Self.walk(count, seed: seed)
        for style in [InkStyle.bspline, .calligraphy, .pen] {
            let stroke = Self.stroke(style, points)
            let contours = try outline(stroke)
            // A pen of constant width is no outline.
            guard !contours.isEmpty else { continue }
            var whole = StrokeContours(scale: 0.4, tolerance: 0.05)
            #expect(contours == whole.contours(of: samples(stroke, scale: 0.4)), "seed \(seed), \(style)")
        }
        for tip in InkTip.allCases where tip != .round {
            let stroke = Self.stroke(.stamp, points, tip: tip)
            var whole = TipOutline(tip, scale: 1)
            var contours: [Contour] = []
            samples(stroke, scale: 1).withUnsafeBufferPointer { samples in
                whole.add(samples) { contours.append($0) }
            }
            whole.finish { contours.append($0) }
            let parts = try outline(stroke)
            #expect(!contours.isEmpty && contours == parts, "seed \(seed), \(tip)")
        }
    }

    @Test func `that begin and end beside the board are outlined where they can be seen`() throws {
        let seed = TestSeed.choose()
        // Each point but those of the middle third is far beside the board.
        let points = Self.points(1500, seed: seed).enumerated().map { place, point in
            var point = point
            if !(500..<1000).contains(place) { point.x += 60_000 }
            return point
        }
        for (style, tip) in [(InkStyle.bspline, InkTip.round), (.pen, .round), (.stamp, .marker)] {
            let contours = try outline(Self.stroke(style, points, tip: tip))
            let ends = contours.flatMap { contour in
                [contour.start] + contour.segments.map { $0.end }
            }
            #expect(ends.contains { $0.x < Self.board.width }, "seed \(seed), \(style)")
            // At the edges of the middle third a line comes from afar.
            #expect(ends.count { $0.x > 30_000 } < 400, "seed \(seed), \(style)")
        }
    }

    @Test("of ink far beside a board of one unit are no longer than beside a large one", arguments: InkStyle.allCases)
    func smallBoard(style: InkStyle) throws {
        // To and fro over all that a message can have.
        let points = (0..<200).map { index in
            StrokePoint(x: index.isMultiple(of: 2) ? -65536 : 65536, y: Double(index) / 200, force: 0.5)
        }
        func segments(_ side: Double) throws -> Int {
            let stroke = PaintedStroke(
                stroke: InkStroke(
                    element: .freehand, style: style, width: side / 100, points: points, unit: side / 1024),
                colour: RGB(0))
            let areas = try #require(DrawableStroke.areas(of: stroke, longerSide: side))
            return areas.reduce(0) { $0 + $1.path.segmentCount }
        }
        let (large, small) = (try segments(1024), try segments(1))
        #expect(small > 0 && small < 2 * large, "\(small), \(large)")
    }

    @Test func `have as many segments as allowed, or there are none`() throws {
        let seed = TestSeed.choose()
        for style in [InkStyle.pen, .pencil] {
            let stroke = Self.stroke(style, Self.points(100, seed: seed))
            let areas = try #require(DrawableStroke.areas(of: stroke, longerSide: Self.board.width))
            let count = areas.reduce(0) { $0 + $1.path.segmentCount }
            let known = DrawableStroke.areas(of: stroke, longerSide: Self.board.width, atMost: 2 * count)
            #expect(known?.map { $0.path } == areas.map { $0.path }, "seed \(seed)")
            #expect(DrawableStroke.areas(of: stroke, longerSide: Self.board.width, atMost: count / 2) == nil)
        }
    }

    @Test func `are given up between two contours, in SVG and in PDF`() throws {
        let seed = TestSeed.choose()
        let points = Self.points(300, seed: seed)
        for stroke in [Self.stroke(.stamp, points, tip: .marker), Self.stroke(.pencil, points)] {
            let drawing = Self.drawing([stroke])
            for most in [1, 5, 20] {
                var calls = 0
                func isWanted() -> Bool {
                    calls += 1
                    return calls < most
                }
                #expect(throws: DrawingStopped.unwanted, "seed \(seed)") {
                    try SVGRenderer.render(drawing, while: isWanted)
                }
                calls = 0
                #expect(try PDFRenderer.render([drawing], while: isWanted) == nil, "seed \(seed)")
                #expect(calls == most)
            }
        }
    }

    @Test func `end at the limit of a document, and not only after it was made`() throws {
        let seed = TestSeed.choose()
        let points = Self.points(300, seed: seed)
        for stroke in [Self.stroke(.stamp, points, tip: .marker), Self.stroke(.pencil, points)] {
            let drawing = Self.drawing([stroke])
            var (all, calls) = (0, 0)
            let file = try #require(
                try PDFRenderer.render([drawing]) {
                    all += 1
                    return true
                })
            #expect(throws: PDFRenderer.Failure.self, "seed \(seed)") {
                try PDFRenderer.render([drawing], byteLimit: file.count / 100) {
                    calls += 1
                    return true
                }
            }
            #expect(calls < all / 4, "seed \(seed)")
            calls = 0
            #expect(throws: DrawingStopped.tooLarge, "seed \(seed)") {
                try SVGRenderer.render(drawing, byteLimit: file.count / 100) {
                    calls += 1
                    return true
                }
            }
            #expect(calls < all / 4, "seed \(seed)")
        }
    }

    @Test func `of several pages count together in a PDF, which is the same below its limit`() throws {
        let seed = TestSeed.choose()
        let pages = (0..<4).map { Self.drawing([Self.stroke(.bspline, Self.points(200, seed: seed + $0))]) }
        let file = try #require(try PDFRenderer.render(pages) { true })
        #expect(try PDFRenderer.render(pages, byteLimit: file.count) { true } == file, "seed \(seed)")
        var calls = 0
        for limit in [0, 100, file.count / 2, file.count - 1] {
            calls = 0
            #expect(throws: PDFRenderer.Failure.self, "seed \(seed)") {
                try PDFRenderer.render(pages, byteLimit: limit) {
                    calls += 1
                    return true
                }
            }
        }
        #expect(calls > 3)
    }
}

@Suite("What no eye can see in a PDF")
struct UnseenBoxTests {
    private let stroke = PageEntry(
        id: 9, .stroke(TrialBoard.stroke(.line, .smooth, 8, [(20, 20), (300, 200)], 0xD9_2020)))
    private let other = BoardDrawing(
        width: 320, height: 240, strokes: [TrialBoard.stroke(.line, .smooth, 8, [(300, 20), (20, 200)])])

    private func document(_ contents: [PageEntry.Content], images: PageImages = [:]) throws -> [UInt8] {
        let entries = contents.enumerated().map { PageEntry(id: UInt64($0.offset + 1), $0.element) } + [stroke]
        let board = BoardDrawing(width: 320, height: 240, entries: entries, images: images)
        return try PDFRenderer.render([board, other])
    }

    private func source() throws -> ImageSource {
        ImageSource(asset: try #require(AssetID(hexadecimal: String(repeating: "ab", count: 32))), page: 0)
    }

    private func images(width: Int, height: Int) throws -> PageImages {
        let bytes = [UInt8](repeating: 255, count: 4 * width * height)
        return [try source(): try #require(ImagePixels(width: width, height: height, bytes: bytes))]
    }

    @Test("is left out, and what lies above it and on other pages is there", arguments: [1e-6, 1e-155, 1e-170, 1e-300])
    func boxes(side: Double) throws {
        let plain = try document([])
        #expect(String(decoding: plain, as: UTF8.self).contains("/Count 2"))
        let (from, to) = (Point(10, 10), Point(side, side))
        for (corner, opposite) in [(Point(0, 0), to), (Point(0, 0), Point(200, side / 1e6)), (from, from)] {
            let text = PlacedImage(text: "abc", colour: RGB(0), from: corner, to: opposite)
            #expect(try document([.image(text)]) == plain)
            let image = PlacedImage(try source(), from: corner, to: opposite)
            #expect(try document([.image(image)], images: images(width: 2, height: 2)) == plain)
        }
    }

    @Test("a lasso may have made", arguments: [1e-30, 1e-160, 1e-161])
    func lassos(scale: Double) throws {
        let corners = [Point(0, 0), Point(320, 0), Point(320, 240), Point(0, 240)]
        let shrink = Lasso(points: corners, map: AffineMap(scale, 0, 0, scale, 0, 0))
        let remove = Lasso(points: corners, map: nil)
        for image in [
            PlacedImage(text: "abc", colour: RGB(0), from: Point(10, 10), to: Point(90, 60)),
            PlacedImage(try source(), from: Point(10, 10), to: Point(90, 60)),
        ] {
            let pixels = try images(width: 2, height: 2)
            #expect(
                try document([.image(image), .lasso(shrink)], images: pixels)
                    == document([.image(image), .lasso(remove)], images: pixels))
        }
    }

    @Test func `are the pixels of an image that is longer than cairo can draw: it is a frame`() throws {
        let image = PageEntry.Content.image(PlacedImage(try source(), from: Point(10, 10), to: Point(14, 230)))
        #expect(try document([image], images: images(width: 1, height: 32_768)) == document([image]))
        #expect(try document([image], images: images(width: 1, height: 32_767)) != document([image]))
    }

    @Test("draws no paper whose lines would cover the page", arguments: Paper.Ruling.allCases)
    func densePaper(ruling: Paper.Ruling) throws {
        var board = other
        let blank = try PDFRenderer.render([board], scale: 0.5)
        for distance in [.leastNonzeroMagnitude, 7.9] {
            board.paper = .ruled(ruling, distance: distance)
            #expect(try PDFRenderer.render([board], scale: 0.5) == blank)
        }
    }
}
