internal import Ink
internal import Raster

/// The text of a document, as far as it is written.
struct SVGDocument {
    var text: [UInt8] = []
    let numbers: SVGScale
    /// How far an outline may be from the true one, in board units.
    private var tolerance = 0.0

    init(numbers: SVGScale) {
        self.numbers = numbers
    }

    /// Opens the root element; the size is in board units, shown at `scale` CSS pixels each.
    mutating func open(width: Double, height: Double, scale: Double) {
        tolerance = DrawableStroke.tolerance(width: width, height: height)
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

    /// Adds a path element for a stroke, inside a group that has no fill and round caps and joins.
    mutating func add(_ stroke: DrawableStroke, colour: RGB, id: Int? = nil) {
        text.append("<path")
        if let id { append(id: id, "e") }
        var path = SVGPath(scale: numbers)
        switch stroke.form {
        case .curve(let width):
            stroke.ink.trace(into: &path)
            path.finish()
            attribute("stroke", colour)
            attribute("stroke-width", width)
            if stroke.opacity < 1 { attribute("stroke-opacity", stroke.opacity) }
        case .outline(let chains):
            for chain in chains { RibbonOutline(tolerance: tolerance).trace(chain, into: &path) }
            attribute("fill", colour)
            if stroke.opacity < 1 { attribute("fill-opacity", stroke.opacity) }
        }
        text.append(" d=\"")
        text.append(contentsOf: path.text)
        text.append("\"/>\n")
    }

    /// Appends a number of board units.
    mutating func append(_ number: Double) {
        text.append(steps: numbers.steps(number), decimals: numbers.decimals)
    }

    /// Appends an attribute that is a number.
    mutating func attribute(_ name: StaticString, _ number: Double) {
        open(name)
        append(number)
        text.append("\"")
    }

    /// Appends an attribute that is a colour, as `#rrggbb`.
    mutating func attribute(_ name: StaticString, _ colour: RGB) {
        open(name)
        text.append("#")
        for channel in [colour.red, colour.green, colour.blue] {
            for digit in [channel >> 4, channel & 15] {
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        text.append("\"")
    }

    /// Appends an id of a letter and a number.
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
