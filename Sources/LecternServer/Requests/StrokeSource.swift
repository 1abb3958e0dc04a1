import Ink
public import Scene
import StrokeWire
public import Whiteboard

/// Converts logged entries of a board to what the painters draw: points in board units, width, colour.
public struct StrokeSource: Sendable {
    private let decoder: EntryDecoder

    public init(_ configuration: ServerConfiguration) {
        decoder = EntryDecoder(
            style: configuration.style, tip: configuration.tip, colours: configuration.room.intake.wire.colours,
            palette: configuration.palette)
    }

    /// What an entry shows; nil where it cannot be decoded.
    public func content(_ entry: Stroke, on size: BoardSize) -> PageEntry.Content? {
        guard let (header, points) = entry.decoded() else { return nil }
        return decoder.content(header, points, scale: size.scale(for: header), longerSide: size.longerSide)
    }

    /// Where an image or a text lies, and what it shows; nil for any other entry.
    func image(_ entry: Stroke, on size: BoardSize) -> PlacedImage? {
        guard entry.kind == .image || entry.kind == .text, case .image(let image)? = content(entry, on: size) else {
            return nil
        }
        return image
    }

    /// Whether an entry removes what is below it.
    func isEraser(_ entry: Stroke) -> Bool {
        guard entry.kind == .stroke else { return false }
        return (try? StrokeMessage(decoding: entry.message.bytes, limits: .accepted))?.element == .eraser
    }

    /// The message of a stroke with its points, both in the board's units; nil where it cannot be decoded.
    func scaled(_ stroke: Stroke, on size: BoardSize) -> (header: StrokeMessage, points: [StrokePoint])? {
        guard case (var header, var points)? = stroke.decoded() else { return nil }
        let scale = size.scale(for: header)
        if scale.x != 1 || scale.y != 1 {
            for position in points.indices {
                points[position].x *= scale.x
                points[position].y *= scale.y
            }
        }
        header.width *= scale.width
        return (header, points)
    }

    /// `0xRRGGBB` of a message's colour.
    func rgb(_ value: UInt32) -> UInt32 { decoder.rgb(value) }
}

/// The visible strokes of a page as entries of a picture.
struct VisibleEntries: PageEntries {
    let strokes: [Stroke]
    let size: BoardSize
    let source: StrokeSource

    var count: Int { strokes.count }
    func id(_ place: Int) -> UInt64 { strokes[place].index }
    func isLasso(_ place: Int) -> Bool { strokes[place].kind == .lasso }
    func image(_ place: Int) -> PlacedImage? { source.image(strokes[place], on: size) }
    func content(_ place: Int) -> PageEntry.Content? { source.content(strokes[place], on: size) }
}
