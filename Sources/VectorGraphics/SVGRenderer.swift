internal import Ink
internal import PathGeometry
internal import Raster
public import Scene
internal import StrokeWire

/// Writes a board as an SVG 1.1 document.
///
/// Each stroke that no eraser and no lasso touches is one path. A stroke of constant width is its centre line, stroked with
/// round caps and joins; any other is its outline, filled under the nonzero rule. What is touched is an area of a
/// ``PageScene``: there are no masks, and nothing is painted white. Images are pixels in a data URL, each once, however often
/// it is shown, and clipped where it is cut; what is missing is an empty frame. Coordinates are in board units, rounded to
/// hundredths (finer on a board of few units). Strokes outside the board are left out. A path has one opacity: ink whose
/// opacity changes along the line gets the mean, and that of a pencil up to ten paths, one for each tone.
///
/// An eraser beyond the limits of the scene paints white on white paper; on transparent paper the board is too large.
public enum SVGRenderer {
    /// The paper below the strokes.
    public enum Paper: Sendable {
        /// Opaque white.
        case white
        /// None.
        case transparent
    }

    /// The document as UTF-8; nothing where it cannot be drawn on that paper.
    ///
    /// - Parameter scale: the size at which the document is shown, in CSS pixels a board unit, above 0; coordinates do
    ///   not depend on it.
    public static func render(_ drawing: BoardDrawing, paper: Paper = .white, scale: Double = 1) -> [UInt8] {
        (try? render(drawing, paper: paper, scale: scale, byteLimit: .max) { true }) ?? []
    }

