internal import Ink
internal import PathGeometry
internal import Raster
package import Scene
internal import StrokeWire

/// Writes a board as an SVG 1.1 document.
///
/// Each stroke that no eraser and no lasso touches is one path. A stroke of constant width is its centre line, stroked with
/// round caps and joins; any other is its outline, filled under the nonzero rule. What is touched is an area of a
/// ``PageScene``: there are no masks, and nothing is painted white. Images are pixels in a data URL, each once, however often
/// it is shown, and clipped where it is cut; what is missing is an empty frame. Texts are text, in a sans-serif font of the viewer,
/// each line as wide as here. Coordinates are in board units, rounded to
/// hundredths (finer on a board of few units). Strokes outside the board are left out. A path has one opacity: ink whose
/// opacity changes along the line gets the mean, and that of a pencil up to ten paths, one for each tone.
///
/// An eraser beyond the limits of the scene paints white on a white background; on a transparent one the board is too large.
public enum SVGRenderer {
    /// What is below the paper and the strokes.
    public enum Background: Sendable {
        /// Opaque white.
        case white
        /// None.
        case transparent
    }

    /// The document as UTF-8.
    ///
    /// - Parameter scale: the size at which the document is shown, in CSS pixels a board unit, above 0; the coordinates of ink
    ///   do not depend on it.
    /// - Throws: ``DrawingStopped/tooLarge`` where the board cannot be drawn on that background.
    public static func render(
        _ drawing: BoardDrawing, background: Background = .white, scale: Double = 1
    ) throws(DrawingStopped) -> [UInt8] {
        var scenes = SceneCache(byteLimit: 0)
        return try render(drawing, background: background, scale: scale, scenes: &scenes) { true }
    }

    /// The document, of at most `byteLimit` bytes.
    ///
    /// - Parameters:
    ///   - limits: of what lassos and erasers make.
    ///   - scenes: has what was cut for earlier pictures of the same page.
    ///   - isWanted: called before each stroke and each contour of an outline; false ends the drawing.
    package static func render(
        _ drawing: BoardDrawing, background: Background, scale: Double, byteLimit: Int = .max,
        limits: DisplayList.Limits = DisplayList.Limits(), scenes: inout SceneCache, while isWanted: () -> Bool
    ) throws(DrawingStopped) -> [UInt8] {
        let precision = SVGPrecision(width: drawing.width, height: drawing.height)
        let scene = try scenes.scene(of: drawing, limits: limits, while: isWanted)
        var document = SVGDocument(precision: precision, byteLimit: byteLimit)
        let scale = scale > 0 && scale.isFinite ? scale : 1
        document.open(
            width: drawing.width, height: drawing.height, scale: scale, hasLinks: !drawing.images.isEmpty)
        if background == .white { document.text.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n") }
        if let paper = drawing.paper { document.add(paper, drawing, scale: scale) }
        document.text.append("<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n")
        for content in drawing.contents(over: scene) {
            guard isWanted() else { throw .unwanted }
            guard document.text.count <= byteLimit else { throw .tooLarge }
            switch content {
            case .stroke(let painted):
                guard !painted.stroke.isErasing || background == .white else { throw .tooLarge }
                if let stroke = DrawableStroke(painted, width: drawing.width, height: drawing.height) {
                    try document.add(stroke, while: isWanted)
                }
            case .area(let path, let colour, let opacity): document.add(path, colour, opacity: opacity)
            case .image(let image, let map, let clip): document.add(image, drawing.images, map, clip: clip)
            }
        }
        document.text.append("</g>\n")
        if let overlay = drawing.overlay { document.add(overlay) }
        document.text.append("</svg>\n")
        guard document.text.count <= byteLimit else { throw .tooLarge }
        return document.text
    }
}

/// An SVG document while it is written.
struct SVGDocument {
    var text: [UInt8] = []
    private let precision: SVGPrecision
    private let byteLimit: Int
    /// The numbers of the images whose pixels are in the document.
    private var images: [PictureSource: Int] = [:]
    private var layouts = RecentLayouts()
    private var clips = 0

    init(precision: SVGPrecision, byteLimit: Int) {
        self.precision = precision
        self.byteLimit = byteLimit
    }

