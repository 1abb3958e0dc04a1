import StrokeWire

extension InkDocument {
    /// Reads InkML 1.0 (W3C Recommendation, 20 September 2011).
    ///
    /// What ``inkML()`` wrote comes back as it was. Of other files the traces that are drawn become strokes: those with the
    /// pen down outside of definitions, and those of definitions that a view shows. Nothing outside of the file is read, a
    /// document type declaration is an error, and so is a reference to another document.
    ///
    /// - Parameters:
    ///   - limits: bounds of what is read.
    ///   - isStrict: whether what is otherwise passed over, with a note in ``notes``, is an error.
    /// - Throws: the first error, with its line.
    public init(
        inkML bytes: [UInt8], limits: InkMLLimits = InkMLLimits(), isStrict: Bool = false
    ) throws(InkMLError) {
        let root = try XMLTree.read(bytes, limits: limits)
        var reader = InkMLReader(root, limits, isStrict: isStrict)
        try reader.readInk(root)
        self = reader.document
    }
}

/// Turns the elements of a file into strokes.
private struct InkMLReader {
    /// What groups say of their traces.
    private struct Scope {
        var context = InkContext()
        /// Stands before that of the context.
        var brush: Brush?
        var page = 0
        var index: UInt64?
        var author: String?
        var element = Element.freehand
        /// The points of a shape whose trace is only its outline.
        var original: XMLElement?
        /// Whether the strokes have no time, and their points' times count from their beginning.
        var hasNoTime = false
    }

    private struct Place: Hashable {
        let page: Int
        let stroke: Int
    }

    private var references: InkReferences
    private let limits: InkMLLimits
    private let isStrict: Bool
    /// What was passed over, at most one of each code.
    private var notes: [InkMLNote] = []
    private var size: InkDocument.Size?
    private var pages: [InkDocument.Page] = []
    /// Where each trace with an id has gone, for those that continue it.
    private var places: [String: Place] = [:]
    /// Strokes whose force has no known maximum.
    private var unscaled: Set<Place> = []
    /// Strokes whose first trace has an offset of its time.
    private var offset: Set<Place> = []
    private var greatestForce = 1.0
    private var pointCount = 0
    /// What reading has cost, in bytes of text and of attributes: views can show a group, and shapes a trace, many times.
    private var work = 0
    /// As many bytes as take about the time of an element's references, and of a trace's channels.
    private static let elementWork = 256
    private static let traceWork = 512

    init(_ root: XMLElement, _ limits: InkMLLimits, isStrict: Bool) {
        references = InkReferences(root)
        (self.limits, self.isStrict) = (limits, isStrict)
    }

    /// Notes what is passed over, once of each code.
    private mutating func note(_ code: InkMLNote.Code, line: Int, _ message: String) throws(InkMLError) {
        guard !isStrict else { throw InkMLError(.passedOver, line: line, message) }
        if !notes.contains(where: { $0.code == code }) {
            notes.append(InkMLNote(code: code, line: line, message: message))
        }
    }

    var document: InkDocument {
        var document = InkDocument(size: size, pages: pages.isEmpty ? [InkDocument.Page()] : pages)
        document.notes = notes
        // Forces without a maximum are shares of the strongest one.
        for place in unscaled where greatestForce > 1 {
            for point in document.pages[place.page].strokes[place.stroke].points.indices {
                document.pages[place.page].strokes[place.stroke].points[point].force? /= greatestForce
            }
        }
        return document
    }

    mutating func readInk(_ root: XMLElement) throws(InkMLError) {
        var scope = Scope()
        for child in root.children {
            switch child.name {
            // Outside of definitions they are in force from here on (InkML, 7.2).
            case "context":
                scope.context = try references.context(child, over: scope.context)
            case "traceFormat": scope.context.format = try TraceFormat(child)
            case "brush": scope.context.brush = try references.brush(child)
            default: try read(child, scope)
            }
        }
        // Without any ink, the board of the first device that has one.
        for definitions in root.children where size == nil && definitions.name == "definitions" {
            guard let source = definitions.child("inkSource") else { continue }
            let read = try InkSource(source)
            size = try SampleReader(read.format ?? .standard, read, &references).area
        }
    }

