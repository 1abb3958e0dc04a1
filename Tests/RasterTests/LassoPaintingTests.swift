import PathGeometry
import TestSupport
import Testing

@testable import Raster

/// Pages on which lassos have cut and moved what was there: layers of a list go, and their parts come.
@Suite struct `Painting a board with lassos` {
    /// A board of 10 × 6 tiles with an oval of ink in each.
    private static func board() -> PaintedBoard {
        var board = PaintedBoard()
        for row in 0..<6 {
            for column in 0..<10 {
                let path = Path(ellipse: Double(column * 64 + 12), Double(row * 64 + 12), width: 40, height: 40)
                board.add(.area(PaintedArea(path: path, colour: RGB(UInt32(row * 20 + column)), opacity: 0.8)))
            }
        }
        return board
    }

    @Test func `repaints the tiles of what was cut and of where it went, and nothing for undo and redo`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<10 {
            var board = Self.board()
            var painter = BoardPainter(width: 640, height: 384)
            let before = painter.canvas(of: board)
            let drawn = painter.layersDrawn
            #expect(before.tileCount == 60 && drawn == 60)
            let undone = board
            // Cuts some ovals of a row in two, and moves their lower halves down by two rows.
            let (row, first, count) = (random.int(0..<4), random.int(0..<6), random.int(1...4))
            let lasso = Path(
                rectangle: Double(first * 64), Double(row * 64 + 32), width: Double(count * 64), height: 32)
            board.apply(lasso, map: AffineMap(1, 0, 0, 1, 0, 128))
            let after = painter.canvas(of: board)
            #expect(after.unsharedByteCount(with: before) == 2 * count * Tile.byteCount, "seed \(random.seed)")
            // The upper halves, the ovals that were there, and the lower halves on them.
            #expect(painter.layersDrawn - drawn == 3 * count, "seed \(random.seed)")
            #expect(after.fingerprint == board.drawn(width: 640, height: 384).fingerprint, "seed \(random.seed)")
            let redone = board
            for (list, canvas) in [(undone, before), (redone, after), (undone, before), (redone, after)] {
                let version = painter.canvas(of: list)
                #expect(version.unsharedByteCount(with: canvas) == 0, "seed \(random.seed)")
            }
            #expect(painter.layersDrawn - drawn == 3 * count, "seed \(random.seed)")
            // Ink above the lasso is drawn alone.
            board.add(.stroke(PaintedBoard.dash(9, 5)))
            let inked = painter.canvas(of: board)
            #expect(painter.layersDrawn - drawn == 3 * count + 1, "seed \(random.seed)")
            #expect(inked.unsharedByteCount(with: after) == Tile.byteCount, "seed \(random.seed)")
        }
    }

    @Test(arguments: [0, 8 << 20])
    func `has the pixels of a painter that knows nothing, after any history, with any memory`(versionBytes: Int) {
        var random = SeededGenerator(seed: TestSeed.choose())
        var board = PaintedBoard()
        var history: [PaintedBoard] = []
        var painter = BoardPainter(width: 400, height: 300, versionBytes: versionBytes)
        for step in 1...60 {
            for _ in 0..<random.int(1...3) {
                history.append(board)
                switch random.int(0..<12) {
                case 0..<5: board.add(.stroke(PaintedBoard.randomStroke(&random)))
                case 5: board.add(PaintedBoard.randomImage(&random))
                case 6, 7:
                    board.add(
                        .area(
                            PaintedArea(
                                path: RandomArea.path(using: &random), colour: RGB(UInt32(random.int(0...0xFF_FFFF))),
                                opacity: 0.6)))
                case 8, 9:
                    let points = (0..<random.int(3...8)).map { _ in
                        Point(Double.random(in: 0...400, using: &random), Double.random(in: 0...300, using: &random))
                    }
                    let (dx, dy) = (
                        Double.random(in: -80...80, using: &random), Double.random(in: -80...80, using: &random)
                    )
                    board.apply(Path(polygon: points), map: AffineMap(0.9, 0.2, -0.2, 0.9, dx, dy))
                case 10:
                    if let place = board.visible.indices.randomElement(using: &random) {
                        board.visible.remove(at: place)
                    }
                default: if let last = history.randomElement(using: &random) { board = board.turnedBack(to: last) }
                }
            }
            let (canvas, anew) = (painter.canvas(of: board), board.drawn(width: 400, height: 300))
            #expect(canvas.fingerprint == anew.fingerprint, "seed \(random.seed), step \(step)")
        }
    }
}

extension PaintedBoard {
    /// The list of an earlier state; ids stay used.
    fileprivate func turnedBack(to other: PaintedBoard) -> PaintedBoard {
        var board = self
        board.visible = other.visible
        return board
    }

    /// Cuts areas and images, and moves what is inside of the lasso on top.
    fileprivate mutating func apply(_ lasso: Path, map: AffineMap) {
        let cutter = PathCutter(lasso)
        var moved: [LayerContent] = []
        for (place, id) in visible.enumerated().reversed() {
            guard let content = contents[id] else { continue }
            let parts: (inside: LayerContent, outside: LayerContent)
            switch content {
            case .stroke: continue
            case .area(let area):
                let cut = cutter.cut(area.path)
                guard !cut.inside.isEmpty else { continue }
                parts = (
                    .area(
                        PaintedArea(
                            path: cut.inside.transformed(by: map), colour: area.colour, opacity: area.opacity)),
                    .area(PaintedArea(path: cut.outside, colour: area.colour, opacity: area.opacity))
                )
            case .image(let image):
                let cut = cutter.cut(image.clip ?? image.outline)
                guard !cut.inside.isEmpty else { continue }
                parts = (
                    .image(
                        PaintedImage(
                            pixels: image.pixels, map: image.map.followed(by: map),
                            clip: cut.inside.transformed(by: map))),
                    .image(PaintedImage(pixels: image.pixels, map: image.map, clip: cut.outside))
                )
            }
            replace(place, by: parts.outside)
            moved.insert(parts.inside, at: 0)
        }
        for content in moved { add(content) }
    }

    fileprivate static func randomImage(_ random: inout SeededGenerator) -> LayerContent {
        func number() -> Double { Double.random(in: -1.5...1.5, using: &random) }
        let pixels = RandomImage.smooth(width: random.int(1...200), height: random.int(1...200), using: &random)
        return .image(
            PaintedImage(
                pixels: pixels,
                map: AffineMap(
                    number(), number(), number(), number(), Double.random(in: 0...400, using: &random),
                    Double.random(in: 0...300, using: &random))))
    }
}