    /// Opens the root element; the size is in board units, shown at `scale` CSS pixels each.
    mutating func open(width: Double, height: Double, scale: Double, hasLinks: Bool) {
        text.append("<svg xmlns=\"http://www.w3.org/2000/svg\"")
        if hasLinks { text.append(" xmlns:xlink=\"http://www.w3.org/1999/xlink\"") }
        attribute("width", width * scale)
        attribute("height", height * scale)
        text.append(" viewBox=\"0 0 ")
        append(width)
        text.append(" ")
        append(height)
        text.append("\" fill-rule=\"nonzero\">\n")
    }

    /// Adds the paths of a stroke, inside a group without fill and with round caps and joins.
    mutating func add(_ stroke: DrawableStroke, while isWanted: () -> Bool) throws(DrawingStopped) {
        let colour = stroke.colourOnWhite
        var path = SVGPath(precision: precision)
        switch stroke.form {
        case .curve(let width):
            stroke.ink.trace(into: &path)
            path.finish()
            text.append("<path")
            attribute("stroke", colour)
            attribute("stroke-width", width)
            if stroke.opacity < 1 { attribute("stroke-opacity", stroke.opacity) }
            finish(path)
        case .outline(let outline):
            fill(try data(of: outline, while: isWanted), colour, opacity: stroke.opacity)
        }
        for tone in stroke.darker {
            fill(try data(of: tone.outline, while: isWanted), colour, opacity: tone.opacity)
        }
    }

    private func data(of outline: StrokeOutline, while isWanted: () -> Bool) throws(DrawingStopped) -> SVGPath {
        var path = SVGPath(precision: precision)
        try outline.forEachContour { (contour) throws(DrawingStopped) in
            guard isWanted() else { throw .unwanted }
            contour.trace(into: &path)
            guard text.count + path.text.count <= byteLimit else { throw .tooLarge }
        }
        return path
    }

    /// Adds the paper of a page, whose lines fill the same rows and columns of pixels as on a canvas of that scale.
    mutating func add(_ paper: PagePaper, _ drawing: BoardDrawing, scale: Double) {
        if case .image(let image, let map, _)? = paper.content { return add(image, drawing.images, map, clip: nil) }
        let rows = paper.rows(within: drawing.height, scale: scale)
        let columns = paper.columns(within: drawing.width, scale: scale)
        // A board that is narrower than the distance of the dots has none.
        if paper.isDotted ? columns.isEmpty : rows.isEmpty && columns.isEmpty { return }
        var path = SVGPath(precision: precision)
        func line(_ from: Point, _ to: Point) {
            path.move(to: from)
            path.line(to: to)
        }
        let dots = paper.isDotted ? columns.first : nil
        // The middle of a line is half of its width beyond its edge, and that of a dot.
        let half = Double(PagePaper.lineWidth) / (paper.isDotted ? 1 : 2) / scale
        for y in rows {
            line(Point(dots.map { $0 + half } ?? 0, y + half), Point(drawing.width, y + half))
        }
        for x in paper.isDotted ? [] : columns { line(Point(x + half, 0), Point(x + half, drawing.height)) }
        text.append("<path")
        attribute("stroke", PagePaper.colour)
        if let distance = dots {
            // Dashes without length are dots.
            attribute("stroke-width", 2 * half)
            text.append(" stroke-linecap=\"round\" stroke-dasharray=\"0 ")
            append(distance)
            text.append("\"")
        } else {
            attribute("stroke-width", Double(PagePaper.lineWidth))
            text.append(" vector-effect=\"non-scaling-stroke\"")
        }
        finish(path)
    }

    mutating func add(_ area: Path, _ colour: RGB, opacity: Double) {
        fill(data(of: area), colour, opacity: opacity)
    }

    private func data(of area: Path) -> SVGPath {
        var path = SVGPath(precision: precision)
        area.trace(into: &path)
        return path
    }

    private mutating func fill(_ path: SVGPath, _ colour: RGB, opacity: Double) {
        text.append("<path")
        attribute("fill", colour)
        if opacity < 1 { attribute("fill-opacity", opacity) }
        finish(path)
    }

    private mutating func finish(_ path: SVGPath) {
        text.append(" d=\"")
        text.append(contentsOf: path.text)
        text.append("\"/>\n")
    }

