/// A channel of a trace: one number of each point.
struct Channel {
    enum Kind {
        case integer, decimal, double, boolean
    }

    let name: String
    let kind: Kind
    /// Before the first value is reported; nil where the file says nothing.
    private(set) var initial: Double?
    private(set) var minimum: Double?
    private(set) var maximum: Double?
    /// Whether values grow in the direction against the usual one.
    private(set) var isReversed = false
    private(set) var units: String?
    /// Reference to what the values count from.
    private(set) var respectTo: String?
    private(set) var line = 1

    init(_ element: XMLElement) throws(InkMLError) {
        guard let name = element["name"] else { throw element.missing("name") }
        self.name = name
        kind =
            switch element["type"] {
            case nil, "decimal": .decimal
            case "double": .double
            case "integer": .integer
            case "boolean": .boolean
            case let other?: throw element.bad("type", other, "integer, decimal, double or boolean")
            }
        switch element["default"] {
        case "T": initial = 1
        case "F": initial = 0
        default: initial = try element.number("default")
        }
        minimum = try element.number("min")
        maximum = try element.number("max")
        switch element["orientation"] {
        case nil, "+ve": isReversed = false
        case "-ve": isReversed = true
        case let other?: throw element.bad("orientation", other, "+ve or -ve")
        }
        units = element["units"]
        respectTo = element["respectTo"]
        line = element.line
        if let mapping = element.child("mapping"), mapping["type"] != "identity", TraceFormat.names.contains(name) {
            throw InkMLError(
                .unsupported, line: mapping.line,
                "The channel \(name.debugDescription) has a mapping other than identity.")
        }
    }

    private init(name: String) {
        self.name = name
        kind = .decimal
    }

    /// The channels of traces without a format.
    static let standard = [Channel(name: "X"), Channel(name: "Y")]
}

/// The channels of a trace, in the order of a point's values.
struct TraceFormat {
    /// Those of each point.
    let regular: [Channel]
    /// Those that may be left out at the end of a point.
    let intermittent: [Channel]

    /// The channels whose values are used.
    static let names: Set = ["X", "Y", "F", "OE", "OA", "OTx", "OTy", "T"]
    static let standard = TraceFormat(regular: Channel.standard, intermittent: [])

    private init(regular: [Channel], intermittent: [Channel]) {
        (self.regular, self.intermittent) = (regular, intermittent)
    }

    init(_ element: XMLElement) throws(InkMLError) {
        var (regular, intermittent): ([Channel], [Channel]) = ([], [])
        for child in element.children {
            switch child.name {
            case "channel": regular.append(try Channel(child))
            case "intermittentChannels":
                for channel in child.children where channel.name == "channel" {
                    intermittent.append(try Channel(channel))
                }
            // As drafts of the Recommendation had it.
            case "regularChannels":
                for channel in child.children where channel.name == "channel" { regular.append(try Channel(channel)) }
            default: break
            }
        }
        let all = regular + intermittent
        guard all.count <= InkMLLimits.channels else {
            throw InkMLError(.tooLarge, line: element.line, "A format has more than \(InkMLLimits.channels) channels.")
        }
        for name in ["X", "Y"] where !all.contains(where: { $0.name == name }) {
            throw InkMLError(.missingChannel, line: element.line, "The format has no channel \(name).")
        }
        self.init(regular: regular, intermittent: intermittent)
    }

    var channels: [Channel] { regular + intermittent }
}