    /// The document, of at most `byteLimit` bytes.
    ///
    /// - Parameters:
    ///   - limits: of what lassos and erasers make.
    ///   - isWanted: called before each stroke; false ends the drawing.
    public static func render(
        _ drawing: BoardDrawing, paper: Paper, scale: Double, byteLimit: Int,
        limits: DisplayList.Limits = DisplayList.Limits(), while isWanted: () -> Bool
    ) throws(DrawingStopped) -> [UInt8] {
        let precision = SVGPrecision(width: drawing.width, height: drawing.height)
        let scene = try PageScene(of: drawing, limits: limits, while: isWanted)
        var document = SVGDocument(precision: precision)
        document.open(
            width: drawing.width, height: drawing.height, scale: scale > 0 && scale.isFinite ? scale : 1,
            hasLinks: !drawing.images.isEmpty)
        if paper == .white { document.text.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n") }
        document.text.append("<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n")
        func check() throws(DrawingStopped) {
            guard isWanted() else { throw .unwanted }
            guard document.text.count <= byteLimit else { throw .tooLarge }
        }
        func add(_ entry: PageEntry) throws(DrawingStopped) {
            switch entry.content {
            case .stroke(let painted):
                guard !painted.stroke.isErasing || paper == .white else { throw .tooLarge }
                guard let stroke = DrawableStroke(painted, width: drawing.width, height: drawing.height) else { return }
                document.add(stroke)
            case .image(let image): document.add(image, drawing.images, .identity, clip: nil)
            case .lasso: break
            }
        }
        for item in scene.items {
            try check()
            switch item.content {
            case .entry: try add(drawing.entries[item.entry])
            case .area(let path, let colour, let opacity): document.add(path, colour, opacity: opacity)
            case .image(let image, let map, let clip): document.add(image, drawing.images, map, clip: clip)
            }
        }
        for entry in drawing.entries[scene.entryCount...] {
            try check()
            try add(entry)
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
    /// The numbers of the images whose pixels are in the document.
    private var images: [ImageSource: Int] = [:]
    private var clips = 0

    init(precision: SVGPrecision) {
        self.precision = precision
    }

    /// Opens the root element; the size is in board units, shown at `scale` CSS pixels each.
    mutating func open(width: Double, height: Double, scale: Double, hasLinks: Bool) {
        text.append("<svg xmlns=\"http://www.w3.org/2000/svg\"")
        if hasLinks { text.append(" xmlns:xlink=\"http://www.w3.org/1999/xlink\"") }
        text.append(" width=\"")
        append(width * scale)
        text.append("\" height=\"")
        append(height * scale)
        text.append("\" viewBox=\"0 0 ")
        append(width)
        text.append(" ")
        append(height)
        text.append("\" fill-rule=\"nonzero\">\n")
    }

    /// Adds the path of a stroke, inside a group without fill and with round caps and joins.
    mutating func add(_ stroke: DrawableStroke) {
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
        case .outline(let contours):
            for contour in contours { contour.trace(into: &path) }
            fill(path, colour, opacity: stroke.opacity)
        }
        for tone in stroke.darker {
            var path = SVGPath(precision: precision)
            for contour in tone.contours { contour.trace(into: &path) }
            fill(path, colour, opacity: tone.opacity)
        }
    }

    /// Adds an area.
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
        let known = pixels[image.source]
        let number = known.flatMap { define(image.source, $0) }
        if let clip {
            text.append("<clipPath")
            append(id: clips, "c")
            text.append("><path d=\"")
            text.append(contentsOf: data(of: clip).text)
            text.append("\"/></clipPath>\n<g clip-path=\"url(#c")
            text.append(integer: clips)
            text.append(")\">\n")
            clips += 1
        }
        if let known, let number {
            text.append("<use xlink:href=\"#i")
            text.append(integer: number)
            text.append("\" transform=\"matrix(")
            let whole = image.map(width: known.width, height: known.height).followed(by: map)
            for (place, number) in [whole.a, whole.b, whole.c, whole.d, whole.e, whole.f].enumerated() {
                if place > 0 { text.append(" ") }
                text.append(contentsOf: "\(number)".utf8)
            }
            text.append(")\"/>\n")
        } else {
            add(image.frame(map), EmptyFrame.colour, opacity: 1)
        }
        if clip != nil { text.append("</g>\n") }
    }

    /// Writes the pixels of an image unless they are there; nil where they cannot be.
    private mutating func define(_ source: ImageSource, _ pixels: ImagePixels) -> Int? {
        if let number = images[source] { return number }
        guard let file = pixels.png else { return nil }
        let number = images.count
        images[source] = number
        text.append("<defs><image")
        append(id: number, "i")
        text.append(" width=\"")
        text.append(integer: pixels.width)
        text.append("\" height=\"")
        text.append(integer: pixels.height)
        text.append("\" xlink:href=\"data:image/png;base64,")
        text.append(base64: file)
        text.append("\"/></defs>\n")
        return number
    }

    /// Adds one path for each kind of mark; its id is the kind.
    mutating func add(_ overlay: DebugOverlay) {
        for marks in overlay.marks {
            text.append("<path id=\"")
            text.append(contentsOf: marks.kind.rawValue.utf8)
            text.append("\" fill=\"none\" stroke-linecap=\"round\"")
            attribute("stroke", marks.kind.colour)
            attribute("stroke-width", marks.kind.pixels / overlay.scale)
            var path = SVGPath(precision: precision)
            for polyline in marks.polylines {
                guard let first = polyline.first else { continue }
                path.begin(at: first, nib: Nib(width: 0))
                for corner in polyline.dropFirst() { path.line(to: corner) }
                path.finish()
            }
            text.append(" d=\"")
            text.append(contentsOf: path.text)
            text.append("\"/>\n")
        }
    }

    /// Appends a length in board units.
    private mutating func append(_ number: Double) {
        text.append(steps: precision.steps(number), decimals: precision.decimals)
    }

    /// Appends an attribute with a number.
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

    /// Appends an id made of a letter and a number.
    mutating func append(id: Int, _ letter: StaticString) {
        open("id")
        text.append(letter)
        text.append(integer: id)
        text.append("\"")
    }

    private mutating func open(_ name: StaticString) {
        text.append(" ")
        text.append(name)
        text.append("=\"")
    }
}
