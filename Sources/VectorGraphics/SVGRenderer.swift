internal import Ink
internal import Raster

/// Writes a board as an SVG 1.1 document.
///
/// Each stroke is one path. A stroke of constant width is its centre line, stroked with round caps and joins; any other
/// is its outline, filled under the nonzero rule. Coordinates are in board units, rounded to hundredths (finer on a board
/// of few units). Strokes outside the board are left out. A path has one opacity: ink whose opacity changes along the
/// line gets the mean, and that of a pencil up to ten paths, one for each tone. On white paper an eraser paints white, which looks the same as removing ink; on transparent paper
/// it is a mask.
public enum SVGRenderer {
    /// The paper below the strokes.
    public enum Paper: Sendable {
        /// Opaque white.
        case white
        /// None.
        case transparent
    }

    /// The document as UTF-8.
    ///
    /// - Parameter scale: the size at which the document is shown, in CSS pixels a board unit, above 0; coordinates do
    ///   not depend on it.
    public static func render(_ drawing: BoardDrawing, paper: Paper = .white, scale: Double = 1) -> [UInt8] {
        (try? render(drawing, paper: paper, scale: scale, byteLimit: .max) { true }) ?? []
    }

    /// The document, of at most `byteLimit` bytes.
    ///
    /// - Parameter isWanted: called before each stroke; false ends the drawing.
    public static func render(
        _ drawing: BoardDrawing, paper: Paper, scale: Double, byteLimit: Int, while isWanted: () -> Bool
    ) throws(DrawingStopped) -> [UInt8] {
        let precision = SVGPrecision(width: drawing.width, height: drawing.height)
        var document = SVGDocument(precision: precision)
        document.open(width: drawing.width, height: drawing.height, scale: scale > 0 && scale.isFinite ? scale : 1)
        if paper == .white { document.text.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n") }
        document.text.append("<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n")
        var masked: [DrawableStroke] = []
        for painted in drawing.strokes {
            guard isWanted() else { throw .unwanted }
            guard document.text.count <= byteLimit else { throw .tooLarge }
            guard let stroke = DrawableStroke(painted, width: drawing.width, height: drawing.height) else { continue }
            switch paper {
            case .white: document.add(stroke, colour: stroke.colourOnWhite)
            case .transparent: masked.append(stroke)
            }
        }
        if paper == .transparent {
            try EraserMaskTree(masked).write(to: &document, byteLimit: byteLimit, while: isWanted)
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

    init(precision: SVGPrecision) {
        self.precision = precision
    }

    /// Opens the root element; the size is in board units, shown at `scale` CSS pixels each.
    mutating func open(width: Double, height: Double, scale: Double) {
        text.append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"")
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
    mutating func add(_ stroke: DrawableStroke, colour: RGB, id: Int? = nil) {
        text.append("<path")
        if let id { append(id: id, "e") }
        var path = SVGPath(precision: precision)
        switch stroke.form {
        case .curve(let width):
            stroke.ink.trace(into: &path)
            path.finish()
            attribute("stroke", colour)
            attribute("stroke-width", width)
            if stroke.opacity < 1 { attribute("stroke-opacity", stroke.opacity) }
        case .outline(let contours):
            for contour in contours { contour.trace(into: &path) }
            attribute("fill", colour)
            if stroke.opacity < 1 { attribute("fill-opacity", stroke.opacity) }
        }
        text.append(" d=\"")
        text.append(contentsOf: path.text)
        text.append("\"/>\n")
        for tone in stroke.darker {
            var path = SVGPath(precision: precision)
            for contour in tone.contours { contour.trace(into: &path) }
            text.append("<path")
            attribute("fill", colour)
            attribute("fill-opacity", tone.opacity)
            text.append(" d=\"")
            text.append(contentsOf: path.text)
            text.append("\"/>\n")
        }
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
