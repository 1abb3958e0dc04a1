import CCairo
import Foundation
import Ink
import Raster
import Scene
import StrokeWire
import TestSupport
import Testing
import VectorGraphics

/// Pixels of a renderer for comparison: opaque or premultiplied, `0xAARRGGBB`.
struct Picture {
    let width, height: Int
    let pixels: [UInt32]

    /// The pixels of a canvas's PNG; `nil` when it could not be written.
    init?(_ canvas: Canvas, background: PNGBackground = .white) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-\(UUID().uuidString).png")
        defer { try? FileManager.default.removeItem(at: file) }
        let png = PNGEncoder.encode(canvas, background: background)
        guard FileManager.default.createFile(atPath: file.path, contents: Data(png)) else { return nil }
        self.init(png: file)
    }

    /// The pixels of a PNG file; `nil` when there is none. Each is the mean of `side` × `side` pixels of the file.
    init?(png file: URL, averaging side: Int = 1) {
        let loaded = cairo_image_surface_create_from_png(file.path)
        defer { cairo_surface_destroy(loaded) }
        guard cairo_surface_status(loaded) == CAIRO_STATUS_SUCCESS else { return nil }
        let width = Int(cairo_image_surface_get_width(loaded)) / side
        let height = Int(cairo_image_surface_get_height(loaded)) / side
        // One pixel format for all files.
        let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
        defer { cairo_surface_destroy(surface) }
        let context = cairo_create(surface)
        cairo_scale(context, 1 / Double(side), 1 / Double(side))
        cairo_set_source_surface(context, loaded, 0, 0)
        cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD)
        cairo_paint(context)
        cairo_destroy(context)
        cairo_surface_flush(surface)
        guard let data = cairo_image_surface_get_data(surface) else { return nil }
        let stride = Int(cairo_image_surface_get_stride(surface))
        self.width = width
        self.height = height
        pixels = (0..<height).flatMap { y in
            UnsafeRawBufferPointer(start: data + y * stride, count: 4 * width).bindMemory(to: UInt32.self)
        }
    }

    subscript(x: Int, y: Int) -> UInt32 { pixels[y * width + x] }
}

extension BoardDrawing {
    /// All of it as the canvas has it, a pixel a board unit.
    var canvas: Canvas {
        var canvas = Canvas(width: Int(width), height: Int(height))
        var painter = StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height)
        for layer in layers() { painter.draw(layer, on: &canvas) }
        return canvas
    }
}

/// The difference of two pictures, over the pixels on which either of them has ink.
struct PictureDifference: CustomStringConvertible {
    /// Pixels with ink.
    private(set) var inked = 0
    /// Mean over these pixels of the largest difference of a channel, 0 … 255.
    private(set) var mean = 0.0
    /// The fraction of these pixels that differ by more than the bound.
    private(set) var wrong = 0.0
    private let bound: Int

    /// Compares pictures of the same size.
    init(_ a: Picture, _ b: Picture, paper: UInt32 = 0xFFFF_FFFF, bound: Int = 64) {
        self.bound = bound
        var sum = 0
        var bad = 0
        a.pixels.withUnsafeBufferPointer { a in
            b.pixels.withUnsafeBufferPointer { b in
                var index = 0
                while index < min(a.count, b.count) {
                    if a[index] != paper || b[index] != paper { inked += 1 }
                    if a[index] != b[index] {
                        let difference = Self.difference(a[index], b[index])
                        sum += difference
                        if difference > bound { bad += 1 }
                    }
                    index += 1
                }
            }
        }
        mean = Double(sum) / Double(max(inked, 1))
        wrong = Double(bad) / Double(max(inked, 1))
    }

    var description: String { "mean \(mean) of 255, \(wrong * 100) % off by more than \(bound), of \(inked) pixels" }

    private static func difference(_ a: UInt32, _ b: UInt32) -> Int {
        let first = SIMD4<Int>(a)
        let second = SIMD4<Int>(b)
        return pointwiseMax(first &- second, second &- first).max()
    }
}

