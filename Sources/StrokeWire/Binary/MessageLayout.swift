/// How the payload of a message in the binary form is read.
package enum MessageLayout: Hashable, Sendable {
    /// It is the JSON text.
    case json
    /// It is the numbers of a message as most clients write it.
    case keys(MessageKeys)
    /// It is the numbers of a message with other keys, spaces or order.
    case template(MessageTemplate)

    /// The layout of numbers that were packed by a template.
    package init(_ template: MessageTemplate) {
        self = MessageKeys(of: template).map { .keys($0) } ?? .template(template)
    }

    /// nil for JSON.
    var template: MessageTemplate? {
        switch self {
        case .json: nil
        case .keys(let keys): keys.template()
        case .template(let template): template
        }
    }
}

/// The bytes of a layout: its kind, then the keys or the template.
extension MessageLayout {
    enum Kind: UInt8 {
        case json
        case keys
        case template
    }

    func append(to bytes: inout [UInt8]) {
        switch self {
        case .json: bytes.append(Kind.json.rawValue)
        case .keys(let keys):
            bytes.append(Kind.keys.rawValue)
            Varint.append(UInt64(keys.rawValue), to: &bytes)
        case .template(let template):
            bytes.append(Kind.template.rawValue)
            template.append(to: &bytes)
        }
    }
}

extension MessageTemplate {
    /// Appends its four texts, the separator without gaps.
    package func append(to bytes: inout [UInt8]) {
        append(before, to: &bytes)
        append(point, to: &bytes)
        Varint.append(UInt64(separator.count), to: &bytes)
        bytes += literal[separator]
        append(after, to: &bytes)
    }

    /// A text: its size and its bytes, the number of its gaps, and the bytes before each since the gap before.
    private func append(_ text: Text, to bytes: inout [UInt8]) {
        Varint.append(UInt64(text.literal.count), to: &bytes)
        bytes += literal[text.literal]
        Varint.append(UInt64(text.gaps.count), to: &bytes)
        var last = text.literal.lowerBound
        for gap in gaps[text.gaps] {
            Varint.append(UInt64(Int(gap) - last), to: &bytes)
            last = Int(gap)
        }
    }
}

extension BinaryReader {
    mutating func layout() throws(BinaryFormError) -> MessageLayout {
        switch MessageLayout.Kind(rawValue: try byte()) {
        case .json: return .json
        case .keys:
            let keys = try varint()
            guard keys <= UInt64(MessageKeys.all.rawValue) else { throw damaged }
            return .keys(MessageKeys(rawValue: UInt16(keys)))
        case .template: return .template(try template(atMost: .max))
        case nil: throw damaged
        }
    }

    /// Reads what ``MessageTemplate/append(to:)`` wrote.
    /// - Parameter limit: the greatest number of bytes of all texts.
    package mutating func template(atMost limit: Int) throws(BinaryFormError) -> MessageTemplate {
        var template = MessageTemplate()
        try text(into: &template, limit)
        template.endBefore()
        try text(into: &template, limit)
        template.endPoint()
        template.append(try data())
        template.endSeparator()
        try text(into: &template, limit)
        return template
    }

    private mutating func text(into template: inout MessageTemplate, _ limit: Int) throws(BinaryFormError) {
        let literal = try data()
        guard template.literal.count + literal.count <= limit else { throw damaged }
        var taken = literal.startIndex
        for _ in 0..<(try count()) {
            let step = try varint()
            guard step <= UInt64(literal.endIndex - taken) else { throw damaged }
            template.append(literal[taken..<taken + Int(step)])
            taken += Int(step)
            template.appendNumber()
        }
        template.append(literal[taken...])
    }
}

/// The keys of a message that is spelt as ``StrokeMessage/encoded(interior:)`` and ``PointEncoder`` spell it, or with some
/// of their keys left out: no spaces, keys in their order, `n` first. `x` and `y` go with `d`.
package struct MessageKeys: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The letters of the keys, from the lowest bit: those of the message, `d`, those of points.
    private static let letters: StaticString = "clsoeatwhdfizm"

    static let colour = MessageKeys(rawValue: 1 << 0)
    static let width = MessageKeys(rawValue: 1 << 1)
    static let shardCount = MessageKeys(rawValue: 1 << 2)
    static let shardOrder = MessageKeys(rawValue: 1 << 3)
    static let element = MessageKeys(rawValue: 1 << 4)
    static let action = MessageKeys(rawValue: 1 << 5)
    static let time = MessageKeys(rawValue: 1 << 6)
    static let boardWidth = MessageKeys(rawValue: 1 << 7)
    static let boardHeight = MessageKeys(rawValue: 1 << 8)
    static let points = MessageKeys(rawValue: 1 << 9)
    static let force = MessageKeys(rawValue: 1 << 10)
    static let altitude = MessageKeys(rawValue: 1 << 11)
    static let azimuth = MessageKeys(rawValue: 1 << 12)
    static let milliseconds = MessageKeys(rawValue: 1 << 13)
    static let all = MessageKeys(rawValue: 1 << 14 - 1)

    /// - Returns: nil for a template of another spelling.
    init?(of template: MessageTemplate) {
        let hasPoints = !template.before.literal.isEmpty
        var keys: MessageKeys = hasPoints ? .points : []
        let outside = hasPoints ? template.before : template.after
        let optional = template.gaps[outside.gaps].dropFirst() + template.gaps[template.point.gaps].dropFirst(2)
        for gap in optional {
            guard let key = Self.key(Int(gap) >= 3 ? template.literal[Int(gap) - 3] : 0) else { return nil }
            keys.insert(key)
        }
        guard template == keys.template(hasSeparator: !template.separator.isEmpty) else { return nil }
        self = keys
    }

    private static func key(_ letter: UInt8) -> MessageKeys? {
        letters.withUTF8Buffer { $0.firstIndex(of: letter) }.map { MessageKeys(rawValue: 1 << UInt16($0)) }
    }

    /// The template of messages with these keys.
    /// - Parameter hasSeparator: false as in the template of a message of one point.
    func template(hasSeparator: Bool = true) -> MessageTemplate {
        var template = MessageTemplate()
        if contains(.points) {
            append(0..<9, after: "{\"n\":", to: &template)
            template.append(",\"d\":[".utf8)
            template.endBefore()
            template.append("{\"x\":".utf8)
            template.appendNumber()
            append(10..<14, after: ",\"y\":", to: &template)
            template.append(UInt8(ascii: "}"))
            template.endPoint()
            if hasSeparator { template.append(UInt8(ascii: ",")) }
            template.endSeparator()
            template.append("]}".utf8)
        } else {
            template.endBefore()
            template.endPoint()
            template.endSeparator()
            append(0..<9, after: "{\"n\":", to: &template)
            template.append(UInt8(ascii: "}"))
        }
        return template
    }

    /// Appends a first key and those of `bits` that there are, each with its gap.
    private func append(_ bits: Range<Int>, after first: StaticString, to template: inout MessageTemplate) {
        first.withUTF8Buffer { template.append($0) }
        template.appendNumber()
        for bit in bits where contains(MessageKeys(rawValue: 1 << UInt16(bit))) {
            let letter = Self.letters.withUTF8Buffer { $0[bit] }
            template.append([UInt8(ascii: ","), UInt8(ascii: "\""), letter, UInt8(ascii: "\""), UInt8(ascii: ":")])
            template.appendNumber()
        }
    }
}
