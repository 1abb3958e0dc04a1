import Assets
import Foundation
import Ink
import InkML
import LecternClient
import StrokeWire

/// A file that `lectern import` brings into a room and `lectern render` draws, told by its first bytes.
enum ImportFile {
    case ink(InkDocument)
    /// A PDF or a picture, whose pages become pages of the room.
    case slides(AssetFormat, bytes: [UInt8])

    /// Bytes of a file at most.
    private static let byteLimit = max(InkMLLimits().bytes, AssetLimits.bytes)
    /// So many bytes tell what a file is.
    static let headBytes = 1024

    /// Reads a file, or standard input for `-`.
    ///
    /// - Parameter isStrict: whether ink that a board cannot show as it is, is an error.
    init(path: String, isStrict: Bool = false) throws(ImportFileError) {
        try self.init(Self.contents(of: path), path: path, isStrict: isStrict)
    }

    /// - Parameters:
    ///   - bytes: of the whole file.
    ///   - path: for messages.
    ///   - isStrict: as above.
    init(_ bytes: [UInt8], path: String, isStrict: Bool = false) throws(ImportFileError) {
        if let format = AssetFormat(bytes) {
            guard bytes.count <= AssetLimits.bytes else { throw ImportFileError(path: path, limit: AssetLimits.bytes) }
            self = .slides(format, bytes: bytes)
            return
        }
        guard Self.isXML(bytes) else {
            throw ImportFileError(path: path, why: "unknown-format: it is none of InkML, PDF, PNG, JPEG, WebP and HEIC")
        }
        let document: InkDocument
        do throws(InkMLError) {
            document = try InkDocument(inkML: bytes, isStrict: isStrict)
        } catch {
            // `lectern export` writes SVG, which nobody reads back.
            let hint = error.message.contains("<svg>") ? " Pictures come in as PDF or PNG, ink as InkML." : ""
            throw ImportFileError(path: path, why: error.description + hint)
        }
        guard !document.strokes.isEmpty else { throw ImportFileError(path: path, why: "there is no ink in it") }
        self = .ink(document)
    }

    /// Whether a file is to be read as one of these.
    /// - Parameter head: its first ``headBytes``.
    static func begins(with head: [UInt8]) -> Bool { AssetFormat(head) != nil || isXML(head) }

    /// XML 1.0 without the encodings that InkML is not read in: a tag begins it, after a byte order mark and blanks.
    private static func isXML(_ bytes: [UInt8]) -> Bool {
        let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]]
        let mark = marks.first { bytes.starts(with: $0) } ?? []
        // UTF-16 has a zero byte beside each of these.
        let blanks = Set(" \t\r\n\0".utf8)
        return bytes.dropFirst(mark.count).first { !blanks.contains($0) } == UInt8(ascii: "<")
    }

    /// Reads a file, or standard input for `-`.
    static func contents(of path: String) throws(ImportFileError) -> [UInt8] {
        do {
            let handle =
                path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            var bytes: [UInt8] = []
            // One byte more tells a file that is too large from one that is just not.
            while bytes.count <= byteLimit, let part = try handle.read(upToCount: byteLimit + 1 - bytes.count),
                !part.isEmpty
            {
                bytes += part
            }
            guard bytes.count <= byteLimit else { throw ImportFileError(path: path, limit: byteLimit) }
            return bytes
        } catch let error as ImportFileError {
            throw error
        } catch {
            throw ImportFileError(path: path, why: "cannot be read: \(SystemError.message(of: error))")
        }
    }
}

extension InkDocument {
    /// What is in it, for a person.
    var summary: String { "\(strokes.count) strokes, \(strokes.reduce(0) { $0 + $1.points.count }) points" }

    /// What of it a board does not show as the file has it, one line each, for a person.
    /// - Parameter hasPens: whether the room has highlighters.
    func remarks(hasPens: Bool) -> [String] {
        notes.map(\.description) + (hasHighlighters && !hasPens ? [Self.highlighterNote] : [])
    }

    var hasHighlighters: Bool { strokes.contains(where: \.isHighlighter) }

    static let highlighterNote = """
        The room has no transparent ink; highlighters lie below the other ink of an empty room, and are underlines in others.
        """

