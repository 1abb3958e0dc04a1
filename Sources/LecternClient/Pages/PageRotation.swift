internal import StrokeWire

/// A rotation of what a page shows, clockwise.
///
/// It is one lasso around everything, so that all who know lassos show it, and an undo takes it back. The page's sheet, which
/// is a slide that filled the board, or the board, comes to lie in the middle of the board, as large as its shape allows: four
/// quarter turns lead back.
public enum PageRotation: Int, Sendable, CaseIterable {
    case quarter = 90
    case half = 180
    case threeQuarters = 270

    /// The operation for a page on which nothing but a sheet lies.
    func operation(
        page: Int, sheet: Sheet, width: Double, height: Double, at time: Int64?
    ) -> OperationWriter.Operation {
        let map = map(of: sheet, width: width, height: height)
        let header = StrokeMessage(
            number: 0, element: .lasso, time: time, boardWidth: width, boardHeight: height, page: page,
            content: .lasso(map, keepsOriginal: false))
        // What lies beside the board comes along, as far as a board.
        let (left, right) = (min(-width, sheet.minX - 1), max(2 * width, sheet.maxX + 1))
        let (top, bottom) = (min(-height, sheet.minY - 1), max(2 * height, sheet.maxY + 1))
        let path = [(left, top), (right, top), (right, bottom), (left, bottom)].map { StrokePoint(x: $0.0, y: $0.1) }
        return OperationWriter.Operation(header, points: path)
    }

    fileprivate func map(of sheet: Sheet, width: Double, height: Double) -> LassoMap {
        let isOnSide = self != .half
        let (across, down) = isOnSide ? (sheet.height, sheet.width) : (sheet.width, sheet.height)
        let scale = min(width / across, height / down)
        let (x, y) = ((sheet.minX + sheet.maxX) / 2, (sheet.minY + sheet.maxY) / 2)
        let (cosine, sine): (Double, Double) =
            switch self {
            case .quarter: (0, scale)
            case .half: (-scale, 0)
            case .threeQuarters: (0, -scale)
            }
        return LassoMap(
            a: cosine, b: sine, c: -sine, d: cosine, e: width / 2 - cosine * x + sine * y,
            f: height / 2 - sine * x - cosine * y)
    }

    /// The box that is fitted to the board, in board units.
    struct Sheet {
        var (minX, minY, maxX, maxY): (Double, Double, Double, Double)

        var width: Double { maxX - minX }
        var height: Double { maxY - minY }
        fileprivate var corners: [StrokePoint] {
            [(minX, minY), (maxX, minY), (maxX, maxY), (minX, maxY)].map { StrokePoint(x: $0.0, y: $0.1) }
        }

        /// The box of points; nil where it has no size that a map can scale.
        init?(_ points: [StrokePoint]) {
            guard let first = points.first else { return nil }
            (minX, minY, maxX, maxY) = (first.x, first.y, first.x, first.y)
            for point in points {
                (minX, minY) = (min(minX, point.x), min(minY, point.y))
                (maxX, maxY) = (max(maxX, point.x), max(maxY, point.y))
            }
            guard width >= 1, height >= 1 else { return nil }
        }

        init(width: Double, height: Double) { (minX, minY, maxX, maxY) = (0, 0, width, height) }

        /// Whether it is as wide or as high as the board, on it, as imported slides are.
        func fills(_ width: Double, _ height: Double) -> Bool {
            let slack = max(width, height) / 256
            let isWide = abs(minX) <= slack && abs(maxX - width) <= slack && minY >= -slack && maxY <= height + slack
            let isHigh = abs(minY) <= slack && abs(maxY - height) <= slack && minX >= -slack && maxX <= width + slack
            return isWide || isHigh
        }

        /// Moves it where a lasso has moved all of it.
        mutating func apply(_ map: LassoMap, around path: [StrokePoint]) {
            guard corners.allSatisfy({ Self.contains($0, path) }) else { return }
            let moved = corners.map { point in
                StrokePoint(
                    x: map.a * point.x + map.c * point.y + map.e, y: map.b * point.x + map.d * point.y + map.f)
            }
            self = Sheet(moved) ?? self
        }

