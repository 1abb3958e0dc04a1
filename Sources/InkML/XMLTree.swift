internal import CXML

/// An element of InkML with what it contains; elements of other namespaces are left out.
final class XMLElement {
    let name: String
    /// The line where its start tag ends.
    let line: Int
    /// In the order of the file. `xml:id` has the name `id`.
    let attributes: [(name: String, value: String)]
    fileprivate(set) var children: [XMLElement] = []
    /// The text, kept only of elements that have some: traces, annotations, matrices.
    fileprivate(set) var text: [UInt8] = []

    fileprivate init(name: String, line: Int, attributes: [(name: String, value: String)]) {
        (self.name, self.line, self.attributes) = (name, line, attributes)
    }

    /// The value of an attribute; nil where it is absent or empty.
    subscript(attribute: String) -> String? {
        attributes.first { $0.name == attribute }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The text without white space around it.
    var trimmedText: String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x9 || byte == 0xa || byte == 0xd }
        guard let first = text.firstIndex(where: { !isBlank($0) }), let last = text.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: text[first...last], as: UTF8.self)
    }
}

extension XMLElement {
    func missing(_ attribute: String) -> InkMLError {
        InkMLError(.badAttribute, line: line, "<\(name)> has no attribute \(attribute).")
    }

    func bad(_ attribute: String, _ value: String, _ expected: String) -> InkMLError {
        InkMLError(
            .badAttribute, line: line,
            "<\(name)> has \(attribute)=\(String(value.prefix(64)).debugDescription); it is \(expected).")
    }

    /// The number of an attribute, finite; nil where it is absent.
    func number(_ attribute: String) throws(InkMLError) -> Double? {
        guard let text = self[attribute] else { return nil }
        guard let number = Double(text), number.isFinite else { throw bad(attribute, text, "a number") }
        return number
    }

    /// The milliseconds of an attribute, rounded to whole ones; nil where it is absent.
    func milliseconds(_ attribute: String) throws(InkMLError) -> Int64? {
        guard let text = self[attribute] else { return nil }
        if let number = Int64(text) { return number }
        guard let number = try number(attribute).flatMap({ Int64(exactly: $0.rounded()) }) else {
            throw bad(attribute, text, "a number of milliseconds")
        }
        return number
    }
}

/// Reads XML by libxml2 into a tree, within bounds.
///
/// A document type declaration ends the reading before anything of it is looked at, so there are no entities but the
/// five of XML, and nothing outside of the text is ever opened. libxml2 gets UTF-8 alone, whatever the file declares:
/// its converters of other encodings are never used.
enum XMLTree {
    static let namespace = "http://www.w3.org/2003/InkML"

    /// - Returns: the root, which is the `ink` element.
    static func read(_ bytes: [UInt8], limits: InkMLLimits) throws(InkMLError) -> XMLElement {
        guard bytes.count <= limits.bytes else {
            throw InkMLError(.tooLarge, line: 1, "The file has \(bytes.count) bytes; at most \(limits.bytes) are read.")
        }
        let text = try XMLEncoding.text(of: bytes)
        try StartTags.check(text, limits)
        let builder = XMLTreeBuilder(limits)
        let hasMemory = withExtendedLifetime(builder) {
            var events = builder.events
            return text.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: CChar.self) { xml_read($0.baseAddress, $0.count, &events) }
            }
        }
        if let error = builder.error { throw error }
        guard hasMemory, let root = builder.root else {
            throw InkMLError(.tooLarge, line: 1, "There is no memory to read the file.")
        }
        return root
    }
}

/// Builds a tree from the events of a parser; ends it at the first error.
private final class XMLTreeBuilder {
    private let limits: InkMLLimits
    private var open: [XMLElement] = []
    /// Levels of elements of other namespaces around the current text.
    private var foreignDepth = 0
    private var elementCount = 0
    /// Declared namespaces of each open element.
    private var namespaceCounts: [Int] = []
    /// Whether the file leaves out the namespace of InkML.
    private var hasNoNamespace = false
    private(set) var root: XMLElement?
    private(set) var error: InkMLError?

    init(_ limits: InkMLLimits) { self.limits = limits }

    private static let elementsWithText: Set = ["trace", "annotation"]

