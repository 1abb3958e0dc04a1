import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The elements of an SVG document in their order, each with the names of those around it.
final class SVGReader: NSObject, XMLParserDelegate {
    struct Element {
        var name: String
        var attributes: [String: String]
        var around: [String]
    }

    private(set) var elements: [Element] = []
    private var open: [String] = []

    /// Throws what the parser says of a document that is not well formed.
    static func elements(of document: [UInt8]) throws -> [Element] {
        let reader = SVGReader()
        let parser = XMLParser(data: Data(document))
        parser.delegate = reader
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
        return reader.elements
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements.append(Element(name: name, attributes: attributes, around: open))
        open.append(name)
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        open.removeLast()
    }
}