        /// Even-odd.
        private static func contains(_ point: StrokePoint, _ path: [StrokePoint]) -> Bool {
            guard var before = path.last else { return false }
            var isInside = false
            for corner in path {
                if (corner.y > point.y) != (before.y > point.y),
                    point.x < (before.x - corner.x) * (point.y - corner.y) / (before.y - corner.y) + corner.x
                {
                    isInside.toggle()
                }
                before = corner
            }
            return isInside
        }
    }
}

extension PageCopy {
    /// Rotates the page that was read, where it is.
    ///
    /// - Parameters:
    ///   - writer: of its room.
    ///   - time: of the operation; nil for none.
    /// - Throws: ``PageError/unsupported(_:)`` without lassos; ``PageError/incomplete(pages:_:)`` where it was not written.
    /// - Returns: index of the operation; nil for a page with nothing on it, which stays as it is.
    public func rotate(
        _ rotation: PageRotation, with writer: inout OperationWriter, at time: Int64?
    ) async throws(PageError) -> UInt64? {
        guard count > 0 else { return nil }
        guard messages.isEmpty || settings.features.contains(.lasso) else { throw .unsupported(.lasso) }
        let sheet: PageRotation.Sheet
        do throws(MalformedMessage) {
            sheet = try self.sheet()
        } catch {
            throw .room(.malformed)
        }
        var operations: [OperationWriter.Operation] = []
        if let paper = rotatedPaper(rotation, sheet) {
            operations.append(paper.operation(page: page, of: settings, at: time))
        }
        if !messages.isEmpty {
            operations.append(
                rotation.operation(
                    page: page, sheet: sheet, width: settings.width, height: settings.height, at: time))
        }
        // Of a ruling alone nothing is rotated.
        guard !operations.isEmpty else { return nil }
        let outcome = await writer.write(operations)
        guard outcome.failure == nil, let index = outcome.indices.last ?? nil else {
            throw .incomplete(pages: [], outcome.failure ?? "the service does not answer")
        }
        return index
    }

    /// The page's slide as it lies after a rotation; nil where its paper is none.
    private func rotatedPaper(_ rotation: PageRotation, _ sheet: PageRotation.Sheet) -> Paper? {
        guard var slide = paper?.slide else { return nil }
        let (x, y) = scale(of: paper)
        let map = rotation.map(of: sheet, width: settings.width, height: settings.height)
        func moved(_ corner: SIMD2<Double>) -> SIMD2<Double> {
            let (x, y) = (corner.x * x, corner.y * y)
            return SIMD2(map.a * x + map.c * y + map.e, map.b * x + map.d * y + map.f)
        }
        (slide.from, slide.to) = (moved(slide.from), moved(slide.to))
        slide.quarters = (slide.quarters + rotation.rawValue / 90) % 4
        return Paper(.slide(slide), boardWidth: settings.width, boardHeight: settings.height)
    }

    /// From the units of a paper to those of the board.
    private func scale(of paper: Paper?) -> (x: Double, y: Double) {
        (
            settings.width / (paper?.boardWidth ?? settings.width),
            settings.height / (paper?.boardHeight ?? settings.height)
        )
    }

    /// Where the page's sheet lies now.
    private func sheet() throws(MalformedMessage) -> PageRotation.Sheet {
        if let slide = paper?.slide {
            let (x, y) = scale(of: paper)
            let corners = [slide.from, slide.to].map { StrokePoint(x: $0.x * x, y: $0.y * y) }
            if let sheet = PageRotation.Sheet(corners) { return sheet }
        }
        var sheet = PageRotation.Sheet(width: settings.width, height: settings.height)
        var hasSlide = false
        for message in messages {
            let header = try StrokeMessage(accepted: message)
            let x = settings.width / (header.boardWidth ?? settings.width)
            let y = settings.height / (header.boardHeight ?? settings.height)
            func points() -> [StrokePoint] {
                header.decodePoints(of: message).map { StrokePoint(x: $0.x * x, y: $0.y * y) }
            }
            switch header.content {
            case .image where !hasSlide:
                guard let image = PageRotation.Sheet(points()), image.fills(settings.width, settings.height) else {
                    continue
                }
                (sheet, hasSlide) = (image, true)
            case .lasso(let map?, false): sheet.apply(map.scaled(x: x, y: y), around: points())
            default: break
            }
        }
        return sheet
    }
}