extension SIMD4<Int> {
    fileprivate init(_ pixel: UInt32) {
        let pixel = Int(pixel)
        self.init(pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255, pixel >> 24)
    }
}

/// An independent program that rasterises a vector format.
enum Rasteriser: String, CaseIterable {
    /// Of the Debian package librsvg2-bin.
    case svg = "rsvg-convert"
    /// Of the Debian package poppler-utils.
    case pdf = "pdftoppm"

    private var program: InstalledProgram? { InstalledProgram(rawValue) }

    var isInstalled: Bool { program != nil }

    /// The pictures of the document, one a page, one pixel a CSS pixel.
    func pictures(of document: [UInt8]) throws -> [Picture] {
        guard let program else { return [] }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appendingPathComponent("input")
        try Data(document).write(to: input)
        let arguments =
            switch self {
            case .svg: ["-o", folder.appendingPathComponent("1.png").path, input.path]
            // pdftoppm moves horizontal lines to whole pixels, which matters less with smaller pixels.
            case .pdf: ["-r", "384", "-png", input.path, folder.appendingPathComponent("page").path]
            }
        guard try program.run(arguments) != nil else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".png") }.sorted()
            .compactMap { Picture(png: folder.appendingPathComponent($0), averaging: self == .pdf ? 4 : 1) }
    }

    /// A board as the program draws its document.
    func picture(of drawing: BoardDrawing, scale: Double = 1) throws -> Picture {
        let document =
            switch self {
            case .svg: try SVGRenderer.render(drawing, scale: scale)
            case .pdf: try PDFRenderer.render([drawing], scale: scale)
            }
        return try #require(try pictures(of: document).first)
    }

    /// Cancels the test where the program is missing, and says so.
    func requireInstalled() throws { if !isInstalled { try Test.cancel("\(rawValue) is not installed") } }
}

/// Boards of difficult strokes, 320 × 240 units.
enum TrialBoard: String, CaseIterable, Sendable {
    case shapes, dots, turns, erasers

    func strokes(_ style: InkStyle) -> [PaintedStroke] {
        switch self {
        case .shapes: Self.shapes(style)
        case .dots: Self.dots(style)
        case .turns: Self.turns(style)
        case .erasers: Self.erasers(style)
        }
    }

    private static func shapes(_ style: InkStyle) -> [PaintedStroke] {
        [
            stroke(.rectangle, style, 5, [(140, 100), (20, 20)]),
            stroke(.ellipse, style, 3, [(300, 20), (180, 100)], 0xD9_2020),
            stroke(.line, style, 12, [(20, 220), (150, 130)], 0x1F_4FD8),
            stroke(.line, style, 1, [(10, 130), (150, 131)]),
            stroke(.rectangle, style, 7, [(200, 150), (200, 220)], 0x1A_9850),
            stroke(.ellipse, style, 7, [(230, 180), (310, 180)], 0xF0_8C00),
            stroke(.line, style, 20, [(250, 210), (250, 210)], 0x7B_2CBF),
        ]
    }

    /// One, two and three points; all at one place; a pen that rests.
    private static func dots(_ style: InkStyle) -> [PaintedStroke] {
        [
            stroke(.freehand, style, 12, [(30, 30)]),
            stroke(.freehand, style, 12, [(80, 30), (80, 30)]),
            stroke(.freehand, style, 12, [(130, 30), (130, 30), (130, 30), (130, 30), (130, 30), (130, 30)]),
            stroke(.freehand, style, 8, [(30, 80), (90, 80)], 0xD9_2020),
            stroke(.freehand, style, 8, [(130, 80), (160, 110), (190, 80)], 0x1F_4FD8),
            stroke(.freehand, style, 8, [(30, 140), (60, 190), (90, 140), (120, 190)], 0x1A_9850),
            stroke(.freehand, style, 8, [(200, 140), (200, 140), (240, 190), (240, 190), (240, 190), (290, 140)]),
        ]
    }

