/// What a trace was written with: its format, device, brush and time (InkML, 4.3).
struct InkContext {
    var format: TraceFormat?
    var source: InkSource?
    var brush: Brush?
    /// Milliseconds since 1970.
    var timestamp: Int64?

    /// The format in force: the context's own, else its device's.
    var traceFormat: TraceFormat { format ?? source?.format ?? .standard }

    /// The same over what it inherits. The format of a device takes the place of one that is inherited.
    func over(_ inherited: InkContext) -> InkContext {
        InkContext(
            format: format ?? (source?.format == nil ? inherited.format : nil), source: source ?? inherited.source,
            brush: brush ?? inherited.brush, timestamp: timestamp ?? inherited.timestamp)
    }
}

/// A device: what its values count.
struct InkSource {
    let format: TraceFormat?
    /// By channel: how many of its values make a unit.
    let resolutions: [String: Resolution]
    /// Channels whose resolution is 0, which is unknown, with their lines.
    let unknownResolutions: [(channel: String, line: Int)]
    /// Of the writing surface, in the units given; nil where they are unknown.
    let area: (width: Double, height: Double, units: String?)?

    init(_ element: XMLElement) throws(InkMLError) {
        format = if let child = element.child("traceFormat") { try TraceFormat(child) } else { nil }
        var resolutions: [String: Resolution] = [:]
        var unknown: [(channel: String, line: Int)] = []
        for property in element.child("channelProperties")?.children ?? [] where property["name"] == "resolution" {
            guard let channel = property["channel"] else { throw property.missing("channel") }
            if try property.number("value") == 0 {
                unknown.append((channel, property.line))
            } else {
                resolutions[channel] = try Resolution(property)
            }
        }
        if Self.isOffice(element, format, resolutions) {
            resolutions["X"] = .himetric
            resolutions["Y"] = .himetric
        }
        self.resolutions = resolutions
        unknownResolutions = unknown
        if let area = element.child("activeArea"), let width = try area.number("width"),
            let height = try area.number("height"), width > 0, height > 0
        {
            self.area = (width, height, area["units"])
        } else {
            area = nil
        }
    }
}

extension InkSource {
    /// Whether Microsoft Office has written a device: its coordinates are hundredths of a millimetre, whatever the resolutions
    /// of the digitizer that it tells. The ink of [MS-ODRAWXML], 3.2, is 8921 by 2805 steps; the slide shows it 8.918 by
    /// 2.806 cm, by the resolutions 367.8 and 440.4 a centimetre it were 24.3 by 6.4.
    private static func isOffice(
        _ element: XMLElement, _ format: TraceFormat?, _ resolutions: [String: Resolution]
    ) -> Bool {
        guard let id = element["id"], id.wholeMatch(of: /inkSrc\d+/) != nil, let format else { return false }
        return ["X", "Y"].allSatisfy { name in
            resolutions[name]?.isPerCentimetre == true
                && format.channels.contains { $0.name == name && $0.kind == .integer && $0.units == "cm" }
        }
    }
}

/// The size of a step of a channel, as `1000` in `1/in`, or as `0.1` in `mm`.
struct Resolution {
    /// Of a step, in the units of the channel's quantity.
    private let step: Double
    private let units: String

    init(_ element: XMLElement) throws(InkMLError) {
        guard let value = try element.number("value"), value > 0 else {
            throw element.bad("value", element["value"] ?? "", "a number above 0")
        }
        let text = element["units"] ?? "dev"
        if text.hasPrefix("1/") {
            units = String(text.dropFirst(2))
            step = 1 / value
            perUnit = value
        } else {
            units = text
            step = value
            perUnit = nil
        }
    }

    private init(perUnit: Double, units: String) {
        (step, self.units, self.perUnit) = (1 / perUnit, units, perUnit)
    }

    /// Hundredths of a millimetre.
    static let himetric = Resolution(perUnit: 1000, units: "cm")

