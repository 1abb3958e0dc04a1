import CCairo
import Foundation
import PNG
import Raster
import TestSupport
import Testing

/// Pixels of a renderer for comparison: opaque or premultiplied, `0xAARRGGBB`.
struct Picture {
    let width: Int
    let height: Int
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
    /// The channels of a pixel.
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

    /// Cancels the test where the program is missing, and says so.
    func requireInstalled() throws {
        if !isInstalled { try Test.cancel("\(rawValue) is not installed") }
    }
}
