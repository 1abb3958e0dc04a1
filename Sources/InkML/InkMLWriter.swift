import Foundation
import Ink
import StrokeWire

extension InkDocument {
    /// Writes InkML 1.0 (W3C Recommendation, 20 September 2011), as UTF-8.
    ///
    /// ``init(inkML:limits:isStrict:)`` reads it back as it is. Elements that are no ink are left out. A document without a size
    /// gets none.
    public func inkML() -> [UInt8] {
        var writer = InkMLWriter(size: size)
        for page in pages {
            writer.beginPage(page.number)
            for stroke in page.strokes { writer.add(stroke) }
        }
        return writer.finished()
    }
}

/// Writes InkML page by page and stroke by stroke.
///
/// A page is a `traceGroup`, a stroke a `trace`, in a `traceGroup` of its own with annotations where there is something to
/// say about it. Each set of channels gets a format, each colour and width a brush. A shape is written as its outline;
/// the points that it was drawn from are a trace in definitions, to which an annotation points. An eraser is a white
/// brush. All numbers are written so that they read back the same.
public struct InkMLWriter: Sendable {
    private let size: InkDocument.Size?
    private var definitions: [UInt8] = []
    private var body: [UInt8] = []
    private var isPageOpen = false
    private var contexts: [TraceChannels: Int] = [:]
    private var brushes: [BrushKey: Int] = [:]
    private var originals = 0

    private struct BrushKey: Hashable {
        let colour: UInt32
        let transparency: UInt8
        let width: Double?
        let isEraser: Bool
    }

    /// - Parameter size: of the board in board units; nil where it is unknown.
    public init(size: InkDocument.Size?) { self.size = size }

    /// Bytes written so far, about.
    public var byteCount: Int { definitions.count + body.count }

    /// Begins a page; each number once.
    /// - Parameter paper: the ruling under its ink and the distance of its lines, as `squares 32`; nil for none.
    public mutating func beginPage(_ number: Int, paper: String? = nil) {
        endPage()
        body.append("<traceGroup>\n")
        annotate("page", String(number))
        if let paper { annotate("paper", paper) }
        isPageOpen = true
    }

    private mutating func endPage() {
        if isPageOpen { body.append("</traceGroup>\n") }
        isPageOpen = false
    }

    /// Notes a text that stands on the page.
    public mutating func add(text: String) {
        annotate("text", text)
        body.append("\n")
    }

    /// Adds a stroke above those before it; leaves out what is no ink, or has no points.
    public mutating func add(_ stroke: InkDocument.Stroke) {
        guard let name = ElementName.name(stroke.element), !stroke.points.isEmpty else { return }
        let channels = TraceChannels(stroke.points)
        let outline = ShapeOutline(stroke)?.points
        let hasNoTime = stroke.time == nil && channels.hasTimes
        let isNoted = stroke.index != nil || stroke.author != nil || stroke.element != .freehand || hasNoTime
        if isNoted {
            body.append("<traceGroup>")
            if let index = stroke.index { annotate("index", String(index)) }
            if let author = stroke.author { annotate("author", author) }
            if stroke.element != .freehand { annotate("element", name) }
            if hasNoTime { annotate("time", "none") }
            if outline != nil { annotate("points", "#points\(originals)") }
        }
        if outline != nil {
            let context = context(channels)
            definitions.append("<trace xml:id=\"points\(originals)\" contextRef=\"#context\(context)\">")
            channels.write(stroke.points, to: &definitions)
            definitions.append("</trace>\n")
            originals += 1
        }
        let drawn = outline == nil ? channels : TraceChannels([])
        body.append("<trace contextRef=\"#context\(context(drawn))\" brushRef=\"#brush\(brush(stroke))\"")
        if let time = stroke.time { body.append(" timeOffset=\"\(time)\"") }
        body.append(">")
        drawn.write(outline ?? stroke.points, to: &body)
        body.append(isNoted ? "</trace></traceGroup>\n" : "</trace>\n")
    }