    /// Whether it was written as steps a centimetre.
    var isPerCentimetre: Bool { perUnit != nil && units == "cm" }

    /// Steps a unit, where it was written so: what is divided by it is not rounded twice.
    private let perUnit: Double?

    /// What a value is multiplied by.
    func factor(of quantity: Quantity) -> Double? {
        guard let factor = quantity.factor(of: units) else { return nil }
        return perUnit.map { factor / $0 } ?? factor * step
    }
}

/// What a channel measures, with its units.
enum Quantity {
    /// In board units, of which an inch has 96.
    case length
    /// In radians.
    case angle
    /// In milliseconds.
    case time

    /// What a value in these units is multiplied by; nil for units of another quantity.
    func factor(of units: String) -> Double? {
        switch (self, units) {
        case (.length, "dev"), (.length, "px"): 1
        case (.length, "in"): 96
        case (.length, "pt"): 96 / 72
        case (.length, "pc"), (.length, "em"): 16
        case (.length, "ex"): 8
        case (.length, "m"): 96 / 0.0254
        case (.length, "cm"): 96 / 2.54
        case (.length, "mm"): 96 / 25.4
        // Microsoft's hundredths of a millimetre.
        case (.length, "himetric"): 96 / 2540
        case (.angle, "rad"): 1
        case (.angle, "deg"), (.angle, "dev"): Double.pi / 180
        case (.time, "ms"), (.time, "dev"): 1
        case (.time, "s"): 1000
        default: nil
        }
    }
}

/// How strokes look (InkML, 4.2).
struct Brush {
    /// With its units.
    var width: (value: Double, units: String?)?
    /// With its units; counts for highlighters.
    var height: (value: Double, units: String?)?
    /// `0xRRGGBB`.
    var colour: UInt32?
    /// Whether the tip is no ellipse.
    private var isAngular = false
    /// 0 … 255.
    private var transparencyProperty: UInt8 = 0
    /// Whether the lighter of paint and paper disappears, as under a highlighter.
    private var isMask = false

    /// 0, opaque, … 255. A highlighter of unknown transparency is half transparent.
    var transparency: UInt8 { transparencyProperty == 0 && isMask ? 127 : transparencyProperty }

    /// Whether strokes have another width across than along.
    var isRound: Bool {
        guard !isAngular else { return false }
        return width == nil || height == nil || width?.value == height?.value && width?.units == height?.units
    }

    /// Takes over what the brush of an element says.
    mutating func apply(_ element: XMLElement) throws(InkMLError) {
        for property in element.children where property.name == "brushProperty" {
            switch property["name"] {
            case "width":
                guard let width = try property.number("value"), width > 0 else {
                    throw property.bad("value", property["value"] ?? "", "a width above 0")
                }
                self.width = (width, property["units"])
            case "height":
                height = property["value"].flatMap(Double.init).flatMap { value in
                    value.isFinite && value > 0 ? (value, property["units"]) : nil
                }
            case "tip": isAngular = property["value"] != "ellipse"
            case "rasterOp": isMask = property["value"] == "maskPen"
            case "transparency":
                // What is nearly opaque is not opaque.
                if let value = property["value"].flatMap(Double.init), 0...255 ~= value {
                    transparencyProperty = UInt8(value < 1 ? value.rounded(.up) : value.rounded())
                }
            case "color":
                guard let text = property["value"] else { throw property.missing("value") }
                guard let colour = Self.colour(text) else { throw property.bad("value", text, "a colour like #1f4fd8") }
                self.colour = colour
            default: break
            }
        }
        // The colour of an eraser's message, which is drawn as paper.
        for annotation in element.children where annotation.name == "annotation" && annotation["type"] == "colour" {
            if let colour = Self.colour(annotation.trimmedText) { self.colour = colour }
        }
    }

    private static func colour(_ text: String) -> UInt32? {
        let digits = text.dropFirst()
        guard text.first == "#", digits.count == 6, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            return nil
        }
        return UInt32(digits, radix: 16)
    }
}
