public import PathGeometry

/// The pixels of an image: a value, whose copies share them.
public struct ImagePixels: Sendable, Equatable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// Rows from the top; of each pixel red, green and blue, times alpha, and alpha.
    public let bytes: [UInt8]

    /// `nil` unless there is a pixel, and four bytes for each.
    public init?(width: Int, height: Int, bytes: [UInt8]) {
        let (count, isTooMuch) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !isTooMuch, bytes.count % 4 == 0, bytes.count / 4 == count else { return nil }
        self.width = width
        self.height = height
        self.bytes = bytes
    }
}

/// An image on the board.
public struct PaintedImage: Sendable, Equatable {
    /// The pixels.
    public var pixels: ImagePixels
    /// Where the image lies: from its pixels, x to the right and y down, the upper left corner of the first one at 0, to
    /// board units. One that cannot be inverted, or with numbers that are not finite, shows nothing.
    public var map: AffineMap
    /// What is seen of it, in board units, filled by the nonzero rule; all of it without.
    public var clip: Path?

    /// Makes an image on the board.
    public init(pixels: ImagePixels, map: AffineMap, clip: Path? = nil) {
        self.pixels = pixels
        self.map = map
        self.clip = clip
    }

    /// The corners of the image in board units, in order.
    var outline: Path {
        let (width, height) = (Double(pixels.width), Double(pixels.height))
        return Path(polygon: [Point(0, 0), Point(width, 0), Point(width, height), Point(0, height)].map { map($0) })
    }
}

/// What is drawn in the place of an image that is not there: a thin frame with its two diagonals.
public enum EmptyFrame {
    /// The width of its lines in board units, wherever it is moved.
    public static let lineWidth = 1.5
    /// The colour of its lines.
    public static let colour = RGB(0xB0B0B0)

    /// The lines of the frame as an area, to be filled by the nonzero rule; empty where the map cannot be inverted.
    ///
    /// They lie inside the moved rectangle; one too small for them is filled.
    ///
    /// - Parameters:
    ///   - rectangle: the place of the image before the move, in board units.
    ///   - map: how it is moved.
    ///   - clip: what is seen of it, after the move; all of it without.
    public static func path(around rectangle: Box, map: AffineMap = .identity, clip: Path? = nil) -> Path {
        guard !rectangle.isEmpty else { return Path() }
        let origin = map(rectangle.lower)
        var right = map(Point(rectangle.upper.x, rectangle.lower.y)) - origin
        var down = map(Point(rectangle.lower.x, rectangle.upper.y)) - origin
        var size = right.x * down.y - right.y * down.x
        if size < 0 {
            (right, down) = (down, right)
            size = -size
        }
        guard size > 0, size.isFinite else { return Path() }
        func corner(_ x: Double, _ y: Double) -> Point { origin + right * x + down * y }
        let outer = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]
        // The parts of the sides that the lines along the other sides take.
        let x = lineWidth * (down * down).sum().squareRoot() / size
        let y = lineWidth * (right * right).sum().squareRoot() / size
        guard x < 0.5, y < 0.5 else { return clipped(Path(polygon: outer), clip) }
        let inner = [corner(x, y), corner(1 - x, y), corner(1 - x, 1 - y), corner(x, 1 - y)]
        var frame = Path(polygon: outer)
        frame.contours += Path(polygon: inner.reversed()).contours
        for (from, to) in [(inner[0], inner[2]), (inner[1], inner[3])] {
            let way = to - from
            let aside = Point(-way.y, way.x) * (lineWidth / 2 / (way * way).sum().squareRoot())
            frame.contours += Path(polygon: [from - aside, to - aside, to + aside, from + aside]).contours
        }
        return clipped(frame, clip)
    }

    /// Cuts what is seen by the frame, not the frame by it: lassos may have made it of a million segments.
    private static func clipped(_ frame: Path, _ clip: Path?) -> Path {
        guard let clip else { return frame }
        var budget = CuttingBudget(steps: stepsOfClip)
        guard let cutter = try? PathCutter(frame, fillRule: .nonzero, within: &budget),
            let parts = try? cutter.cut(clip, within: &budget)
        else { return Path() }
        return parts.inside
    }

    /// A frame that would take more is not drawn.
    private static let stepsOfClip: Int64 = 1 << 29
}

extension StrokePainter {
    /// Draws an image on some of the tiles only; see ``draw(_:on:within:while:)-1t9ko``.
    ///
    /// A pixel on the border of the image and of its clip is covered as the one covers it that covers less of it.
    mutating func draw(
        _ image: PaintedImage, on canvas: inout Canvas, within part: TileSet?, while isWanted: () -> Bool
    ) -> PixelBox? {
        visitedPixels = 0
        let box = Self.box(of: image, scale: scale, on: canvas)
        guard !box.isEmpty, part?.touches(box) ?? true else { return box }
        let needed = part?.hull(box) ?? box
        guard let sampler = ImageSampler(image, scale: scale, in: needed, &imageLevel) else { return box }
        visitedPixels = sampler.averagedPixels + needed.width * needed.height * sampler.taps
        return mask.withRows(width: box.width, height: box.height) { rows in
            func cover(_ rows: CoverageRows, with path: Path) -> Bool {
                defer { visitedPixels += areas.visited }
                return areas.cover(rows, with: path, scale: scale, box: box, &accumulation, while: isWanted)
            }
            guard cover(rows, with: image.outline) else { return nil }
            if let clip = image.clip {
                let isCovered = scratch.withRows(width: box.width, height: box.height) { scratch in
                    guard cover(scratch, with: clip) else { return false }
                    rows.lower(to: scratch)
                    scratch.wipe()
                    return true
                }
                guard isCovered else {
                    rows.wipe()
                    return nil
                }
            }
            canvas.composite(sampler, rows: rows, box: box, within: part)
            return box
        }
    }

    /// The pixels that an image may touch.
    static func box(of image: PaintedImage, scale: Double, on canvas: Canvas) -> PixelBox {
        var bounds = image.outline.controlBounds
        if let clip = image.clip?.controlBounds {
            bounds = Box(lower: pointwiseMax(bounds.lower, clip.lower), upper: pointwiseMin(bounds.upper, clip.upper))
        }
        return PixelBox(around: bounds, scale: scale, on: canvas)
    }
}

extension CoverageRows {
    /// Lowers all coverages to those of other rows of the same box.
    fileprivate func lower(to other: CoverageRows) {
        for y in 0..<height {
            let (row, limit) = (row(y), other.row(y))
            forEachDirtyRange(y) { columns in
                for x in columns { row[x] = min(row[x], limit[x]) }
            }
        }
    }
}