    /// Counts an element that is looked at, with its annotations.
    private mutating func count(_ element: XMLElement) throws(InkMLError) {
        work += Self.elementWork + element.children.count + element.text.count
        for attribute in element.attributes { work += attribute.value.utf8.count }
        for child in element.children where child.name == "annotation" { work += child.text.count }
        if element.name == "trace" { work += Self.traceWork }
        guard work <= limits.work else {
            throw InkMLError(.tooLarge, line: element.line, "Too much of the file is shown again.")
        }
    }

    private mutating func read(_ element: XMLElement, _ scope: Scope, depth: Int = 0) throws(InkMLError) {
        try count(element)
        switch element.name {
        case "trace": try readTrace(element, try entered(element, scope))
        case "traceGroup":
            let scope = try entered(element, scope)
            if element.children.contains(where: { $0.name == "annotation" && $0["type"] == "page" }) {
                _ = page(scope.page)
            }
            for child in element.children { try read(child, scope, depth: depth) }
        case "traceView": try readView(element, scope, depth: depth)
        default: break
        }
    }

    /// A view of traces in definitions draws them; one of traces that are drawn anyway only names them.
    private mutating func readView(_ view: XMLElement, _ scope: Scope, depth: Int) throws(InkMLError) {
        guard depth < InkMLLimits.references else {
            throw InkMLError(.circularReference, line: view.line, "<traceView> shows itself, or over too many levels.")
        }
        for child in view.children { try read(child, scope, depth: depth + 1) }
        guard
            let target = try references.target(
                "traceDataRef", of: view, named: "trace", "traceGroup", "traceView"), references.isDefined(target)
        else { return }
        guard view["from"] == nil, view["to"] == nil else {
            throw InkMLError(.unsupported, line: view.line, "The view shows a part of a trace.")
        }
        try read(target, scope, depth: depth + 1)
    }

    /// The scope inside of a group or trace.
    private mutating func entered(_ element: XMLElement, _ outer: Scope) throws(InkMLError) -> Scope {
        var scope = outer
        if let context = try references.target("contextRef", of: element, named: "context") {
            scope.context = try references.context(context, over: scope.context)
            if scope.context.brush != nil { scope.brush = nil }
        }
        if let brush = try references.target("brushRef", of: element, named: "brush") {
            scope.brush = try references.brush(brush)
        }
        for annotation in element.children where annotation.name == "annotation" {
            let text = annotation.trimmedText
            switch annotation["type"] {
            case "page": if let page = Int(text), 0...999 ~= page { scope.page = page }
            case "index": scope.index = UInt64(text) ?? scope.index
            case "author": if !text.isEmpty { scope.author = text }
            case "element": scope.element = ElementName.element(text) ?? scope.element
            case "points": scope.original = references.definedTrace(text) ?? scope.original
            case "time": if text == "none" { scope.hasNoTime = true }
            default: break
            }
        }
        return scope
    }

    private mutating func readTrace(_ trace: XMLElement, _ scope: Scope) throws(InkMLError) {
        switch trace["type"] {
        case nil, "penDown", "indeterminate": break
        case "penUp": return
        case let other?: throw trace.bad("type", other, "penDown, penUp or indeterminate")
        }
        var scope = scope
        var data = trace
        if let original = scope.original, scope.element.isShape {
            // The time and the brush are those of the trace that is drawn.
            try count(original)
            scope = try entered(original, scope)
            data = original
        } else if scope.element.isShape, scope.element != .line {
            scope.element = .freehand
        }
        let samples = try sampleReader(scope.context)
        let offset = try trace.milliseconds("timeOffset")
        let continued = try continuedStroke(trace)
        var points: [StrokePoint] = []
        var clock = TraceClock(
            offset: offset, timestamp: scope.context.timestamp, isRelative: samples.isTimeRelative,
            hasNoTime: scope.hasNoTime)
        if let continued {
            clock.begin(
                at: pages[continued.page].strokes[continued.stroke].time, hasOffset: self.offset.contains(continued))
        }
        let prior = continued.map { pages[$0.page].strokes[$0.stroke].points.count } ?? 0
        var strongest = 0.0
        var reader = TraceReader(data, scope.context.traceFormat)
        try reader.forEachPoint(atMost: min(limits.strokePoints - prior, limits.points - pointCount)) {
            (values) throws(InkMLError) in
            guard var point = samples.point(values) else {
                throw InkMLError(
                    .badTrace, line: data.line, "A point has no X or no Y, or a value that is too large.")
            }
            strongest = max(strongest, point.force ?? 0)
            point.milliseconds = point.milliseconds.map { clock.milliseconds($0) }
            points.append(point)
        }
        guard !points.isEmpty else { return }
        pointCount += points.count
        let place: Place
        if let continued {
            place = continued
            pages[place.page].strokes[place.stroke].points += points
        } else {
            let brush = scope.brush ?? scope.context.brush
            place = append(
                InkDocument.Stroke(
                    index: scope.index, author: scope.author, element: scope.element, colour: brush?.colour ?? 0,
                    transparency: brush?.transparency ?? 0, width: try width(brush, samples, trace),
                    time: clock.start, points: points), to: scope.page)
            if offset != nil { self.offset.insert(place) }
        }
        if !samples.hasForceRange, strongest > 0 {
            unscaled.insert(place)
            greatestForce = max(greatestForce, strongest)
        }
        if let id = trace["id"] { places[id] = place }
    }

