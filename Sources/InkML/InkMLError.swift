/// Why a file was not read: nothing of it is used.
public struct InkMLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, as a fixed word for programs.
    public enum Code: String, Sendable, CaseIterable {
        /// The text is no well-formed XML 1.0, or in an encoding other than UTF-8, UTF-16, ISO-8859-1 and ASCII.
        case notXML = "not-xml"
        /// The text has a document type declaration, which InkML does not need and which could define entities.
        case doctype
        /// The root is no `ink` element of InkML.
        case notInkML = "not-inkml"
        /// More bytes, elements, levels, attributes, traces or points than the limits allow.
        case tooLarge = "too-large"
        /// A reference to another document. Nothing outside of the file is ever read.
        case externalReference = "external-reference"
        /// A reference to an element that the file does not have.
        case unknownReference = "unknown-reference"
        /// Elements that inherit from each other in a circle, or over more than 16 levels.
        case circularReference = "circular-reference"
        /// An attribute is missing, or its value has no meaning.
        case badAttribute = "bad-attribute"
        /// The text of a trace breaks its syntax or its format.
        case badTrace = "bad-trace"
        /// A format without X or Y.
        case missingChannel = "missing-channel"
        /// A part of InkML that changes where ink lies, and that is not supported.
        case unsupported
        /// Something that is passed over where reading is not strict.
        case passedOver = "passed-over"
    }

    public let code: Code
    /// Number of the line, from 1.
    public let line: Int
    /// One English sentence for a person.
    public let message: String

    public init(_ code: Code, line: Int, _ message: String) {
        (self.code, self.line, self.message) = (code, line, message)
    }

    /// One line of text.
    public var description: String { "line \(line): \(code.rawValue): \(message)" }
}

/// What was passed over in a file that was read.
public struct InkMLNote: Sendable, Hashable, CustomStringConvertible {
    /// The part of the file that was not used, as a fixed word for programs.
    public enum Code: String, Sendable, CaseIterable {
        /// A channel's resolution is 0, as Microsoft Office writes it.
        case unknownResolution = "unknown-resolution"
        /// The width of a brush has units of no length.
        case unknownUnits = "unknown-units"
        /// A tip that is not round.
        case brushShape = "brush-shape"
    }

    public let code: Code
    /// Number of the line where it was met first, from 1.
    public let line: Int
    /// One English sentence for a person.
    public let message: String

    /// One line of text.
    public var description: String { "line \(line): \(code.rawValue): \(message)" }
}

/// Bounds of a file that is read; beyond them it is `too-large`.
///
/// Reading takes at most eight times the bytes of the file, 256 bytes an element and 64 bytes a point.
public struct InkMLLimits: Sendable, Equatable {
    /// Bytes of the file.
    public var bytes: Int
    /// XML elements.
    public var elements: Int
    /// Levels of elements.
    public var depth: Int
    /// Bytes of one start tag.
    public var attributeBytes: Int
    /// Points of one stroke.
    public var strokePoints: Int
    /// Points of all traces.
    public var points: Int

    public init(
        bytes: Int = 64 << 20, elements: Int = 500_000, depth: Int = 32, attributeBytes: Int = 65_536,
        strokePoints: Int = 100_000, points: Int = 4_000_000
    ) {
        (self.bytes, self.elements, self.depth) = (bytes, elements, depth)
        (self.attributeBytes, self.strokePoints, self.points) = (attributeBytes, strokePoints, points)
    }

    /// Bytes of text and attributes that are looked at, each time that they are, with as many for each element as take its time:
    /// some seconds. What is looked at once is well below.
    var work: Int { 2 * bytes + 1024 * elements }

    /// Levels over which contexts, brushes and times inherit.
    static let references = 16
    /// Attributes of an element, and namespaces declared around it.
    static let attributes = 64
    /// Channels of a format.
    static let channels = 64
}