    /// Adds an image in its place after a map, inside an area where there is one.
    mutating func add(_ image: PlacedImage, _ pixels: PageImages, _ map: AffineMap, clip: Path?) {
        guard !image.area.isEmpty else { return }
        let known = image.text == nil ? pixels[image.source] : nil
        let number = known.flatMap { define(image.source, $0) }
        if let clip {
            text += "<clipPath id=\"c\(clips)\"><path d=\"".utf8 + data(of: clip).text
            text += "\"/></clipPath>\n<g clip-path=\"url(#c\(clips))\">\n".utf8
            clips += 1
        }
        if let source = image.text {
            add(source, in: image, map)
        } else if let known, let number {
            let map = image.map(width: known.width, height: known.height).followed(by: map)
            text += "<use xlink:href=\"#i\(number)\" transform=\"\(map.matrix)\"/>\n".utf8
        } else {
            add(image.frame(map), EmptyFrame.colour, opacity: 1)
        }
        if clip != nil { text.append("</g>\n") }
    }

    /// Adds the lines of a text, cut to its box.
    private mutating func add(_ source: TextSource, in image: PlacedImage, _ map: AffineMap) {
        let layout = layouts.layout(of: source)
        let isMoved = map != .identity
        if isMoved { text += "<g transform=\"\(map.matrix)\">\n".utf8 }
        text.append("<svg")
        attribute("x", image.box.lower.x)
        attribute("y", image.box.lower.y)
        attribute("width", source.width)
        attribute("height", source.height)
        text.append(" overflow=\"hidden\" font-family=\"sans-serif\"")
        attribute("font-size", layout.lineHeight * BoardText.fontSize)
        attribute("fill", source.colour)
        if layout.isRightToLeft { text.append(" direction=\"rtl\"") }
        if let language = layout.language { text += " xml:lang=\"\(language)\"".utf8 }
        text.append(" xml:space=\"preserve\">\n")
        for (number, line) in layout.lines.enumerated() where !line.isEmpty {
            text.append("<text")
            attribute("x", layout.isRightToLeft ? source.width : 0)
            attribute("y", (Double(number) + BoardText.baseline) * layout.lineHeight)
            let width = layout.width(ofLine: number)
            if width > 0 {
                attribute("textLength", width)
                text.append(" lengthAdjust=\"spacingAndGlyphs\"")
            }
            text.append(">")
            text.append(xml: line)
            text.append("</text>\n")
        }
        text.append("</svg>\n")
        if isMoved { text.append("</g>\n") }
    }

    /// Writes the pixels of an image unless they are there; nil where they cannot be.
    private mutating func define(_ source: PictureSource, _ pixels: ImagePixels) -> Int? {
        if let number = images[source] { return number }
        guard let file = pixels.png else { return nil }
        let number = images.count
        images[source] = number
        text += "<defs><image id=\"i\(number)\" width=\"\(pixels.width)\" height=\"\(pixels.height)\"".utf8
        text.append(" xlink:href=\"data:image/png;base64,")
        text.append(base64: file)
        text.append("\"/></defs>\n")
        return number
    }

    /// Adds one path for each kind of mark; its id is the kind.
    mutating func add(_ overlay: DebugOverlay) {
        for marks in overlay.marks {
            text += "<path id=\"\(marks.kind.rawValue)\" fill=\"none\" stroke-linecap=\"round\"".utf8
            attribute("stroke", marks.kind.colour)
            attribute("stroke-width", marks.kind.pixels / overlay.scale)
            var path = SVGPath(precision: precision)
            for polyline in marks.polylines where !polyline.isEmpty {
                polyline.trace(into: &path)
                path.finish()
            }
            finish(path)
        }
    }

    /// Appends a length in board units.
    private mutating func append(_ number: Double) {
        text.append(steps: precision.steps(number), decimals: precision.decimals)
    }

    private mutating func attribute(_ name: StaticString, _ number: Double) {
        open(name)
        append(number)
        text.append("\"")
    }

    /// Appends an attribute with a colour, as `#rrggbb`.
    private mutating func attribute(_ name: StaticString, _ colour: RGB) {
        open(name)
        text.append("#")
        for channel in [colour.red, colour.green, colour.blue] {
            for digit in [channel >> 4, channel & 15] {
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        text.append("\"")
    }

    private mutating func open(_ name: StaticString) {
        text.append(" ")
        text.append(name)
        text.append("=\"")
    }
}

extension AffineMap {
    fileprivate var matrix: String { "matrix(\(a) \(b) \(c) \(d) \(e) \(f))" }
}

extension [UInt8] {
    /// Appends text as character data.
    fileprivate mutating func append(xml text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): append("&amp;")
            case UInt8(ascii: "<"): append("&lt;")
            case UInt8(ascii: ">"): append("&gt;")
            default: append(byte)
            }
        }
    }
}
