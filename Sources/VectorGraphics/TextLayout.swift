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
public final class TextLayout {
    let lines: [String]
    let isRightToLeft: Bool
    /// The language in whose forms Han characters are shown: that of kana or Hangul beside them, else Chinese. Nil without any.
    let language: String?
    /// The height of a line in board units.
    let lineHeight: Double
    private let source: TextSource
    #if canImport(CTextLayout)
    private let layout: OpaquePointer?
    #endif

    public init(_ source: TextSource) {
        let lines = BoardText.lines(of: source.text)
        let isRightToLeft = BoardText.isRightToLeft(source.text)
        let language = Self.language(of: source.text)
        (self.source, self.lines, self.isRightToLeft, self.language) = (source, lines, isRightToLeft, language)
        #if canImport(CTextLayout)
        var text = lines.joined(separator: "\n")
        let layout = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                bytes.baseAddress.flatMap {
                    text_layout_create($0, bytes.count, isRightToLeft, language ?? "en", BoardText.fontSize)
                }
            }
        }
        self.layout = layout
        let widths = lines.indices.map { line in layout.map { text_layout_line_width($0, line) } ?? 0 }
        #else
        let widths = lines.map(Self.estimate)
        #endif
        lineHeight = source.lineHeight(width: widths.max() ?? 0, lines: lines.count)
    }

    #if canImport(CTextLayout)
    deinit { if let layout { text_layout_destroy(layout) } }
    #endif

    private static func language(of text: String) -> String? {
        var language: String?
        for scalar in text.unicodeScalars {
            switch scalar.value {
            // But for the dot between words, which Chinese has, too.
            case 0x3041...0x30fa, 0x30fc...0x30ff, 0x31f0...0x31ff, 0xff66...0xff9f: return "ja"
            case 0x1100...0x11ff, 0x3131...0x318e, 0xac00...0xd7a3: return "ko"
            case 0x3400...0x4dbf, 0x4e00...0x9fff, 0xf900...0xfaff, 0x20000...0x3ffff: language = "zh-CN"
            default: break
            }
        }
        return language
    }

    /// The width of a line in board units.
    func width(ofLine line: Int) -> Double {
        #if canImport(CTextLayout)
        return layout.map { text_layout_line_width($0, line) * lineHeight } ?? 0
        #else
        return Self.estimate(lines[line]) * lineHeight
        #endif
    }

    /// Whether a font of the machine has every character. One that none has is drawn as a small box.
    var isComplete: Bool {
        #if canImport(CTextLayout)
        return layout.map { text_layout_unknown($0) == 0 } ?? true
        #else
        return true
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

/// The fonts of the machine, of which texts on boards need those with outlines.
public enum TextFonts {
    /// Writing of which some characters are in no font, each with the Debian package that has it.
    public static func missing() -> [(writing: String, package: String)] {
        [
            ("Latin, Greek, Cyrillic", "aΩЖ", "fonts-dejavu-core"),
            ("Chinese, Japanese, Korean", "数かハ한", "fonts-noto-cjk"),
            ("emoji", "😀👍", "fonts-symbola"),
        ].compactMap { writing, sample, package in
            let text = TextSource(sample, colour: RGB(0), width: 1, height: 1)
            return TextLayout(text).isComplete ? nil : (writing, package)
        }
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
        let drawn = Locked(LRUCache<TextSource, ImagePixels>(byteLimit: 4 * most, keepsNewest: true))
        images.drawText = { text in
            if let known = drawn.withLock({ $0.value(text) }) { return known }
            let pixels = TextLayout(text).pixels(scale: scale, most: most)
            if let pixels {
                drawn.withLock { $0.insert(pixels, text, bytes: pixels.bytes.count + 2 * BoardText.byteBound) }
            }
            return pixels
        }
        return images
    }
}

/// The layouts of the last texts of a document.
struct RecentLayouts {
    private var layouts = LRUCache<TextSource, TextLayout>(byteLimit: mostTexts)
    private static let mostTexts = 16

    mutating func layout(of text: TextSource) -> TextLayout {
        if let known = layouts.value(text) { return known }
        let made = TextLayout(text)
        layouts.insert(made, text, bytes: 1)
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