    private func fail(_ code: InkMLError.Code, line: Int, _ message: String) {
        if error == nil { error = InkMLError(code, line: max(1, line), message) }
    }

    private func start(
        _ name: String, namespace: String?, declaring namespaces: Int, line: Int,
        _ attributes: UnsafeBufferPointer<xml_attribute>
    ) {
        elementCount += 1
        guard elementCount <= limits.elements else {
            return fail(.tooLarge, line: line, "The file has more than \(limits.elements) elements.")
        }
        namespaceCounts.append(namespaces)
        // Every name is looked up among them.
        guard namespaceCounts.reduce(0, +) <= InkMLLimits.attributes else {
            return fail(.tooLarge, line: line, "More than \(InkMLLimits.attributes) namespaces are declared.")
        }
        guard open.count + foreignDepth < limits.depth else {
            return fail(.tooLarge, line: line, "Elements stand in each other more than \(limits.depth) levels deep.")
        }
        if root == nil {
            hasNoNamespace = namespace == nil
            guard name == "ink", hasNoNamespace || namespace == XMLTree.namespace else {
                return fail(
                    .notInkML, line: line, "The root is <\(name.prefix(64))>, not <ink> of \(XMLTree.namespace).")
            }
        }
        guard foreignDepth == 0, namespace == (hasNoNamespace ? nil : XMLTree.namespace) else {
            foreignDepth += 1
            return
        }
        let element = XMLElement(name: name, line: line, attributes: attributes.compactMap(Self.attribute))
        if let parent = open.last { parent.children.append(element) } else { root = element }
        open.append(element)
    }

    /// Of attributes with a prefix only `xml:id` has a meaning here.
    private static func attribute(_ attribute: xml_attribute) -> (name: String, value: String)? {
        let name = String(cString: attribute.name)
        let prefix = attribute.prefix.map { String(cString: $0) }
        guard prefix == nil || prefix == "xml" && name == "id" else { return nil }
        let value = UnsafeRawBufferPointer(start: attribute.value, count: attribute.value_length)
        return (name, String(decoding: value, as: UTF8.self))
    }

    private func end() {
        _ = namespaceCounts.popLast()
        if foreignDepth > 0 { foreignDepth -= 1 } else { _ = open.popLast() }
    }

    private func add(_ text: UnsafeRawBufferPointer) {
        guard foreignDepth == 0, let element = open.last, Self.elementsWithText.contains(element.name) else { return }
        element.text.append(contentsOf: text)
    }

    /// The events, with a reference to this object that is not counted.
    var events: xml_events {
        xml_events(
            context: Unmanaged.passUnretained(self).toOpaque(),
            start: { context, line, name, namespace, declared, attributes, count in
                let builder = XMLTreeBuilder.of(context)
                builder.start(
                    String(cString: name), namespace: namespace.map { String(cString: $0) }, declaring: declared,
                    line: Int(line), UnsafeBufferPointer(start: attributes, count: count))
                return builder.error == nil
            },
            end: { context in
                XMLTreeBuilder.of(context).end()
                return true
            },
            text: { context, bytes, length in
                XMLTreeBuilder.of(context).add(UnsafeRawBufferPointer(start: bytes, count: length))
                return true
            },
            doctype: { context, line in
                XMLTreeBuilder.of(context).fail(
                    .doctype, line: Int(line), "Document type declarations and entities are not allowed.")
            },
            error: { context, line, message in
                let text = message.map { String(cString: $0) } ?? ""
                let sentence = text.split(separator: "\n").first.map { String($0.prefix(200)) }
                XMLTreeBuilder.of(context).fail(
                    .notXML, line: Int(line), sentence ?? "The text is no well-formed XML.")
            })
    }

    private static func of(_ context: UnsafeMutableRawPointer) -> XMLTreeBuilder {
        Unmanaged<XMLTreeBuilder>.fromOpaque(context).takeUnretainedValue()
    }
}

