internal import PathGeometry
public import Raster
public import StrokeWire

/// The paper of a page in board units: what lies under all entries.
public enum PagePaper: Sendable, Hashable {
    /// Lines, `distance` board units apart, above 0. Not ``Paper/Ruling/blank``.
    case ruled(Paper.Ruling, distance: Double)
    /// An image, and by how many quarters it is rotated clockwise around the middle of its box.
    case slide(PlacedImage, quarters: Int)

    /// The colour of the lines and dots.
    public static let colour = RGB(0xD4D9E0)
    /// Lines are as many pixels wide, and dots twice as many, whatever the scale of the picture.
    public static let lineWidth = 1

    /// - Parameters:
    ///   - paper: nil for none.
    ///   - width, height: of the board in its units.
    /// - Returns: nil where nothing is seen of it.
    public init?(_ paper: Paper?, width: Double, height: Double) {
        guard let paper, !paper.isBlank else { return nil }
        let x = width / (paper.boardWidth ?? width)
        let y = height / (paper.boardHeight ?? height)
        switch paper.kind {
        case .ruled(let ruling, let distance): self = .ruled(ruling, distance: distance * min(x, y))
        case .slide(let slide):
            let source = ImageSource(asset: slide.asset, page: slide.page)
            let (from, to) = (slide.from * Point(x, y), slide.to * Point(x, y))
            // Before it is rotated, the image lies on its side.
            let (middle, half) = ((from + to) / 2, (to - from) / 2)
            let turned = slide.quarters % 2 == 1 ? Point(half.y, half.x) : half
            self = .slide(PlacedImage(source, from: middle - turned, to: middle + turned), quarters: slide.quarters)
        }
    }

    /// What a slide shows, before it is rotated.
    public var image: PlacedImage? {
        if case .slide(let image, _) = self { image } else { nil }
    }

    /// A slide as part of a scene.
    public var content: PageScene.Content? {
        guard case .slide(let image, let quarters) = self else { return nil }
        let middle = (image.box.lower + image.box.upper) / 2
        let (a, b): (Double, Double) = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters & 3]
        let map = AffineMap(
            a, b, -b, a, middle.x - a * middle.x + b * middle.y, middle.y - b * middle.x - a * middle.y)
        return .image(image, map, clip: nil)
    }

    /// Where lines across a board lie, or rows of dots, from the top; none where they would be less than 4 pixels apart.
    /// - Parameters:
    ///   - length: the board's height in its units.
    ///   - scale: pixels a board unit, above 0.
    public func rows(within length: Double, scale: Double) -> [Double] {
        guard case .ruled(let ruling, let distance) = self else { return [] }
        let lines = Self.multiples(of: distance, below: length, scale: scale)
        // Five lines, and the space of three lines until the next five.
        return ruling == .staves ? lines.filter { (2...6).contains(Int(($0 / distance).rounded()) % 8) } : lines
    }

    /// Where lines down a board lie, or columns of dots, from the left, as ``rows(within:scale:)``; none for lines and staves.
    /// - Parameter length: the board's width in its units.
    public func columns(within length: Double, scale: Double) -> [Double] {
        guard case .ruled(let ruling, let distance) = self, ruling == .squares || ruling == .dots else { return [] }
        return Self.multiples(of: distance, below: length, scale: scale)
    }

    /// Whether there are dots where rows and columns cross, and no lines.
    public var isDotted: Bool {
        if case .ruled(.dots, _) = self { true } else { false }
    }

    private static func multiples(of distance: Double, below length: Double, scale: Double) -> [Double] {
        guard distance * scale >= 4 else { return [] }
        // A board of 16,384 units has 2,048 lines at most; beyond, what scaling has made of them would be solid.
        let count = min((length / distance).rounded(.up) - 1, 4096)
        return count < 1 ? [] : (1...Int(count)).map { Double($0) * distance }
    }
}

extension PagePaper {
    /// The paper as a picture.
    ///
    /// - Parameters:
    ///   - size: of a canvas that shows all of the board, and its scale.
    ///   - part: what is seen of that canvas; all of it unless said.
    ///   - images: the pixels that are there. A slide whose pixels are not is an empty frame.
    ///   - colour: of lines and dots.
    /// - Returns: as large as the part.
    public func canvas(
        _ size: CanvasSize, part: PixelRectangle? = nil, images: PageImages, colour: RGB = PagePaper.colour
    ) -> Canvas {
        let part = part ?? PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)
        switch self {
        case .slide:
            var canvas = Canvas(width: size.width, height: size.height)
            var painter = StrokePainter(canvasWidth: size.width, canvasHeight: size.height, scale: size.scale)
            if let layer = content?.layer(images) { painter.draw(layer, on: &canvas, within: part) }
            return part.width == size.width && part.height == size.height ? canvas : canvas.cropped(to: part)
        case .ruled: return ruled(part, of: (size.boardWidth, size.boardHeight), scale: size.scale, colour)
        }
    }

    /// A part of the paper at any scale, as large as the part.
    ///
    /// - Parameters:
    ///   - width, height: of the board in its units.
    ///   - scale: pixels a board unit, above 0.
    ///   - part: what is seen, in pixels from the upper left corner of the board.
    ///   - images, colour: as for the whole.
    public func canvas(
        width: Double, height: Double, scale: Double, part: PixelRectangle, images: PageImages,
        colour: RGB = PagePaper.colour
    ) -> Canvas {
        guard let content else { return ruled(part, of: (width, height), scale: scale, colour) }
        var canvas = Canvas(width: part.width, height: part.height)
        var painter = StrokePainter(canvasWidth: part.width, canvasHeight: part.height, scale: scale)
        let shift = AffineMap(1, 0, 0, 1, -Double(part.x) / scale, -Double(part.y) / scale)
        if case .image(let image, let map, _) = content,
            let layer = PageScene.Content.image(image, map.followed(by: shift), clip: nil).layer(images)
        {
            painter.draw(layer, on: &canvas)
        }
        return canvas
    }

    private func ruled(
        _ part: PixelRectangle, of board: (width: Double, height: Double), scale: Double, _ colour: RGB
    ) -> Canvas {
        var canvas = Canvas(width: part.width, height: part.height)
        func pixels(_ places: [Double], _ start: Int, _ count: Int) -> [Int] {
            places.map { Int(min(($0 * scale).rounded(.down), 0x1p30)) - start }.filter { (0..<count).contains($0) }
        }
        let rows = pixels(rows(within: board.height, scale: scale), part.y, part.height)
        let columns = pixels(columns(within: board.width, scale: scale), part.x, part.width)
        canvas.rule(rows: rows, columns: columns, isDotted: isDotted, width: Self.lineWidth, colour: colour)
        return canvas
    }
}
