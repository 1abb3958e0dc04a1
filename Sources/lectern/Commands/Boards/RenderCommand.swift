public import ArgumentParser
import Foundation
public import Ink
import InkML
import LecternClient
import LecternServer
import Raster
import StrokeWire
import VectorGraphics
import Whiteboard

/// `lectern render`: draws the board at the end of lessons.
struct RenderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render",
        abstract: "Draw the board at the end of a lesson, ink or slides as PNG, SVG or PDF, or write it as InkML.",
        discussion: """
            A lesson is a file with one compact message on each line, as a teacher publishes them. Undo, redo and \
            clear work as in a room with the default settings. The output's file extension selects the format. A PNG or \
            SVG is of the page that is shown at the end; a PDF has all pages in their order, and takes several lessons. \
            InkML has the ink of all pages itself, with force, angles and times, for other programs and for \
            `lectern import`; it leaves out images and lassos.

            Files that `lectern import` reads are drawn as they would come into an empty room: InkML on a board of its own size, \
            or as large as fits 1024 × 768, in its own colours; of a PDF, PNG, JPEG, WebP or HEIC a page each.

            Images of a lesson show pages of files, which it names by their SHA-256. Those given by --asset are drawn, \
            each opened in a process of its own that can do nothing else, and of others an empty frame.

            EXAMPLES
              lectern render demo -o demo.png
              lectern render lesson.ndjson -o board.png
              lectern render lesson.ndjson -o half.png --width 640 --at 120
              lectern render lesson.ndjson -o board.svg --style pen --transparent
              lectern render lesson.ndjson -o second.png --page 1
              lectern render monday.ndjson tuesday.ndjson -o week.pdf
              lectern render lesson.ndjson -o slides.png --asset slides.pdf --asset photo.jpeg
              lectern render lesson.ndjson -o why.svg --debug
              lectern render lesson.ndjson -o board.inkml
              lectern render notes.inkml -o notes.png
              lectern render slides.pdf -o third.png --page 2
              lectern render lesson.ndjson -o /dev/stdout --format svg
              lectern render --specimens -o styles.png

            Exit codes: 0 when the picture was written; 1 when a file cannot be read, ends before --at, or has a \
            message that a room rejects, when an asset cannot be opened, or when the picture cannot be written; 64 for \
            wrong arguments.
            """)

    @Argument(help: ArgumentHelp("\(LessonSource.help) Or InkML, a PDF, PNG, JPEG, WebP or HEIC."))
    var lessons: [LessonSource] = []

    @OptionGroup var picture: PictureOptions

    @Option(help: ArgumentHelp("Style of freehand strokes.", valueName: "style"))
    var style = ServerConfiguration().style

    @Option(help: ArgumentHelp("The tip of the style stamp.", valueName: "tip"))
    var tip = ServerConfiguration().tip

    @Option(
        help: ArgumentHelp(
            "Width in pixels, 1 … 16384; 96 per inch in a PDF. Default: that of the board. A PNG is at most 16384 high.",
            valueName: "pixels"))
    var width: Int?

    @Option(
        help: ArgumentHelp(
            "Stop after the operation with this index; 0 for the empty board. Default: the last one.",
            valueName: "index"))
    var at: UInt64?

    @Option(
        name: .customLong("asset"),
        help: ArgumentHelp(
            "A PNG, JPEG, WebP, HEIC or PDF that images of the lesson show. May be given several times.",
            valueName: "file"))
    var assets: [String] = []

    @OptionGroup var password: PasswordOptions

    @Flag(
        help: "Draw points, control polygons, the dirty boxes of strokes and the borders of tiles over the ink.")
    var debug = false

    @Flag(help: "Draw the triangles of strokes over the ink, as clients with a graphics processor draw them.")
    var mesh = false

    @Flag(help: "Draw a page with the same handwriting in every ink style, instead of a lesson.")
    var specimens = false

    func validate() throws {
        guard specimens || !lessons.isEmpty else {
            throw ValidationError("A lesson is needed, or --specimens.")
        }
        if specimens, !lessons.isEmpty || at != nil || picture.page != nil || !assets.isEmpty {
            throw ValidationError("--specimens draws a page of its own, without a lesson.")
        }
        if let width, !(1...Canvas.largestSide).contains(width) {
            throw ValidationError("--width takes 1 … \(Canvas.largestSide).")
        }
        let format = try picture.writtenFormat
        if format == .inkml, width != nil || picture.transparent || debug || mesh || specimens || !assets.isEmpty {
            throw ValidationError(
                "InkML is ink alone: --width, --transparent, --debug, --mesh, --specimens and --asset are for pictures."
            )
        }
        if format != .pdf, lessons.count > 1 {
            throw ValidationError("Only a PDF takes more than one lesson.")
        }
        guard lessons.count(where: { $0 == .standardInput }) <= 1 else {
            throw ValidationError("Standard input can be read only once.")
        }
        if password.passwordFile == "-", lessons.contains(.standardInput) {
            throw ValidationError("Standard input can be read only once.")
        }
    }

    func run() async throws {
        var configuration = ServerConfiguration()
        configuration.style = style
        configuration.tip = tip
        let format = try picture.writtenFormat
        if specimens {
            let page = BoardPicture(SpecimenPage.drawing, width: width, format: format, marks: marks)
            try write(try encode([page], format))
            return StandardError.write("\(picture.output): \(SpecimenInk.all.count) specimens")
        }
        var files = try await AssetFiles(assets, password)
        var folds: [BoardFold] = []
        for lesson in lessons { folds.append(try await fold(lesson, configuration, &files)) }
        if format == .inkml {
            let ink = BoardInk(StrokeSource(folds[0].configuration))
            try write(try ink.inkML(of: folds[0].board, pages: format.pages(of: folds[0].board, picture.page)))
        } else {
            var pictures: [BoardPicture] = []
            for fold in folds {
                for page in format.pages(of: fold.board, picture.page) {
                    var drawn = BoardPicture(
                        fold.board, page: page, configuration: fold.configuration, width: width, format: format,
                        marks: marks)
                    drawn.drawing.images = try await files.images(of: drawn)
                    pictures.append(drawn)
                }
            }
            try write(try encode(pictures, format))
        }
        for fold in folds {
            let pages = format.pages(of: fold.board, picture.page)
            StandardError.write("\(picture.output): \(fold.board.summary(of: pages))")
        }
        if folds.contains(where: { !$0.rejections.isEmpty }) { throw ExitCode.failure }
    }

    private var marks: Set<DebugOverlay.Kind> {
        let marks: Set<DebugOverlay.Kind> = debug ? [.tiles, .dirty, .controls, .points] : []
        return mesh ? marks.union([.mesh]) : marks
    }

    private func fold(
        _ source: LessonSource, _ configuration: ServerConfiguration, _ files: inout AssetFiles
    ) async throws -> BoardFold {
        var configuration = configuration
        let messages: [[UInt8]]
        switch try source.loadBoard() {
        case .lesson(let lesson): messages = lesson.messages.map(\.bytes)
        case .file(.ink(let document)):
            // There is no room whose palette counts.
            configuration.room.intake.wire.colours = .rgb
            for remark in document.remarks(hasPens: true) { StandardError.write("\(source.name): \(remark)") }
            messages = document.messages(
                for: document.boardSize, isEmpty: true, hasPens: true, palette: nil,
                from: document.strokes.compactMap(\.time).min()
            ).map(\.bytes)
        case .file(.slides(_, let bytes)):
            messages = try await files.add(bytes, path: source.name)
        }
        let fold = BoardFold(messages, configuration: configuration, through: at)
        for (line, rejection) in fold.rejections {
            StandardError.write("\(source.name): line \(line): \(rejection.code.rawValue): \(rejection.message)")
        }
        if let at, fold.board.index < at {
            throw ExitCode.failed("\(source.name) ends at operation \(fold.board.index), before --at \(at)")
        }
        return fold
    }

    private func write(_ bytes: [UInt8]) throws {
        try endingCommand { try OutputFile(picture.output).write(bytes) }
    }

    private func encode(_ pictures: [BoardPicture], _ format: PictureFormat) throws -> [UInt8] {
        guard let first = pictures.first else { return [] }
        switch format {
        case .png:
            let wanted = width ?? Int(first.drawing.width.rounded(.up))
            if first.canvasWidth < wanted {
                StandardError.write(
                    "lectern: the picture is \(first.canvasWidth) pixels wide, as no side may be longer than "
                        + "\(Canvas.largestSide)")
            }
            return PNGEncoder.encode(first.canvas, background: picture.transparent ? .transparent : .white)
        case .svg:
            do throws(DrawingStopped) {
                return try SVGRenderer.render(
                    first.drawing, background: picture.transparent ? .transparent : .white, scale: first.scale)
            } catch {
                throw ExitCode.failed(
                    "the board has more erasers than can be subtracted; draw it on white paper")
            }
        case .pdf:
            return try PDFRenderer.render(pictures.map { (drawing: $0.drawing, scale: $0.scale) })
        case .inkml:
            // Made of the board, not of a picture.
            return []
        }
    }
}

