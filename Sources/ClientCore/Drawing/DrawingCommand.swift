public import StrokeWire

/// An operation of a teacher other than a pen stroke, such as undo, an image, a lasso or a page turn. Undo, redo and
/// clear concern the page that is seen.
public enum DrawingCommand: Sendable, Equatable {
    case undo
    case redo
    case clear
    /// Shows a page, 0 … 999, to all; one that was never seen before comes last.
    case turn(Int)
    /// Sets the order of the pages; those left out are out of sight, with their ink.
    case arrange([Int])
    /// Lays a paper, in board units, under a page; nil for the one that is seen.
    case paper(Paper.Kind, page: Int?)
    /// Lays a page of an asset as the paper into a box, in board units, under the page that is seen.
    case slide(ImageSource, x: Double, y: Double, width: Double, height: Double)
    /// Takes entries of the page that is seen off the board, by their indices: 1 … 256, different from each other.
    case remove([UInt64])
    /// Puts a page of an asset into a box, in board units, on the page that is seen.
    case image(ImageSource, x: Double, y: Double, width: Double, height: Double)
    /// Puts a text, as ``BoardText`` allows it, into a box on the page that is seen; all lengths are board units, that of a line's
    /// height is one of ``BoardText/lineHeights``.
    case text(
        String, colour: UInt32, lineHeight: Double, x: Double, y: Double, width: Double, height: Double)
    /// Moves, copies or cuts away what is inside of a path of 3 to 1,024 corners on a page, nil for the one that is seen.
    case lasso([StrokePoint], LassoMap?, keepsOriginal: Bool, page: Int?)

    /// The message that carries it out, without its number, and its points.
    /// - Parameters:
    ///   - pages: those of the board.
    ///   - size: the board's, in its units.
    ///   - time: the media time in milliseconds.
    /// - Returns: nil for a turn and an arrange that change nothing.
    func message(
        on pages: BoardPages, _ size: (width: Double, height: Double), time: Int64?
    ) -> (header: StrokeMessage, points: [StrokePoint])? {
        var header = StrokeMessage(number: 0, time: time, page: pages.shown)
        var points: [StrokePoint] = []
        switch self {
        case .undo: header.action = .undo
        case .redo: header.action = .redo
        case .clear: header.action = .clear
        case .turn(let page):
            guard page != pages.shown else { return nil }
            (header.action, header.page) = (.turn, page)
        case .arrange(let order):
            guard order != pages.order else { return nil }
            (header.action, header.page, header.content) = (.arrange, nil, .order(order))
        case .paper(let kind, let page):
            let paper = Paper(kind, boardWidth: size.width, boardHeight: size.height)
            header.page = page ?? pages.shown
            (header.action, header.content) = (.paper, .paper(paper))
        case .slide(let source, let x, let y, let width, let height):
            let slide = Paper.Slide(
                source.asset, page: source.page,
                from: SIMD2(x.rounded(parts: 100), y.rounded(parts: 100)),
                to: SIMD2((x + width).rounded(parts: 100), (y + height).rounded(parts: 100)))
            let paper = Paper(.slide(slide), boardWidth: size.width, boardHeight: size.height)
            (header.action, header.content) = (.paper, .paper(paper))
        case .remove(let indices): (header.action, header.content) = (.remove, .indices(indices))
        case .image(let source, let x, let y, let width, let height):
            header.element = .image
            header.content = .image(source.asset, page: source.page)
            points = [StrokePoint(x: x, y: y), StrokePoint(x: x + width, y: y + height)]
        case .text(let text, let colour, let lineHeight, let x, let y, let width, let height):
            (header.element, header.colour, header.width) = (.text, colour, lineHeight)
            header.content = .text(text)
            points = [StrokePoint(x: x, y: y), StrokePoint(x: x + width, y: y + height)]
        case .lasso(let path, let map, let keepsOriginal, let page):
            header.element = .lasso
            header.page = page ?? pages.shown
            header.content = .lasso(map?.onGrid, keepsOriginal: keepsOriginal)
            points = path
        }
        if header.action == .draw || header.action == .paper { (header.boardWidth, header.boardHeight) = size }
        return (header, points.map { $0.onGrid })
    }
}

extension StrokePoint {
    /// With few digits.
    fileprivate var onGrid: StrokePoint {
        StrokePoint(
            x: x.rounded(parts: 100), y: y.rounded(parts: 100), force: force, altitude: altitude, azimuth: azimuth,
            milliseconds: milliseconds)
    }
}

extension LassoMap {
    /// With few digits, in the bounds of a message.
    fileprivate var onGrid: LassoMap {
        func bounded(_ number: Double) -> Double { min(max(number.rounded(parts: 1e6), -Self.bound), Self.bound) }
        return LassoMap(a: bounded(a), b: bounded(b), c: bounded(c), d: bounded(d), e: bounded(e), f: bounded(f))
    }
}
