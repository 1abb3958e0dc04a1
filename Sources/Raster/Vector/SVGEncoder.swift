internal import Ink

/// Writes strokes as an SVG image, in board units.
///
/// Each stroke is one element: the stroked curve where the width is constant, else one filled path under the nonzero
/// rule. The image has white paper, on which an eraser draws white. Ink whose opacity changes along the line gets its
/// mean, and stamps become the line that they are set along.
public enum SVGEncoder {
    /// A board of `width` × `height` units with its strokes, bottom to top.
    public static func encode(width: Double, height: Double, strokes: some Sequence<PaintedStroke>) -> [UInt8] {
        var path = SVGPath()
        path.text.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ")
        path.text.append(number: width)
        path.text.append(" ")
        path.text.append(number: height)
        path.text.append("\"><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n")
        for painted in strokes where !painted.stroke.points.isEmpty { add(painted, to: &path) }
        path.text.append("</svg>\n")
        return path.text
    }

    private static func add(_ painted: PaintedStroke, to path: inout SVGPath) {
        let colour = painted.stroke.isErasing ? "#ffffff" : painted.colour.description
        path.text.append("<path d=\"")
        if painted.stroke.hasConstantWidth {
            painted.stroke.trace(into: &path)
            path.endDot()
            path.text.append(
                "\" fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\" stroke=\"\(colour)\" stroke-width=\""
            )
            path.text.append(number: painted.stroke.width)
        } else {
            let opacity = painted.stroke.outline(scale: 1, into: &path)
            path.text.append("\" fill=\"\(colour)")
            if opacity < 1 {
                path.text.append("\" fill-opacity=\"")
                path.text.append(number: opacity)
            }
        }
        path.text.append("\"/>\n")
    }
}

extension RGB: CustomStringConvertible {
    /// `#rrggbb`.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = [UInt8(ascii: "#")]
        for channel in [red, green, blue] { text += [digits[Int(channel >> 4)], digits[Int(channel & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