    /// The whole file.
    public consuming func finished() -> [UInt8] {
        endPage()
        // A format for readers that look at the device alone.
        let head = """
            <?xml version="1.0" encoding="UTF-8"?>
            <ink xmlns="http://www.w3.org/2003/InkML">
            <annotation type="generator">Lectern</annotation>
            <definitions>
            <timestamp xml:id="video" time="0"/>
            <inkSource xml:id="board" description="A board with 96 units per inch">
            <traceFormat><channel name="X" type="double" units="dev"/><channel name="Y" type="double" units="dev"/></traceFormat>

            """
        var file: [UInt8] = []
        file.reserveCapacity(definitions.count + body.count + 2048)
        file.append(head)
        if let size {
            file.append("<activeArea")
            file.append(attribute: "width", size.width)
            file.append(attribute: "height", size.height)
            file.append(" units=\"dev\"/>\n")
        }
        file.append(
            """
            <channelProperties>\
            <channelProperty channel="X" name="resolution" value="96" units="1/in"/>\
            <channelProperty channel="Y" name="resolution" value="96" units="1/in"/>\
            </channelProperties>
            </inkSource>

            """)
        file += definitions
        file.append("</definitions>\n")
        file += body
        file.append("</ink>\n")
        return file
    }

    private mutating func annotate(_ type: String, _ text: String) {
        body.append("<annotation type=\"\(type)\">")
        body.append(escaped: text)
        body.append("</annotation>")
    }

    private mutating func context(_ channels: TraceChannels) -> Int {
        if let known = contexts[channels] { return known }
        let number = contexts.count
        contexts[channels] = number
        definitions.append("<traceFormat xml:id=\"format\(number)\">")
        channels.writeFormat(to: &definitions)
        definitions.append("</traceFormat>\n<context xml:id=\"context\(number)\" inkSourceRef=\"#board\"")
        definitions.append(" traceFormatRef=\"#format\(number)\" timestampRef=\"#video\"/>\n")
        return number
    }

    private mutating func brush(_ stroke: InkDocument.Stroke) -> Int {
        let isEraser = stroke.element == .eraser
        let key = BrushKey(
            colour: stroke.colour, transparency: stroke.transparency, width: stroke.width, isEraser: isEraser)
        if let known = brushes[key] { return known }
        let number = brushes.count
        brushes[key] = number
        definitions.append("<brush xml:id=\"brush\(number)\">")
        let colour = "#" + Self.hexadecimal(stroke.colour)
        if let width = stroke.width {
            for name in ["width", "height"] {
                definitions.append("<brushProperty name=\"\(name)\"")
                definitions.append(attribute: "value", width)
                definitions.append(" units=\"dev\"/>")
            }
        }
        let rest = [
            ("color", isEraser ? "#ffffff" : colour), ("transparency", "\(stroke.transparency)"), ("tip", "ellipse"),
            ("rasterOp", stroke.transparency > 0 ? "maskPen" : "copyPen"),
        ]
        for (name, value) in rest { definitions.append("<brushProperty name=\"\(name)\" value=\"\(value)\"/>") }
        if isEraser { definitions.append("<annotation type=\"colour\">\(colour)</annotation>") }
        definitions.append("</brush>\n")
        return number
    }

    private static func hexadecimal(_ colour: UInt32) -> String {
        let digits = String(colour & 0xff_ffff, radix: 16)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }
}

/// The channels that the points of a stroke have besides X and Y.
private struct TraceChannels: Hashable {
    private enum Presence: Hashable {
        case none, some, all
    }

    private struct Kind: Sendable {
        let definition: String
        let value: @Sendable (StrokePoint) -> Double?
    }

    private var presence: [Presence]

    private static let kinds: [Kind] = [
        Kind(definition: "name=\"F\" type=\"double\" min=\"0\" max=\"1\" units=\"dev\"") { $0.force },
        Kind(definition: "name=\"OE\" type=\"double\" units=\"rad\"") { $0.altitude },
        Kind(definition: "name=\"OA\" type=\"double\" units=\"rad\"") { $0.azimuth },
        Kind(definition: "name=\"T\" type=\"double\" units=\"ms\"") { $0.milliseconds },
    ]

    init(_ points: [StrokePoint]) {
        presence = Self.kinds.map { kind in
            let count = points.count { kind.value($0) != nil }
            return count == 0 ? .none : count == points.count ? .all : .some
        }
    }

    var hasTimes: Bool { presence.last != Presence.none }