extension Board {
    /// What the pages that are drawn have.
    fileprivate func summary(of pages: [Int]) -> String {
        let kinds = pages.flatMap { visible(on: $0).map(\.kind) }
        func count(_ kind: StrokeKind) -> Int { kinds.count { $0 == kind } }
        let others = [(count(.image), "images"), (count(.lasso), "lassos"), (count(.text), "texts")]
            .filter { $0.0 > 0 }.map { ", \($0.0) \($0.1)" }.joined()
        let drawn = !hasPages ? "" : pages.count == 1 ? "page \(pages[0]), " : "\(pages.count) pages, "
        return "operation \(index), \(drawn)\(count(.stroke)) strokes\(others), digest \(digest)"
    }
}

private enum BoardOrigin {
    case lesson(Lesson)
    case file(ImportFile)
}

extension LessonSource {
    /// Reads the lesson, or the file that `lectern import` reads; ends the command with status 1 and the error.
    fileprivate func loadBoard() throws -> BoardOrigin {
        try endingCommand {
            guard self != .demo else { return .lesson(try load()) }
            // Once: a pipe can be read only once.
            let bytes = try self == .standardInput ? ImportFile.contents(of: name) : Lesson.contents(ofFile: name)
            let isLesson = !ImportFile.begins(with: Array(bytes.prefix(ImportFile.headBytes)))
            return isLesson ? .lesson(try load(ndjson: bytes)) : .file(try ImportFile(bytes, path: name))
        }
    }
}

extension InkDocument {
    /// The board that it is drawn on without a room: its own, where a message can name it.
    fileprivate var boardSize: Size {
        let sides = 1.0...16384
        guard let size, sides ~= size.width, sides ~= size.height else { return Size(width: 1024, height: 768) }
        return size
    }
}

extension InkStyle: ExpressibleByArgument {}
extension InkTip: ExpressibleByArgument {}
