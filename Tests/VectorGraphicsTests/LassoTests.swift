import Foundation
import Ink
import PathGeometry
import Raster
import Scene
import StrokeWire
import TestSupport
import Testing

@testable import VectorGraphics

@Suite struct `Lassos and images in documents` {
    private static let board = (width: 320.0, height: 240.0)

    private func drawing(_ contents: [PageEntry.Content], images: PageImages = [:]) -> BoardDrawing {
        BoardDrawing(
            width: Self.board.width, height: Self.board.height,
            entries: contents.enumerated().map { PageEntry(id: UInt64($0.offset + 1), $0.element) }, images: images)
    }

    private func lasso(_ points: [(Double, Double)], _ map: AffineMap?, keeps: Bool = false) -> PageEntry.Content {
        .lasso(Lasso(points: points.map { Point($0.0, $0.1) }, map: map, keepsOriginal: keeps))
    }

    private let diagonal = [(-10.0, -10.0), (330, -10), (-10, 250)]

    @Test(arguments: Rasteriser.allCases)
    func `Ink that is cut looks as it did, in every style`(format: Rasteriser) throws {
        try format.requireInstalled()
        for style in InkStyle.allCases {
            for trial in TrialBoard.allCases {
                let strokes = trial.strokes(style)
                let drawn = try format.picture(of: drawing(strokes.map { .stroke($0) } + [lasso(diagonal, .identity)]))
                let canvas = try #require(Picture(TrialBoard.canvas(strokes)))
                let difference = PictureDifference(canvas, drawn)
                #expect(difference.inked > 1000)
                #expect(
                    difference.mean < (style == .stamp ? 18 : style == .pencil ? 8 : 5),
                    "\(trial) \(style): \(difference)")
                #expect(difference.wrong < (style == .stamp ? 0.04 : 0.005), "\(trial) \(style): \(difference)")
            }
        }
    }

    @Test func `Stamps of every tip are cut as they were drawn`() throws {
        try Rasteriser.svg.requireInstalled()
        for tip in InkTip.allCases {
            let points = [(40.0, 40.0), (90, 60), (150, 30), (220, 70), (290, 50)].map {
                StrokePoint(x: $0.0, y: $0.1, azimuth: tip == .marker ? 0.6 : nil)
            }
            let stroke = PaintedStroke(
                stroke: InkStroke(element: .freehand, style: .stamp, width: 24, points: points, tip: tip),
                colour: RGB(0xD9_2020))
            let whole = try Rasteriser.svg.picture(of: drawing([.stroke(stroke)]))
            let cut = try Rasteriser.svg.picture(of: drawing([.stroke(stroke), lasso(diagonal, .identity)]))
            let difference = PictureDifference(whole, cut)
            #expect(difference.inked > 1000 && difference.mean < 2 && difference.wrong < 0.005, "\(tip): \(difference)")
        }
    }

    @Test func `A stroke beside the board is seen where a lasso has taken it`() throws {
        let line = TrialBoard.stroke(.freehand, .pen, 6, [(-500, 40), (-450, 90), (-400, 40), (-350, 90)])
        let strokes = [PageEntry.Content.stroke(line)]
        let around = [(-600.0, 0.0), (-300, 0), (-300, 200), (-600, 200)]
        for format in Rasteriser.allCases {
            try format.requireInstalled()
            let drawn = try format.picture(of: drawing(strokes + [lasso(around, AffineMap(1, 0, 0, 1, 520, 0))]))
            let there = TrialBoard.stroke(.freehand, .pen, 6, line.stroke.points.map { ($0.x + 520, $0.y) })
            let difference = PictureDifference(try #require(Picture(TrialBoard.canvas([there]))), drawn)
            #expect(
                difference.inked > 500 && difference.mean < 5 && difference.wrong < 0.005, "\(format): \(difference)")
        }
    }

    /// 40 × 20 pixels: the left half red, the right half blue and half transparent.
    private func flag() throws -> ImagePixels {
        var bytes: [UInt8] = []
        for _ in 0..<20 { for x in 0..<40 { bytes += x < 20 ? [255, 0, 0, 255] : [0, 0, 128, 128] } }
        return try #require(ImagePixels(width: 40, height: 20, bytes: bytes))
    }

    private func source(_ digit: Character) throws -> ImageSource {
        ImageSource(asset: try #require(AssetID(hexadecimal: String(repeating: digit, count: 64))), page: 0)
    }

    @Test(arguments: Rasteriser.allCases)
    func `An image fills its rectangle, and what a lasso takes of it goes along`(format: Rasteriser) throws {
        try format.requireInstalled()
        let asset = try source("a")
        let image = PlacedImage(asset, from: Point(120, 120), to: Point(40, 80))
        let contents: [PageEntry.Content] = [
            .image(image), lasso([(30, 70), (80, 70), (80, 200), (30, 200)], AffineMap(0, 1, -1, 0, 300, 100)),
        ]
        let drawn = try format.picture(of: drawing(contents, images: [asset: try flag()]))
        #expect(drawn[60, 100] == 0xFFFF_FFFF, "red has gone")
        #expect(drawn[100, 100] == 0xFF7F_7FFF, "blue over white")
        // (60, 100) goes to (300 - 100, 100 + 60).
        #expect(drawn[200, 160] == 0xFFFF_0000)
        #expect(drawn[200, 145] == 0xFFFF_0000 && drawn[200, 135] == 0xFFFF_FFFF)
        #expect(drawn[182, 160] == 0xFFFF_0000 && drawn[178, 160] == 0xFFFF_FFFF)
    }

    @Test(arguments: Rasteriser.allCases)
    func `An image that is missing is a frame with its diagonals`(format: Rasteriser) throws {
        try format.requireInstalled()
        let image = PlacedImage(try source("b"), from: Point(40, 80), to: Point(120, 120))
        let drawn = try format.picture(of: drawing([.image(image)]))
        for (x, y) in [(80, 80), (40, 100), (80, 100)] { #expect(drawn[x, y] != 0xFFFF_FFFF) }
        for (x, y) in [(60, 100), (100, 100), (30, 100)] { #expect(drawn[x, y] == 0xFFFF_FFFF) }
    }

    @Test func `An image is in a document once, however often it is shown`() throws {
        let asset = try source("c")
        let image = PlacedImage(asset, from: Point(40, 80), to: Point(120, 120))
        let other = PlacedImage(asset, from: Point(200, 80), to: Point(300, 120))
        let copies = (1...5).map {
            lasso([(0, 0), (60, 0), (60, 240), (0, 240)], AffineMap(1, 0, 0, 1, 30 * Double($0), 9), keeps: true)
        }
        let all = drawing([.image(image), .image(other)] + copies, images: [asset: try flag()])
        let elements = try SVGReader.elements(of: SVGRenderer.render(all))
        #expect(elements.filter { $0.name == "image" }.count == 1)
        #expect(elements.filter { $0.name == "use" }.count > 6)
        let pdf = String(decoding: try PDFRenderer.render([all, all]), as: UTF8.self)
        #expect(pdf.matches(of: /\/Subtype \/Image/).count == 2, "and its transparency")
        #expect(try PDFRenderer.render([all]) == PDFRenderer.render([all]))
    }

    @Test func `Parts that a lasso has cut away are nowhere in the document`() throws {
        let line = TrialBoard.stroke(.line, .smooth, 4, [(10, 10), (90, 10)])
        let elements = try SVGReader.elements(
            of: SVGRenderer.render(drawing([.stroke(line), lasso([(0, 0), (100, 0), (100, 100), (0, 100)], nil)])))
        #expect(!elements.contains { $0.name == "path" })
    }

    @Test func `Random pages look the same on the canvas and in both formats, nested lassos included`() throws {
        for format in Rasteriser.allCases { try format.requireInstalled() }
        for var random in TestSeed.generators(8) {
            let style = random.pick(InkStyle.allCases.filter { $0 != .stamp })
            var images: PageImages = [:]
            images[try source("a")] = try flag()
            let contents = try (0..<random.int(6...24)).map { _ in try content(style, &random) }
            let page = drawing(contents, images: images)
            let canvas = try #require(Picture(page.canvas))
            for format in Rasteriser.allCases {
                let difference = PictureDifference(canvas, try format.picture(of: page))
                // Ink that nothing has cut has its own opacity at each place on the canvas. Of thin strokes most pixels are edges.
                let isPencil = style == .pencil
                #expect(difference.mean < (isPencil ? 8 : 6), "seed \(random.seed), \(style), \(format): \(difference)")
                // poppler puts the borders of images on whole pixels.
                #expect(
                    difference.wrong < (format == .pdf ? 0.03 : 0.01),
                    "seed \(random.seed), \(style), \(format): \(difference)")
            }
        }
    }

    private func content(_ style: InkStyle, _ random: inout SeededGenerator) throws -> PageEntry.Content {
        func places(_ count: Int) -> [(Double, Double)] {
            (0..<count).map { _ in (Double(random.int(-40...360)), Double(random.int(-40...280))) }
        }
        switch random.int(0..<8) {
        case 0, 1:
            let turn = Double.random(in: -3...3, using: &random)
            let (c, s) = (0.8 * cos(turn), 0.8 * sin(turn))
            let map = AffineMap(c, s, -s, c, Double(random.int(0...200)), Double(random.int(0...150)))
            return lasso(places(random.int(3...8)), random.chance(1, in: 5) ? nil : map, keeps: random.chance(1, in: 3))
        case 2:
            let corners = places(2)
            return .image(
                PlacedImage(
                    try source(random.pick(["a", "b"])), from: Point(corners[0].0, corners[0].1),
                    to: Point(corners[1].0, corners[1].1)))
        case 3: return .stroke(TrialBoard.stroke(.eraser, style, 24, places(5)))
        case 4:
            return .stroke(
                TrialBoard.stroke(random.pick([.line, .ellipse, .rectangle]), style, 6, places(2), 0x1A_9850))
        default:
            let colour = random.pick([0xD9_2020, 0x1F_4FD8, 0] as [UInt32])
            return .stroke(
                TrialBoard.stroke(.freehand, style, Double(random.int(2...16)), places(random.int(1...10)), colour))
        }
    }

    @Test func `64 lassos on each other cost as much as there is to cut, and no more`() {
        let strokes = (0..<250).map { index in
            let (x, y) = (Double(index % 20) * 16, Double(index / 20) * 18)
            return PageEntry.Content.stroke(TrialBoard.stroke(.line, .smooth, 2, [(x, y), (x + 12, y + 14)]))
        }
        // A disc that is turned by some of its corners each time.
        let ring = (0..<128).map { step in
            let angle = Double(step) / 64 * Double.pi
            return (160 + 100 * cos(angle), 120 + 100 * sin(angle))
        }
        let (c, s) = (cos(Double.pi / 16), sin(Double.pi / 16))
        let turn = AffineMap(c, s, -s, c, 160 - c * 160 + s * 120, 120 - s * 160 - c * 120)
        let contents = strokes + [PageEntry.Content](repeating: lasso(ring, turn), count: 64)
        var (outlined, sizes) = (0, [Int]())
        var scene = PageScene(width: 320, height: 240)
        for place in contents.indices {
            scene.add(id: UInt64(place + 1)) { asked in
                if asked < place { outlined += 1 }
                return contents[asked]
            }
            if place >= strokes.count { sizes.append(scene.segmentCount) }
        }
        #expect(scene.skippedEntries.isEmpty)
        #expect(outlined <= strokes.count, "each stroke is outlined once")
        let items = scene.items
        print("64 lassos: \(items.count) items, \(sizes[0]) to \(sizes[63]) segments, \(scene.comparedItems) compared")
        #expect(Set(items.map(\.id)).count == items.count)
        #expect(items.count < 2 * strokes.count && sizes[63] < 2 * sizes[0])
        #expect(scene.comparedItems < 64 * 2 * strokes.count)
    }

    @Test func `Copies of an image that fills the board are as many as their painting allows`() throws {
        let all = [(-1.0, -1.0), (321, -1), (321, 241), (-1, 241)]
        func scene(_ first: PageEntry.Content) -> PageScene {
            let copies = [PageEntry.Content](repeating: lasso(all, .identity, keeps: true), count: 10)
            var scene = PageScene(width: 320, height: 240)
            for (place, _) in ([first] + copies).enumerated() {
                scene.add(id: UInt64(place)) { $0 == 0 ? first : copies[0] }
            }
            return scene
        }
        let image = scene(.image(PlacedImage(try source("a"), from: .zero, to: Point(320, 240))))
        #expect(image.skippedEntries == Array(5...10) && image.items.count == 16)
        let ink = scene(.stroke(TrialBoard.stroke(.line, .smooth, 9, [(0, 0), (320, 240)])))
        #expect(ink.skippedEntries.isEmpty && ink.items.count == 1024)
    }

    @Test func `Strokes cut for one document are not cut again for the next`() throws {
        let strokes = (0..<9).map {
            PageEntry.Content.stroke(TrialBoard.stroke(.line, .pen, 5, [(10, Double($0) * 15), (300, 120)]))
        }
        let eraser = PageEntry.Content.stroke(TrialBoard.stroke(.eraser, .smooth, 20, [(100, 0), (100, 240)]))
        let board = drawing(strokes + [lasso(diagonal, AffineMap(1, 0, 0, 1, 9, 9)), eraser])
        var scenes = SceneCache(byteLimit: 1 << 20)
        var calls = 0
        func isWanted() -> Bool {
            calls += 1
            return true
        }
        func svg() throws -> [UInt8] {
            try SVGRenderer.render(board, background: .white, scale: 1, scenes: &scenes, while: isWanted)
        }
        let first = try svg()
        let all = calls
        calls = 0
        #expect(try svg() == first)
        #expect(calls == all - board.entries.count)
        let pdf = try PDFRenderer.render([(drawing: board, scale: 1)], scenes: &scenes, while: isWanted)
        #expect(try pdf == PDFRenderer.render([board]))
    }

    @Test func `A PDF is refused whose pages together take too much to cut, whatever is kept of them`() throws {
        let line = PageEntry.Content.stroke(TrialBoard.stroke(.line, .pen, 5, [(10, 10), (300, 120)]))
        let page = drawing([line, lasso(diagonal, AffineMap(1, 0, 0, 1, 9, 9))])
        var scenes = SceneCache(byteLimit: 1 << 20)
        var limits = DisplayList.Limits()
        limits.steps = try scenes.scene(of: page, limits: limits) { true }.steps
        func pdf(_ count: Int) throws -> [UInt8]? {
            let pages = (0..<count).map { _ in (drawing: page, scale: 1.0) }
            return try PDFRenderer.render(pages, limits: limits, scenes: &scenes) { true }
        }
        for _ in 0..<2 {
            #expect(try pdf(8) != nil)
            #expect(throws: PDFRenderer.Failure.self) { try pdf(16) }
        }
    }

    @Test func `A scene made in parts is the one made at once`() {
        let random = (0..<12).map {
            PageEntry.Content.stroke(TrialBoard.stroke(.line, .pen, 5, [(10, Double($0) * 15), (300, 120)]))
        }
        let contents =
            random + [lasso(diagonal, AffineMap(1, 0, 0, 1, 9, 9))] + random + [
                lasso([(20, 20), (200, 20), (100, 200)], .identity, keeps: true)
            ]
        func add(_ range: Range<Int>, to scene: inout PageScene) {
            for place in range { scene.add(id: UInt64(place)) { contents[$0] } }
        }
        var whole = PageScene(width: 320, height: 240)
        add(0..<contents.count, to: &whole)
        for cut in contents.indices {
            var scene = PageScene(width: 320, height: 240)
            add(0..<cut, to: &scene)
            var next = scene
            add(cut..<contents.count, to: &next)
            #expect(next.items == whole.items)
        }
    }
}
