import Raster
import StrokeWire
import Whiteboard

/// Draws and encodes the boards of rooms, and keeps what it made as long as memory allows.
///
/// Safe from any thread; pictures are made one at a time. Bounded: where all rooms together hold more than the given
/// bytes, those whose pictures were asked for longest ago give their canvases back; one room alone may keep as much as
/// its board's pixels take. What was given back is drawn anew, to the same pixels.
final class BoardRenderer: Sendable {
    /// Nobody wants the picture any more.
    struct Abandoned: Error {}

    private struct Painting {
        var painter: BoardPainter
        let size: BoardSize
        var lastUse: Instant
    }

    private struct State {
        var paintings: [PictureSubject.RoomLife: Painting] = [:]
        var files: PictureFiles

        var canvasBytes: Int { paintings.values.reduce(0) { $0 + $1.painter.byteCount } }
    }

    private let strokes: StrokeSource
    private let scale: Double
    private let canvasBytes: Int
    private let state: Locked<State>

    /// Pixels of a canvas at most, whatever size a client gives its board: 64 MiB when all of it is painted.
    private static let mostPixels = Double(1 << 24)

    /// - Parameter byteLimit: of canvases and of encoded pictures, of all rooms; an eighth is for the latter.
    init(_ configuration: ServerConfiguration, byteLimit: Int) {
        strokes = StrokeSource(configuration)
        scale = configuration.canvasScale
        canvasBytes = byteLimit / 8 * 7
        state = Locked(State(files: PictureFiles(byteLimit: byteLimit / 8)))
    }

    /// Bytes that are kept, about: canvases and encoded pictures.
    var byteCount: Int { state.withLock { $0.canvasBytes + $0.files.byteCount } }

    /// Whether nothing is kept.
    var isEmpty: Bool { state.withLock { $0.paintings.isEmpty && $0.files.isEmpty } }

    /// How many strokes were drawn for the canvases that are kept.
    var strokesDrawn: Int { state.withLock { $0.paintings.values.reduce(0) { $0 + $1.painter.strokesDrawn } } }

    /// The PNG of a board.
    ///
    /// - Parameter isWanted: asked before every stroke that has to be drawn. What was drawn until it says no is kept.
    func png(
        of board: Board, _ subject: PictureSubject, at now: Instant, while isWanted: () -> Bool = { true }
    ) throws(Abandoned) -> [UInt8] {
        let size = canvasSize(board.size)
        let name = PictureFiles.Name(
            room: subject.room, digest: board.digest, pixels: SIMD2(size.width, size.height), width: subject.width)
        if let file = state.withLock({ $0.files.file(name, at: now) }) { return file }
        let canvas = try canvas(of: board, subject.room, at: now, while: isWanted)
        let file = PNGEncoder.encode(canvas, width: subject.width, background: .white)
        state.withLock { $0.files.keep(file, name, at: now) }
        return file
    }

    /// Gives back what nobody asked for since `instant`.
    func giveBack(unusedSince instant: Instant) {
        state.withLock { state in
            state.paintings = state.paintings.filter { $0.value.lastUse >= instant }
            state.files.giveBack(unusedSince: instant)
        }
    }

    private func canvas(
        of board: Board, _ room: PictureSubject.RoomLife, at now: Instant, while isWanted: () -> Bool
    ) throws(Abandoned) -> Canvas {
        let layers = board.visible.map { BoardLayer(id: $0.stroke.index, digest: $0.digest.value) }
        // Also before the first stroke of a room, when its size may not be known yet.
        guard !layers.isEmpty else {
            let size = canvasSize(board.size)
            return Canvas(width: size.width, height: size.height)
        }
        // Out of the table while it is worked with, so that nothing is copied.
        var painting = state.withLock { $0.paintings.removeValue(forKey: room) } ?? blank(board.size, at: now)
        if painting.size != board.size { painting = blank(board.size, at: now) }
        painting.lastUse = now
        defer { keep(painting, of: room) }
        return try painting.painter.canvas(of: layers) { (place) throws(Abandoned) in
            guard isWanted() else { throw Abandoned() }
            return strokes.stroke(board.visible[place].stroke, on: board.size)
        }
    }

    private func keep(_ painting: Painting, of room: PictureSubject.RoomLife) {
        state.withLock { state in
            state.paintings[room] = painting
            while state.canvasBytes > canvasBytes, state.paintings.count > 1,
                let oldest = state.paintings.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.paintings[oldest.key] = nil
            }
        }
    }

    private func blank(_ size: BoardSize, at now: Instant) -> Painting {
        let (width, height, scale) = canvasSize(size)
        let painter = BoardPainter(width: width, height: height, scale: scale, versionBytes: canvasBytes / 4)
        return Painting(painter: painter, size: size, lastUse: now)
    }

    private func canvasSize(_ size: BoardSize) -> (width: Int, height: Int, scale: Double) {
        let scale = min(scale, (Self.mostPixels / (size.width * size.height)).squareRoot())
        return (Int((size.width * scale).rounded(.up)), Int((size.height * scale).rounded(.up)), scale)
    }
}
