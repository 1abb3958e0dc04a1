public import Assets
public import StrokeWire

/// Brings the pages of a stored asset into a room: each becomes a page at the end of the room's order, whose paper or image
/// fills the board as far as its shape allows; then the first of them is shown.
public struct SlideImport: Sendable {
    /// What slides become.
    public enum Form: String, Sendable, CaseIterable {
        /// They lie under the ink: no eraser and no undo takes them away.
        case paper
        /// Images, to be cut and moved.
        case picture
    }

    /// The asset.
    public let id: AssetID
    /// The sizes of its pages.
    public let pages: [AssetPage]
    /// Places among ``pages`` of those that have no size of their own and are blank paper.
    public let blank: [Int]
    /// By place among ``pages``: those that are rotated.
    public var rotations: [Int: PageRotation] = [:]
    /// What the pages become; images where the service has no papers.
    public var form = Form.paper

    /// - Returns: nil for an answer that is not a service's.
    public init?(_ summary: AssetUpload.Summary) {
        guard let asset = summary.asset else { return nil }
        (id, pages) = asset
        blank = summary.blank ?? []
    }

    /// Checks that the service can do it, before a file is sent.
    /// - Parameters:
    ///   - form: what the pages are to become.
    ///   - rotates: whether pages are to be rotated.
    /// - Throws: ``PageError/unsupported(_:)``, ``PageError/tooManyPages`` where there is no place for a single page.
    public static func check(
        _ settings: BoardSettings, as form: Form = .paper, rotates: Bool = false
    ) throws(PageError) {
        let needed: BoardFeatures =
            isPaper(form, settings) ? [.pages, .paper] : rotates ? [.pages, .images, .lasso] : [.pages, .images]
        let missing = needed.subtracting(settings.features)
        guard missing.isEmpty else { throw .unsupported(missing) }
        guard settings.pages.order.count + settings.pages.hidden.count < PageNumber.range.count else {
            throw .tooManyPages
        }
    }

    private static func isPaper(_ form: Form, _ settings: BoardSettings) -> Bool {
        form == .paper && settings.features.contains(.paper)
    }

    /// The two opposite corners of the image of a page on a board.
    static func corners(of page: AssetPage, width: Double, height: Double) -> [StrokePoint] {
        let scale = min(width / page.width, height / page.height)
        let (x, y) = ((width - page.width * scale) / 2, (height - page.height * scale) / 2)
        return [StrokePoint(x: x, y: y), StrokePoint(x: width - x, y: height - y)]
    }

    /// The operations that lay it under pages.
    /// - Parameters: as those of ``operations(onto:width:height:at:)``.
    func papers(onto numbers: [Int], width: Double, height: Double, at time: Int64?) -> [OperationWriter.Operation] {
        let papers = zip(pages, numbers).enumerated().map { place, page in
            let quarters = (rotations[place]?.rawValue ?? 0) / 90
            var shown = page.0
            if quarters % 2 == 1 { shown = AssetPage(width: shown.height, height: shown.width) ?? shown }
            let corners = Self.corners(of: shown, width: width, height: height)
            let slide = Paper.Slide(
                id, page: place, from: SIMD2(corners[0].x, corners[0].y), to: SIMD2(corners[1].x, corners[1].y),
                quarters: quarters)
            return OperationWriter.Operation(
                StrokeMessage(
                    number: 0, action: .paper, time: time, boardWidth: width, boardHeight: height, page: page.1,
                    content: .paper(Paper(.slide(slide), boardWidth: width, boardHeight: height))))
        }
        let turn = StrokeMessage(number: 0, action: .turn, time: time, page: numbers.first ?? 0)
        return papers + [OperationWriter.Operation(turn)]
    }

    /// The operations that show it as images.
    /// - Parameters:
    ///   - numbers: the pages of the room, one for each of the asset.
    ///   - width: of the board.
    ///   - height: of the board.
    ///   - time: of the operations; nil for none.
    public func operations(
        onto numbers: [Int], width: Double, height: Double, at time: Int64?
    ) -> [OperationWriter.Operation] {
        let images = zip(pages, numbers).enumerated().map { place, page in
            OperationWriter.Operation(
                StrokeMessage(
                    number: 0, element: .image, time: time, boardWidth: width, boardHeight: height, page: page.1,
                    content: .image(id, page: place)),
                points: Self.corners(of: page.0, width: width, height: height))
        }
        let rotations = zip(pages, numbers).enumerated().compactMap { place, page -> OperationWriter.Operation? in
            let corners = Self.corners(of: page.0, width: width, height: height)
            let sheet = PageRotation.Sheet(corners) ?? PageRotation.Sheet(width: width, height: height)
            return self.rotations[place]?.operation(page: page.1, sheet: sheet, width: width, height: height, at: time)
        }
        let turn = StrokeMessage(number: 0, action: .turn, time: time, page: numbers.first ?? 0)
        return images + rotations + [OperationWriter.Operation(turn)]
    }

    /// Writes everything.
    ///
    /// - Parameters:
    ///   - writer: of the room.
    ///   - time: of the operations; nil for none.
    ///   - progress: called with the number of pages made and that of all: when their numbers are taken, and then about twice
    ///     a second.
    /// - Throws: ``PageError``; after ``PageError/incomplete(pages:_:)`` the room has the pages named there, and the others
    ///   are out of sight, as far as the service still answers.
    /// - Returns: the numbers of the pages.
    public func run(
        with writer: inout OperationWriter, at time: Int64?, progress: (_ made: Int, _ all: Int) -> Void = { _, _ in }
    ) async throws(PageError) -> [Int] {
        let settings = try await writer.settings()
        try Self.check(settings, as: form, rotates: !rotations.isEmpty)
        let numbers = try await writer.addPages(pages.count, at: time)
        progress(0, pages.count)
        let operations =
            Self.isPaper(form, settings)
            ? papers(onto: numbers, width: settings.width, height: settings.height, at: time)
            : operations(onto: numbers, width: settings.width, height: settings.height, at: time)
        let outcome = await writer.write(operations) { progress(min($0, pages.count), pages.count) }
        guard let failure = outcome.failure else { return numbers }
        let made = zip(numbers, outcome.indices).filter { $0.1 != nil }.map(\.0)
        // Pages without their image would be seen as empty ones.
        try? await writer.hidePages(Set(numbers).subtracting(made), at: time)
        throw .incomplete(pages: made, failure)
    }
}
