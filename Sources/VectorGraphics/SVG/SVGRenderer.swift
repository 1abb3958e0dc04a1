internal import Ink
internal import Raster

/// Writes a board as an SVG 1.1 document.
///
/// One path a stroke: the curve itself, stroked with round caps and joins, where the pen is as wide everywhere; else its
/// outline, filled under the nonzero rule. Coordinates are in board units, rounded to hundredths (finer on a board of
/// few units). Strokes that do not reach the board are left out. A path has one opacity: ink whose opacity changes along
/// the line gets the mean of it. An eraser paints white on white paper, which is the same as removing what is below; on
/// transparent paper masks take the paint away.
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
    /// - Parameter scale: the size at which it is shown, in CSS pixels a board unit, above 0; it does not touch the
    ///   coordinates.
    public static func render(_ drawing: BoardDrawing, paper: Paper = .white, scale: Double = 1) -> [UInt8] {
        let numbers = SVGScale(width: drawing.width, height: drawing.height)
        var document = SVGDocument(numbers: numbers)
        document.open(width: drawing.width, height: drawing.height, scale: scale > 0 && scale.isFinite ? scale : 1)
        if paper == .white { document.text.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n") }
        document.text.append("<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n")
        let strokes = drawing.strokes.lazy.compactMap {
            DrawableStroke($0, width: drawing.width, height: drawing.height)
        }
        switch paper {
        case .white:
            for stroke in strokes { document.add(stroke, colour: stroke.colourOnWhite) }
        case .transparent:
            ErasureTree(Array(strokes)).write(to: &document)
        }
        document.text.append("</g>\n")
        if let overlay = drawing.overlay { document.add(overlay) }
        document.text.append("</svg>\n")
        return document.text
    }
}
