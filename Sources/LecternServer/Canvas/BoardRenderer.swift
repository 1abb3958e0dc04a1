import Raster
import StrokeWire
import Whiteboard

/// Draws the boards of rooms, and keeps what it drew as long as memory allows.
///
/// Safe from any thread; pictures are made one at a time. Bounded: rooms whose pictures were asked for longest ago
/// give their canvases back when all of them together hold more than the configured bytes.
final class BoardRenderer: Sendable {
    /// A room's life: what another life draws has other digests only by chance.
    struct Key: Hashable, Sendable {
        let room: RoomID
        let incarnation: String
    }

    private struct Painting {
        var painter: BoardPainter
        var lastUse: UInt64
    }

    private let painter: StrokeSource
    private let scale: Double
    private let byteLimit: Int
    private let paintings = Locked<(rooms: [Key: Painting], uses: UInt64)>(([:], 0))

    /// Pixels of a canvas at most, whatever size a client gives its board: 64 MiB when all of it is painted.
    private static let mostPixels = Double(1 << 24)

    init(_ configuration: ServerConfiguration) {
        painter = StrokeSource(configuration)
        scale = configuration.canvasScale
        byteLimit = configuration.canvasBytes
    }

    /// The PNG of a board, `width` pixels wide or as wide as its canvas.
    func png(of board: Board, _ key: Key, width: Int?) throws(RequestError) -> [UInt8] {
        PNGEncoder.encode(canvas(of: board, key), width: width, background: .white)
    }

    private func canvas(of board: Board, _ key: Key) -> Canvas {
        let layers = board.visible.map { BoardLayer(id: $0.stroke.index, digest: $0.digest.value) }
        return paintings.withLock { paintings in
            paintings.uses += 1
            var painting = paintings.rooms.removeValue(forKey: key) ?? blank(board.size)
            painting.lastUse = paintings.uses
            let canvas = painting.painter.canvas(of: layers) {
                painter.stroke(board.visible[$0].stroke, on: board.size)
            }
            paintings.rooms[key] = painting
            var bytes = paintings.rooms.values.reduce(0) { $0 + $1.painter.versionBytes }
            while bytes > byteLimit, paintings.rooms.count > 1,
                let oldest = paintings.rooms.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                bytes -= oldest.value.painter.versionBytes
                paintings.rooms[oldest.key] = nil
            }
            return canvas
        }
    }

    private func blank(_ size: BoardSize) -> Painting {
        let scale = min(scale, (Self.mostPixels / (size.width * size.height)).squareRoot())
        let painter = BoardPainter(
            width: Int((size.width * scale).rounded(.up)), height: Int((size.height * scale).rounded(.up)),
            scale: scale, versionBytes: byteLimit / 4)
        return Painting(painter: painter, lastUse: 0)
    }
}