    private mutating func sampleReader(_ context: InkContext) throws(InkMLError) -> SampleReader {
        let samples = try SampleReader(context.traceFormat, context.source, &references)
        if let unknown = context.source?.unknownResolutions.first {
            try note(
                .unknownResolution, line: unknown.line,
                "The resolution of the channel \(unknown.channel.prefix(64).debugDescription) is 0 and counts as unknown."
            )
        }
        if size == nil { size = samples.area }
        return samples
    }

    private mutating func append(_ stroke: InkDocument.Stroke, to number: Int) -> Place {
        let page = page(number)
        pages[page].strokes.append(stroke)
        return Place(page: page, stroke: pages[page].strokes.count - 1)
    }

    /// In board units. A board's lines are as wide along as across: a highlighter has the greater of both widths.
    private mutating func width(
        _ brush: Brush?, _ samples: SampleReader, _ trace: XMLElement
    ) throws(InkMLError) -> Double? {
        guard let brush else { return nil }
        if !brush.isRound {
            try note(.brushShape, line: trace.line, "The tip of a brush is not round; its strokes are drawn round.")
        }
        let width = try length(brush.width, samples, trace)
        guard brush.transparency > 0, let height = try length(brush.height, samples, trace) else { return width }
        return max(width ?? height, height)
    }

    private mutating func length(
        _ size: (value: Double, units: String?)?, _ samples: SampleReader, _ trace: XMLElement
    ) throws(InkMLError) -> Double? {
        guard let size else { return nil }
        let units = size.units ?? "dev"
        if units != "dev", let factor = Quantity.length.factor(of: units) { return Self.length(size.value * factor) }
        if units != "dev" {
            try note(
                .unknownUnits, line: trace.line,
                "The units \(units.prefix(64).debugDescription) of a brush are unknown and count as those of the device."
            )
        }
        return Self.length(size.value * samples.unit)
    }

    /// nil where units make nothing of it, or more than any number.
    private static func length(_ value: Double) -> Double? { value > 0 && value.isFinite ? value : nil }

    /// The stroke that a trace continues; nil where it begins one.
    private func continuedStroke(_ trace: XMLElement) throws(InkMLError) -> Place? {
        switch trace["continuation"] {
        case nil, "begin": return nil
        case "middle", "end":
            guard let prior = try references.target("priorRef", of: trace, named: "trace") else {
                throw trace.missing("priorRef")
            }
            // One that was not drawn continues nothing.
            return prior["id"].flatMap { places[$0] }
        case let other?: throw trace.bad("continuation", other, "begin, middle or end")
        }
    }

    /// The place of a page, which is made where it is new.
    private mutating func page(_ number: Int) -> Int {
        if let place = pages.firstIndex(where: { $0.number == number }) { return place }
        pages.append(InkDocument.Page(number: number))
        return pages.count - 1
    }
}

/// The names of elements in annotations.
enum ElementName {
    private static let names: [(element: Element, name: String)] = [
        (.freehand, "freehand"), (.line, "line"), (.ellipse, "ellipse"), (.rectangle, "rectangle"), (.eraser, "eraser"),
        (.highlighter, "highlighter"), (.arrow, "arrow"),
    ]

    /// nil for what is no ink.
    static func name(_ element: Element) -> String? { names.first { $0.element == element }?.name }

    static func element(_ name: String) -> Element? { names.first { $0.name == name }?.element }
}

extension Element {
    /// Whether it is drawn from its first and last point alone.
    var isShape: Bool { self == .line || self == .ellipse || self == .rectangle || self == .arrow }
}
