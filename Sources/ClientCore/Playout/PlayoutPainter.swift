internal import Ink
public import Scene
public import StrokeWire
import Whiteboard

/// What a ``PlayoutPainter`` shows: a board, what of it the player has not reached, and strokes that grow above it.
public protocol PlayedBoard {
    var board: StudentBoard { get }
    /// The ink style's name; nil while it is not known.
    var style: String? { get }
    var palette: Palette { get }
    /// What the service offers, and whether messages have colours.
    var features: BoardFeatures { get }
    var wetInk: WetInk { get }
    var pointers: [PointerSight] { get }
    /// Indices of strokes of the board that are not shown.
    var veiled: Set<UInt64> { get }
}

extension BoardPlayout: PlayedBoard {}
extension LessonPlayout: PlayedBoard {}

/// Shows a page of a ``BoardPlayout`` or a ``LessonPlayout`` on a ``Picture``: the one that the room shows, or another one.
///
/// Nothing of a stroke is copied for it but the points of those being drawn. Playouts are `inout` for the same reason: none is
/// changed.
public struct PlayoutPainter {
    /// The page that is drawn where it is not the shown one.
    public private(set) var viewed: Int?
    /// The width of the canvas in pixels; 0 while it is not seen.
    private var pixels = 0
    /// The page that the picture has; nil before the first.
    private var drawn: Int?
    /// What the caller shows itself above the board.
    private var own: [Picture.Entry] = []

    public init() {}

    /// The page that is drawn.
    public func page(of playout: some PlayedBoard) -> Int { viewed ?? playout.board.pages.shown }

    /// Draws what actions of the playout have changed.
    /// - Returns: whether all of the page is drawn anew.
    public mutating func perform(
        _ actions: [PlayoutAction], of playout: inout some PlayedBoard, on picture: Picture
    ) -> Bool {
        let page = page(of: playout)
        var isNew = page != drawn
        var hasOtherInk = false
        for action in actions {
            switch action {
            case .joined: isNew = true
            case .applied(_, let change, _) where change.isResized: isNew = true
            case .wetInkChanged: hasOtherInk = true
            default: break
            }
        }
        if isNew { return show(&playout, on: picture) }
        for action in actions {
            switch action {
            case .applied(_, let change, _) where change.page == page:
                if change.paper != nil { picture.lay(playout.board.paper(of: page)) }
                for stroke in change.hidden { picture.remove(stroke.index) }
                for stroke in change.shown { picture.insert(Picture.Entry(stroke)) }
            case .unveiled(let stroke) where stroke.page == page: picture.insert(Picture.Entry(stroke))
            default: break
            }
        }
        if hasOtherInk { showAbove(&playout, on: picture) }
        return false
    }

    /// Draws a page, whichever is shown; nil for the shown one again.
    /// - Returns: whether it is another one than before.
    public mutating func view(_ page: Int?, of playout: inout some PlayedBoard, on picture: Picture) -> Bool {
        viewed = page
        return self.page(of: playout) != drawn && show(&playout, on: picture)
    }

    /// Draws so many pixels across.
    public mutating func resize(_ pixels: Int, of playout: inout some PlayedBoard, on picture: Picture) -> Bool {
        self.pixels = pixels
        return show(&playout, on: picture)
    }

    /// Shows entries above the board, bottom to top; one that changes has another id. Lassos take what is below them; strokes
    /// being drawn lie above lassos and below the rest.
    public mutating func showOwn(_ entries: [Picture.Entry], of playout: inout some PlayedBoard, on picture: Picture) {
        own = entries
        showAbove(&playout, on: picture)
    }

    private mutating func show(_ playout: inout some PlayedBoard, on picture: Picture) -> Bool {
        guard pixels > 0 else { return false }
        let page = page(of: playout)
        drawn = page
        let board = playout.board
        var entries: [Picture.Entry] = []
        let strokes = board.visible(on: page)
        entries.reserveCapacity(strokes.count)
        for stroke in strokes where !playout.veiled.contains(stroke.index) { entries.append(Picture.Entry(stroke)) }
        // What is wet no longer must not be on the new picture.
        showAbove(&playout, on: picture)
        picture.lay(board.paper(of: page))
        picture.show(
            entries, width: board.size.width, height: board.size.height, pixels: pixels,
            decoder: EntryDecoder(
                named: (playout.style ?? "smooth").utf8,
                palette: playout.features.contains(.rgbColours) ? nil : playout.palette))
        return true
    }

    private func showAbove(_ playout: inout some PlayedBoard, on picture: Picture) {
        let page = page(of: playout)
        var wet: [Picture.Entry] = []
        for stroke in playout.wetInk.strokes where stroke.page == page {
            guard let drawn = stroke.drawnAs else { continue }
            wet.append(
                picture.liveEntry(drawn.id)
                    ?? Picture.Entry(id: drawn.id, points: Array(stroke.points), style: stroke.style))
        }
        let lassos = own.lastIndex { $0.isLasso }.map { $0 + 1 } ?? 0
        picture.showLive(own[..<lassos] + wet + own[lassos...])
    }
}

extension StudentBoard {
    /// What lies under the ink of a page.
    public func paper(of page: Int) -> PagePaper? {
        PagePaper(pages.paper(of: page), width: size.width, height: size.height)
    }
}

extension EntryDecoder {
    /// Of a board as a reply to a join tells of it.
    /// - Parameter style: the ink style's name; smooth ink for one that is not known.
    public init(named style: some Sequence<UInt8>, palette: Palette?) {
        var (ink, inkTip) = (InkStyle.smooth, InkTip.round)
        for known in InkStyle.allCases {
            for tip in InkTip.allCases where style.elementsEqual(known.name(tip: tip).utf8) {
                (ink, inkTip) = (known, tip)
            }
        }
        self.init(
            style: ink, tip: inkTip, colours: palette.map { .palette(count: $0.colours.count) } ?? .rgb,
            palette: palette ?? .standard)
    }
}