    /// Hairpins, sharp corners, tight loops and a stroke that crosses itself again and again.
    private static func turns(_ style: InkStyle) -> [PaintedStroke] {
        let scribble: [(Double, Double)] = (0..<24).map { step in
            let x = 40.0 + 4.0 * Double(step) + Double(step % 4) * 7.0
            return (x, 190.0 + Double(step / 2 % 2) * 9.0)
        }
        let star: [(Double, Double)] = (0..<14).map { step in
            let places = [(250.0, 30.0), (280.0, 110.0), (210.0, 60.0), (295.0, 60.0), (225.0, 110.0)]
            return places[step % 5]
        }
        return [
            stroke(.freehand, style, 9, [(20, 20), (80, 22), (140, 24), (80, 26), (20, 28), (80, 60), (140, 90)]),
            stroke(.freehand, style, 14, [(20, 120), (140, 121), (20, 123), (140, 125), (20, 127)], 0xD9_2020),
            stroke(.freehand, style, 6, star, 0x1F_4FD8),
            stroke(.freehand, style, 16, scribble, 0x1A_9850),
            stroke(.freehand, style, 10, [(200, 150), (300, 150), (200, 150), (300, 220), (200, 220), (300, 150)]),
        ]
    }

    /// Several erasers, each over some strokes and below others.
    private static func erasers(_ style: InkStyle) -> [PaintedStroke] {
        [
            stroke(.rectangle, style, 6, [(30, 30), (290, 210)]),
            stroke(.line, style, 30, [(30, 60), (290, 60)], 0xD9_2020),
            stroke(.eraser, style, 20, [(60, 10), (70, 60), (60, 120), (90, 180), (60, 235)]),
            stroke(.line, style, 12, [(20, 150), (300, 150)], 0x1F_4FD8),
            stroke(.eraser, style, 20, [(160, 10), (150, 60), (170, 120), (150, 180), (160, 235)]),
            stroke(.eraser, style, 26, [(200, 60)]),
            stroke(.line, style, 8, [(20, 100), (300, 180)], 0x1A_9850),
            stroke(.eraser, style, 14, [(250, 10), (260, 90), (240, 160), (250, 235)]),
            stroke(.line, style, 5, [(200, 200), (310, 20)], 0xF0_8C00),
        ]
    }

    static func stroke(
        _ element: Element, _ style: InkStyle, _ width: Double, _ points: [(Double, Double)], _ colour: UInt32 = 0
    ) -> PaintedStroke {
        PaintedStroke(
            stroke: InkStroke(
                element: element, style: style, width: width, points: points.map { StrokePoint(x: $0.0, y: $0.1) }),
            colour: RGB(colour))
    }

    static func canvas(
        _ strokes: [PaintedStroke], width: Int = 320, height: Int = 240, scale: Int = 1
    ) -> Canvas {
        var canvas = Canvas(width: width * scale, height: height * scale)
        var painter = StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: Double(scale))
        for stroke in strokes { painter.draw(stroke, on: &canvas) }
        return canvas
    }
}

extension SVGRenderer {
    /// A document within bounds, of which nothing was cut before.
    static func render(
        _ drawing: BoardDrawing, background: Background = .white, byteLimit: Int = .max,
        limits: DisplayList.Limits = DisplayList.Limits(), while isWanted: () -> Bool
    ) throws -> [UInt8] {
        var scenes = SceneCache(byteLimit: 0)
        return try render(
            drawing, background: background, scale: 1, byteLimit: byteLimit, limits: limits, scenes: &scenes,
            while: isWanted)
    }
}

extension PDFRenderer {
    /// Boards at one scale.
    static func render(_ boards: [BoardDrawing], scale: Double = 1) throws -> [UInt8] {
        try render(boards.map { (drawing: $0, scale: scale) })
    }

    /// Boards within bounds, of which nothing was cut before.
    static func render(
        _ boards: [BoardDrawing], byteLimit: Int = .max, while isWanted: () -> Bool
    ) throws -> [UInt8]? {
        var scenes = SceneCache(byteLimit: 0)
        return try render(
            boards.map { (drawing: $0, scale: 1) }, byteLimit: byteLimit, scenes: &scenes, while: isWanted)
    }
}