    private func kinds(_ wanted: Presence) -> [Kind] {
        Self.kinds.indices.filter { presence[$0] == wanted }.map { Self.kinds[$0] }
    }

    /// A channel that only some points have is intermittent.
    func writeFormat(to text: inout [UInt8]) {
        text.append(
            "<channel name=\"X\" type=\"double\" units=\"dev\"/><channel name=\"Y\" type=\"double\" units=\"dev\"/>")
        for kind in kinds(.all) { text.append("<channel \(kind.definition)/>") }
        let intermittent = kinds(.some)
        guard !intermittent.isEmpty else { return }
        text.append("<intermittentChannels>")
        for kind in intermittent { text.append("<channel \(kind.definition)/>") }
        text.append("</intermittentChannels>")
    }

    func write(_ points: [StrokePoint], to text: inout [UInt8]) {
        let (regular, intermittent) = (kinds(.all), kinds(.some))
        for (place, point) in points.enumerated() {
            if place > 0 { text.append(place.isMultiple(of: 8) ? ",\n" : ", ") }
            text.append(value: point.x)
            text.append(" ")
            text.append(value: point.y)
            for kind in regular {
                text.append(" ")
                text.append(value: kind.value(point) ?? 0)
            }
            for kind in intermittent {
                text.append(" ")
                if let value = kind.value(point) { text.append(value: value) } else { text.append("?") }
            }
        }
    }
}

/// The line that a shape is drawn as.
private struct ShapeOutline {
    let points: [StrokePoint]

    /// Greatest distance of an ellipse from its chords, in board units.
    private static let tolerance = 0.05

    /// - Returns: nil for what its points draw themselves.
    init?(_ stroke: InkDocument.Stroke) {
        guard stroke.element.isShape, let first = stroke.points.first, let last = stroke.points.last else { return nil }
        func point(_ x: Double, _ y: Double) -> StrokePoint { StrokePoint(x: x, y: y) }
        switch stroke.element {
        case .line:
            guard stroke.points.count > 2 else { return nil }
            points = [point(first.x, first.y), point(last.x, last.y)]
        case .rectangle:
            points = [
                point(first.x, first.y), point(last.x, first.y), point(last.x, last.y), point(first.x, last.y),
                point(first.x, first.y),
            ]
        case .arrow:
            let (from, to) = (SIMD2(first.x, first.y), SIMD2(last.x, last.y))
            let corners = ArrowShape.corners(from: from, to: to, width: stroke.width ?? 1)
            points = [point(first.x, first.y)] + corners.map { point($0.x, $0.y) }
        default:
            let (centreX, centreY) = ((first.x + last.x) / 2, (first.y + last.y) / 2)
            let (radiusX, radiusY) = (abs(last.x - first.x) / 2, abs(last.y - first.y) / 2)
            let radius = max(radiusX, radiusY, Self.tolerance)
            // A multiple of four, so that it reaches all sides of its box.
            let quarter = (Double.pi / acos(1 - Self.tolerance / radius) / 4).rounded(.up)
            let steps = 4 * Int(min(max(quarter, 4), 128))
            points = (0...steps).map { step in
                // The end is exactly the beginning.
                let angle = 2 * Double.pi * Double(step % steps) / Double(steps)
                return point(centreX + radiusX * cos(angle), centreY + radiusY * sin(angle))
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: String) { append(contentsOf: text.utf8) }

    /// Appends a number with the fewest digits that read back as the same value.
    fileprivate mutating func append(value: Double) {
        let text = value.description
        append(contentsOf: text.hasSuffix(".0") ? text.utf8.dropLast(2) : text.utf8.dropLast(0))
    }

    fileprivate mutating func append(attribute name: String, _ value: Double) {
        append(" \(name)=\"")
        append(value: value)
        append("\"")
    }

    /// Appends text of an element; characters that XML does not have become U+FFFD.
    fileprivate mutating func append(escaped text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": append("&lt;")
            case ">": append("&gt;")
            case "&": append("&amp;")
            case "\t", "\n", " "..."\u{fffd}", "\u{10000}"..."\u{10ffff}": append(String(Character(scalar)))
            case "\r": append("&#13;")
            default: append("\u{fffd}")
            }
        }
    }
}
