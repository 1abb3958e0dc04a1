internal import Locking
public import Raster
public import Scene
internal import StrokeWire

#if canImport(CTextLayout)
internal import CTextLayout
#endif

/// A text in its box: how large it is, and its pixels or glyphs.
///
/// Texts come from strangers. They meet the fonts of the machine alone, and have at most `BoardText.byteBound` bytes, so that
/// a layout takes some milliseconds; a picture of one has at most as many pixels as the caller allows. Layouts are made and
/// drawn one at a time.
public struct TextLayout: ~Copyable {
    /// The lines of the text.
    let lines: [String]
    let isRightToLeft: Bool
    /// The height of a line in board units.
    let lineHeight: Double
    private let source: TextSource
    #if canImport(CTextLayout)
    private let layout: OpaquePointer?
    #endif

    public init(_ source: TextSource) {
        let lines = BoardText.lines(of: source.text)
        let isRightToLeft = BoardText.isRightToLeft(source.text)
        (self.source, self.lines, self.isRightToLeft) = (source, lines, isRightToLeft)
        #if canImport(CTextLayout)
        var text = lines.joined(separator: "\n")
        let layout = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                bytes.baseAddress.flatMap {
                    text_layout_create($0, bytes.count, isRightToLeft, BoardText.fontSize)
                }
            }
        }
        self.layout = layout
        let width = layout.map { text_layout_width($0) } ?? 0
        #else
        let width = lines.map(Self.estimate).max() ?? 0
        #endif
        lineHeight = source.lineHeight(width: width, lines: lines.count)
    }

    #if canImport(CTextLayout)
    deinit { if let layout { text_layout_destroy(layout) } }
    #endif

    /// The width of a line in board units.
    func width(ofLine line: Int) -> Double {
        #if canImport(CTextLayout)
        return layout.map { text_layout_line_width($0, line) * lineHeight } ?? 0
        #else
        return Self.estimate(lines[line]) * lineHeight
        #endif
    }

    /// Where no font is at hand: about the mean width of letters.
    private static func estimate(_ line: String) -> Double {
        Double(line.unicodeScalars.count) * 0.55 * BoardText.fontSize
    }

    /// The pixels of the box; nil for lack of memory, or where there is no library for it: then an empty frame stands there.
    ///
    /// - Parameters:
    ///   - scale: pixels a board unit of the picture that it is for.
    ///   - most: pixels of the box at most.
    public func pixels(scale: Double, most: Int = TextSource.mostPixels) -> ImagePixels? {
        #if canImport(CTextLayout)
        guard let layout, source.width > 0, source.height > 0 else { return nil }
        let (columns, rows) = source.pixelSize(scale: scale, most: most)
        var coverage = [UInt8](repeating: 0, count: columns * rows)
        let x = lineHeight * Double(columns) / source.width
        let y = lineHeight * Double(rows) / source.height
        let isDrawn = coverage.withUnsafeMutableBufferPointer { pixels in
            pixels.baseAddress.map {
                text_layout_cover(layout, $0, Int32(columns), Int32(rows), x, y, BoardText.baseline)
            } ?? false
        }
        return isDrawn ? ImagePixels(width: columns, height: rows, coverage: coverage, colour: source.colour) : nil
        #else
        return nil
        #endif
    }
}

extension ImagePixels {
    /// A colour, as opaque as each pixel is covered.
    fileprivate init?(width: Int, height: Int, coverage: [UInt8], colour: RGB) {
        let bytes = [UInt8](unsafeUninitializedCapacity: 4 * coverage.count) { bytes, count in
            for (place, covered) in coverage.enumerated() {
                func premultiplied(_ value: UInt8) -> UInt8 { UInt8((Int(value) * Int(covered) + 127) / 255) }
                bytes[4 * place] = premultiplied(colour.red)
                bytes[4 * place + 1] = premultiplied(colour.green)
                bytes[4 * place + 2] = premultiplied(colour.blue)
                bytes[4 * place + 3] = covered
            }
            count = 4 * coverage.count
        }
        self.init(width: width, height: height, bytes: bytes)
    }
}

extension PageImages {
    /// The same, with a way to draw texts for a picture of that scale. The pixels of the last ones are kept with it, in as many
    /// bytes as one of the most pixels takes: lassos show a text again and again.
    public func drawingTexts(scale: Double, most: Int = TextSource.mostPixels) -> PageImages {
        var images = self
        let drawn = Locked(RecentTexts<ImagePixels>(byteLimit: 4 * most))
        images.drawText = { text in
            if let known = drawn.withLock({ $0[text] }) { return known }
            let pixels = TextLayout(text).pixels(scale: scale, most: most)
            if let pixels { drawn.withLock { $0.keep(pixels, of: text, bytes: pixels.bytes.count) } }
            return pixels
        }
        return images
    }
}

/// What was made of the last texts: a few, in a bounded number of bytes.
struct RecentTexts<Value> {
    static var countLimit: Int { 16 }

    private let byteLimit: Int
    /// The least recently used first.
    private var values: [(text: TextSource, value: Value, bytes: Int)] = []
    private(set) var byteCount = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    subscript(text: TextSource) -> Value? {
        mutating get {
            guard let place = values.firstIndex(where: { $0.text == text }) else { return nil }
            values.append(values.remove(at: place))
            return values[values.count - 1].value
        }
    }

    /// Keeps what was made of a text that is not there; nothing beyond the bytes.
    mutating func keep(_ value: Value, of text: TextSource, bytes: Int) {
        guard bytes <= byteLimit else { return }
        values.append((text, value, bytes))
        byteCount += bytes
        while values.count > Self.countLimit || byteCount > byteLimit { byteCount -= values.removeFirst().bytes }
    }
}

/// The layouts of the last texts of a document.
struct RecentLayouts {
    /// A layout that can be kept.
    final class Shared {
        let layout: TextLayout

        init(_ text: TextSource) {
            layout = TextLayout(text)
        }
    }

    private var layouts = RecentTexts<Shared>(byteLimit: .max)

    mutating func layout(of text: TextSource) -> Shared {
        if let known = layouts[text] { return known }
        let made = Shared(text)
        layouts.keep(made, of: text, bytes: 0)
        return made
    }
}

#if canImport(CCairo) && canImport(CTextLayout)
extension TextLayout {
    /// Draws the text with the colour of a context.
    /// - Parameters:
    ///   - context: a `cairo_t` whose origin is the upper left corner of the box.
    ///   - scale: units of the context a board unit.
    func show(on context: OpaquePointer?, scale: Double) {
        guard let layout, let context, lineHeight > 0, lineHeight.isFinite else { return }
        text_layout_show(
            layout, UnsafeMutableRawPointer(context), lineHeight * scale, source.width / lineHeight,
            BoardText.baseline)
    }
}
#endif
