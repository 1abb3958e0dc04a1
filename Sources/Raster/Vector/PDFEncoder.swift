internal import Ink

/// Writes boards as a PDF document (ISO 32000-1), one page a board, one point a board unit.
///
/// Vector paths as in ``SVGEncoder``: a curve drawn with a round pen where the width is constant, else a fill under the
/// nonzero rule. An eraser draws white on the white page.
public enum PDFEncoder {
    /// A board with its strokes, bottom to top.
    public struct Page: Sendable {
        /// The size in board units.
        public var width: Double, height: Double
        /// The strokes, bottom to top.
        public var strokes: [PaintedStroke]

        /// Puts a page together.
        public init(width: Double, height: Double, strokes: [PaintedStroke]) {
            self.width = width
            self.height = height
            self.strokes = strokes
        }
    }

    /// The document; without pages it has one empty page of the smallest size.
    public static func encode(_ pages: [Page]) -> [UInt8] {
        let pages = pages.isEmpty ? [Page(width: 1, height: 1, strokes: [])] : pages
        var file = PDFFile()
        // 1 is the catalogue, 2 the list of pages, then a page, its content and its opacities for each board.
        let kids = pages.indices.map { "\(3 + 3 * $0) 0 R" }.joined(separator: " ")
        file.add("<</Type/Catalog/Pages 2 0 R>>")
        file.add("<</Type/Pages/Count \(pages.count)/Kids[\(kids)]>>")
        for (index, page) in pages.enumerated() {
            let number = 3 + 3 * index
            var content = PDFPath()
            content.text.append("1 0 0 -1 0 ")
            content.text.append(number: page.height)
            content.text.append(" cm 1 J 1 j\n")
            var opacities: [Int] = []
            for painted in page.strokes where !painted.stroke.points.isEmpty {
                add(painted, to: &content, opacities: &opacities)
            }
            var box: [UInt8] = []
            box.append("<</Type/Page/Parent 2 0 R/Contents \(number + 1) 0 R")
            box.append("/Resources<</ExtGState \(number + 2) 0 R>>/MediaBox[0 0 ")
            box.append(number: page.width)
            box.append(" ")
            box.append(number: page.height)
            box.append("]>>")
            file.add(box)
            file.add(stream: content.text)
            file.add("<<" + opacities.map { "/O\($0)<</ca \(Double($0) / 100)>>" }.joined() + ">>")
        }
        return file.finish()
    }

    /// Opacities are rounded to hundredths and defined once a page.
    private static func add(_ painted: PaintedStroke, to path: inout PDFPath, opacities: inout [Int]) {
        let stroke = painted.stroke
        let colour = stroke.isErasing ? RGB(0xFF_FFFF) : painted.colour
        path.text.append("q ")
        for channel in [colour.red, colour.green, colour.blue] {
            path.text.append(number: Double(channel) / 255)
            path.text.append(" ")
        }
        if stroke.hasConstantWidth {
            path.text.append("RG ")
            path.text.append(number: stroke.width)
            path.text.append(" w\n")
            stroke.trace(into: &path)
            path.endDot()
            path.text.append("S Q\n")
        } else {
            path.text.append("rg\n")
            var outline = PDFPath()
            let opacity = Int((stroke.outline(scale: 1, into: &outline) * 100).rounded())
            if opacity < 100 {
                path.text.append("/O\(opacity) gs\n")
                if !opacities.contains(opacity) { opacities.append(opacity) }
            }
            path.text += outline.text
            path.text.append("f Q\n")
        }
    }
}