/// Bounds the attributes of start tags before they are parsed: libxml2 compares each attribute of an element with each
/// other one.
private enum StartTags {
    /// Throws at the first tag with too many attributes or bytes. Of text that is no well-formed XML it may see less than
    /// there is, but not before the parser stops.
    static func check(_ text: [UInt8], _ limits: InkMLLimits) throws(InkMLError) {
        var position = 0
        while let tag = text[position...].firstIndex(of: UInt8(ascii: "<")) {
            let rest = text[tag...]
            if let close = markup.first(where: { rest.starts(with: $0.open) })?.close {
                guard let end = firstIndex(of: close, in: text, from: tag + 2) else { return }
                position = end
                continue
            }
            var (quote, quotes) = (UInt8(0), 0)
            position = tag + 1
            while position < text.count, quote != 0 || text[position] != UInt8(ascii: ">") {
                let byte = text[position]
                if byte == UInt8(ascii: "<") { break }
                if quote == 0, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    (quote, quotes) = (byte, quotes + 1)
                } else if byte == quote {
                    quote = 0
                }
                guard quotes <= InkMLLimits.attributes, position - tag <= limits.attributeBytes else {
                    let line = 1 + text[..<tag].count { $0 == UInt8(ascii: "\n") }
                    throw InkMLError(
                        .tooLarge, line: line,
                        "An element has more than \(InkMLLimits.attributes) attributes, or \(limits.attributeBytes) bytes of them."
                    )
                }
                position += 1
            }
        }
    }

    /// What is no tag, with its end.
    private static let markup: [(open: [UInt8], close: [UInt8])] = [
        (Array("<!--".utf8), Array("-->".utf8)), (Array("<![CDATA[".utf8), Array("]]>".utf8)),
        (Array("<?".utf8), Array("?>".utf8)),
    ]

    private static func firstIndex(of pattern: [UInt8], in text: [UInt8], from start: Int) -> Int? {
        var position = start
        while let found = text[position...].firstIndex(of: pattern[0]) {
            if text[found...].starts(with: pattern) { return found }
            position = found + 1
        }
        return nil
    }
}

/// The encodings that a file may have.
private enum XMLEncoding {
    /// The text as UTF-8, without a byte-order mark.
    static func text(of bytes: [UInt8]) throws(InkMLError) -> [UInt8] {
        switch bytes.prefix(2) {
        case [0xff, 0xfe]: return try utf16(bytes.dropFirst(2), isLittleEndian: true)
        case [0xfe, 0xff]: return try utf16(bytes.dropFirst(2), isLittleEndian: false)
        case [UInt8(ascii: "<"), 0]: return try utf16(bytes[...], isLittleEndian: true)
        case [0, UInt8(ascii: "<")]: return try utf16(bytes[...], isLittleEndian: false)
        default: break
        }
        let bytes = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : bytes
        switch declaredEncoding(of: bytes) {
        case nil, "utf-8", "us-ascii", "ascii", "utf8":
            guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else {
                throw InkMLError(.notXML, line: 1, "The text is not in UTF-8.")
            }
            return bytes
        case "iso-8859-1", "latin1", "iso8859-1":
            guard !bytes.contains(0) else { throw InkMLError(.notXML, line: 1, "The text has a byte 0.") }
            return Array(String(decoding: bytes.lazy.map(UInt16.init), as: UTF16.self).utf8)
        case let name?:
            throw InkMLError(
                .notXML, line: 1, "The encoding \(name) is not read; UTF-8, UTF-16, ISO-8859-1 and ASCII are.")
        }
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isLittleEndian: Bool) throws(InkMLError) -> [UInt8] {
        let pairs = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).lazy
        let units = pairs.map { place in
            isLittleEndian
                ? UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
                : UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
        }
        guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self),
            !text.utf8.contains(0)
        else {
            throw InkMLError(.notXML, line: 1, "The text is not in UTF-16.")
        }
        return Array(text.utf8)
    }

    /// The encoding of the XML declaration in lower case; nil where there is none.
    private static func declaredEncoding(of bytes: [UInt8]) -> String? {
        guard bytes.starts(with: "<?xml".utf8) else { return nil }
        let declaration = String(decoding: bytes.prefix(256).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
        guard let name = declaration.firstRange(of: "encoding") else { return nil }
        let quoted = declaration[name.upperBound...].split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\"" || $0 == "'" })
        return quoted.count >= 2 ? quoted[1].prefix(32).lowercased() : nil
    }
}
