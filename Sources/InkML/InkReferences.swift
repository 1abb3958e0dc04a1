import StrokeWire

/// The elements of a file that others refer to. Each is read once.
struct InkReferences {
    /// What a context says itself.
    private struct Contents {
        var parent: XMLElement?
        var context: InkContext
    }

    private var elements: [String: XMLElement] = [:]
    private var defined: Set<ObjectIdentifier> = []
    private var contents: [ObjectIdentifier: Contents] = [:]
    private var brushes: [ObjectIdentifier: Brush] = [:]
    private var sources: [ObjectIdentifier: InkSource] = [:]
    private var formats: [ObjectIdentifier: TraceFormat] = [:]
    private var timestamps: [ObjectIdentifier: Int64] = [:]

    init(_ root: XMLElement) { register(root, isDefined: false) }

    private mutating func register(_ element: XMLElement, isDefined: Bool) {
        if let id = element["id"], elements[id] == nil {
            elements[id] = element
            if isDefined { defined.insert(ObjectIdentifier(element)) }
        }
        for child in element.children { register(child, isDefined: isDefined || element.name == "definitions") }
    }

    /// Whether an element that was referred to stands in definitions.
    func isDefined(_ element: XMLElement) -> Bool { defined.contains(ObjectIdentifier(element)) }

    /// The trace of definitions that a text refers to; nil for any other text.
    func definedTrace(_ reference: String) -> XMLElement? {
        guard reference.hasPrefix("#"), let trace = elements[String(reference.dropFirst())], trace.name == "trace",
            isDefined(trace)
        else { return nil }
        return trace
    }

    /// The element that an attribute refers to; nil where the attribute is absent, or names one of the defaults of the
    /// Recommendation.
    func target(_ attribute: String, of element: XMLElement, named names: String...) throws(InkMLError) -> XMLElement? {
        try element[attribute].flatMap { reference throws(InkMLError) in
            try target(reference, line: element.line, named: names)
        }
    }

    private func target(_ reference: String, line: Int, named names: [String]) throws(InkMLError) -> XMLElement? {
        // Many files leave the number sign out.
        let id = reference.hasPrefix("#") ? String(reference.dropFirst()) : reference
        if let target = elements[id], names.contains(target.name) { return target }
        if id.hasPrefix("Default") { return nil }
        let quoted = String(reference.prefix(64)).debugDescription
        if !reference.hasPrefix("#"), reference.contains(where: { "#/:.".contains($0) }) {
            throw InkMLError(.externalReference, line: line, "\(quoted) refers to something outside of the file.")
        }
        throw InkMLError(.unknownReference, line: line, "There is no \(names[0]) \(quoted).")
    }

    /// A context: what it says itself, over what it refers to, over what is in force.
    mutating func context(_ element: XMLElement, over inherited: InkContext) throws(InkMLError) -> InkContext {
        var chain: [InkContext] = []
        var next: XMLElement? = element
        while let element = next {
            try check(chain.count, element)
            let contents = try contents(of: element)
            chain.append(contents.context)
            next = contents.parent
        }
        return chain.reversed().reduce(inherited) { $1.over($0) }
    }

    private mutating func contents(of element: XMLElement) throws(InkMLError) -> Contents {
        if let known = contents[ObjectIdentifier(element)] { return known }
        var context = InkContext()
        if let source = try target("inkSourceRef", of: element, named: "inkSource") ?? element.child("inkSource") {
            context.source = try self.source(source)
        }
        if let format = try target("traceFormatRef", of: element, named: "traceFormat") ?? element.child("traceFormat")
        {
            context.format = try self.format(format)
        }
        if let brush = try target("brushRef", of: element, named: "brush") ?? element.child("brush") {
            context.brush = try self.brush(brush)
        }
        if let stamp = try target("timestampRef", of: element, named: "timestamp") ?? element.child("timestamp") {
            context.timestamp = try timestamp(stamp)
        }
        let transform = try target("canvasTransformRef", of: element, named: "canvasTransform")
        if let transform = transform ?? element.child("canvasTransform"),
            transform.children.contains(where: { $0["type"] != "identity" })
        {
            throw InkMLError(.unsupported, line: transform.line, "The canvas has a mapping other than identity.")
        }
        let parent = try target("contextRef", of: element, named: "context")
        contents[ObjectIdentifier(element)] = Contents(parent: parent, context: context)
        return Contents(parent: parent, context: context)
    }

    private mutating func source(_ element: XMLElement) throws(InkMLError) -> InkSource {
        if let known = sources[ObjectIdentifier(element)] { return known }
        let source = try InkSource(element)
        sources[ObjectIdentifier(element)] = source
        return source
    }

    private mutating func format(_ element: XMLElement) throws(InkMLError) -> TraceFormat {
        if let known = formats[ObjectIdentifier(element)] { return known }
        let format = try TraceFormat(element)
        formats[ObjectIdentifier(element)] = format
        return format
    }

    /// A brush with what it inherits.
    mutating func brush(_ element: XMLElement, depth: Int = 0) throws(InkMLError) -> Brush {
        if let known = brushes[ObjectIdentifier(element)] { return known }
        try check(depth, element)
        var brush = Brush()
        if let parent = try target("brushRef", of: element, named: "brush") {
            brush = try self.brush(parent, depth: depth + 1)
        }
        try brush.apply(element)
        brushes[ObjectIdentifier(element)] = brush
        return brush
    }

    /// Milliseconds since 1970 of a timestamp that is referred to.
    mutating func timestamp(_ reference: String, line: Int) throws(InkMLError) -> Int64 {
        guard let element = try target(reference, line: line, named: ["timestamp"]) else { return 0 }
        return try timestamp(element)
    }

    /// Milliseconds since 1970, or since what a timestamp without a time counts from.
    private mutating func timestamp(_ element: XMLElement, depth: Int = 0) throws(InkMLError) -> Int64 {
        if let known = timestamps[ObjectIdentifier(element)] { return known }
        try check(depth, element)
        let offset = try element.number("timeOffset") ?? 0
        var time = 0.0
        if let text = element["timeString"] {
            guard let parsed = CalendarTime.read(text[...]) else {
                throw element.bad("timeString", text, "a date and time like 2011-09-20T12:00:00Z")
            }
            time = Double(parsed.microseconds) / 1000
        } else if let own = try element.number("time") {
            time = own
        } else if let other = try target("timestampRef", of: element, named: "timestamp") {
            time = Double(try timestamp(other, depth: depth + 1))
        }
        guard let sum = Int64(exactly: (time + offset).rounded()) else {
            throw InkMLError(.badAttribute, line: element.line, "The time of <timestamp> is too large.")
        }
        timestamps[ObjectIdentifier(element)] = sum
        return sum
    }

    private func check(_ depth: Int, _ element: XMLElement) throws(InkMLError) {
        guard depth < InkMLLimits.references else {
            throw InkMLError(
                .circularReference, line: element.line,
                "<\(element.name)> inherits in a circle, or over more than \(InkMLLimits.references) levels.")
        }
    }
}