    /// The operations that bring it to a board, numbered from 1. A file of one page goes onto the page that is shown; of
    /// several, each goes onto the page of its number.
    ///
    /// Highlighters hide nothing. Where a room has none, on an empty board they are drawn first of their page, at the time of its first stroke;
    /// on others, where ink and images of any place may lie below, as lines along their lower edge.
    ///
    /// - Parameters:
    ///   - board: its size.
    ///   - isEmpty: whether nothing is on it.
    ///   - hasPens: whether it has highlighters.
    ///   - palette: the colours of the room; nil where messages have colours.
    ///   - time: of the first stroke that has one; nil for operations without a time.
    func messages(
        for board: Size, isEmpty: Bool, hasPens: Bool, palette: Palette?, from time: Int64?
    ) -> [(bytes: [UInt8], header: StrokeMessage)] {
        let fitted = fitted(to: board)
        var times = StrokeTimes(fitted.strokes, from: time)
        var messages: [(bytes: [UInt8], header: StrokeMessage)] = []
        var number: Int64 = 0
        var spare = InkMLLimits().points
        for page in fitted.pages {
            let timed = page.strokes.map { stroke in
                var stroke = stroke
                stroke.time = times.next(stroke.time)
                return stroke
            }
            for stroke in Self.arranged(timed, isEmpty: isEmpty, hasPens: hasPens) {
                number += 1
                let colour = palette?.nearest(to: stroke.colour) ?? stroke.colour
                let header = StrokeMessage(
                    number: number, colour: colour, width: stroke.width ?? 1, element: stroke.element,
                    time: stroke.time, boardWidth: board.width, boardHeight: board.height,
                    page: fitted.pages.count > 1 ? page.number : nil)
                let points = stroke.boardPoints(atMost: min(InkMLLimits().strokePoints, stroke.points.count + spare))
                spare -= points.count - stroke.points.count
                messages += header.messages(interior: PointEncoder.interior(of: points))
            }
        }
        return messages
    }
}

extension InkDocument {
    /// The strokes of a page in the order in which they are drawn.
    private static func arranged(_ strokes: [Stroke], isEmpty: Bool, hasPens: Bool) -> [Stroke] {
        guard !hasPens else {
            return strokes.map { stroke in
                var stroke = stroke
                if stroke.isHighlighter, stroke.element == .freehand { stroke.element = .highlighter }
                return stroke
            }
        }
        guard isEmpty else { return strokes.map { $0.isHighlighter ? $0.underline : $0 } }
        let first = strokes.compactMap(\.time).min()
        let highlighters = strokes.filter(\.isHighlighter).map { highlighter in
            var highlighter = highlighter
            highlighter.time = first
            return highlighter
        }
        return highlighters + strokes.filter { !$0.isHighlighter }
    }
}

extension InkDocument.Stroke {
    fileprivate var isHighlighter: Bool { transparency > 0 && element != .eraser }

    /// The points of its message. Files show strokes as the lines between their points, which boards round off. Ink of a
    /// board, which has an index, was drawn by the board's own rules.
    fileprivate func boardPoints(atMost limit: Int) -> [StrokePoint] {
        guard index == nil, [.freehand, .highlighter, .eraser].contains(element) else { return points }
        return PolylineRefiner.refined(points, width: width ?? 1, limit: limit)
    }

    /// A thin line along its lower edge.
    fileprivate var underline: Self {
        var line = self
        let wide = width ?? 1
        line.width = wide / 8
        for place in line.points.indices { line.points[place].y = min(line.points[place].y + wide / 2, 65536) }
        return line
    }
}

/// Why a file is not imported.
struct ImportFileError: Error, CustomStringConvertible {
    let path: String
    let why: String

    var description: String { "\(path): \(why)" }
}

extension ImportFileError {
    /// - Parameter limit: bytes of a file at most.
    init(path: String, limit: Int) {
        self.init(path: path, why: "is larger than \(limit >> 20) MiB")
    }
}

/// Moves the times of strokes to another beginning.
private struct StrokeTimes {
    private let origin: Int64?
    private let first: Int64
    private var last: Int64?

    init(_ strokes: [InkDocument.Stroke], from origin: Int64?) {
        self.origin = origin
        first = strokes.lazy.compactMap(\.time).min() ?? 0
        last = origin
    }

    /// The time of the next stroke: one without a time of its own has that of the stroke before it.
    mutating func next(_ time: Int64?) -> Int64? {
        guard let origin else { return nil }
        if let time {
            let (distance, isFar) = time.subtractingReportingOverflow(first)
            let (moved, isBeyond) = origin.addingReportingOverflow(distance)
            if !isFar, !isBeyond { last = moved }
        }
        return last
    }
}

extension Palette {
    /// The index of the colour that looks most alike, by a distance weighted for the eye (Riemersma, "Colour metric").
    func nearest(to colour: UInt32) -> UInt32 {
        func channels(_ colour: UInt32) -> SIMD3<Double> {
            SIMD3(Double(colour >> 16 & 0xff), Double(colour >> 8 & 0xff), Double(colour & 0xff))
        }
        let wanted = channels(colour)
        func distance(_ other: UInt32) -> Double {
            let other = channels(other)
            let red = (wanted.x + other.x) / 2
            let difference = (wanted - other) * (wanted - other)
            return (SIMD3(2 + red / 256, 4, 2 + (255 - red) / 256) * difference).sum()
        }
        return UInt32(colours.indices.min { distance(colours[$0]) < distance(colours[$1]) } ?? 0)
    }
}
