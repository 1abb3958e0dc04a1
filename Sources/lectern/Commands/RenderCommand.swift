import ArgumentParser
import Foundation
import Ink
import LecternClient
import LecternServer
import Raster
import StrokeWire
import VectorGraphics
import Whiteboard

/// Folds lesson files into pictures.
struct RenderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render",
        abstract: "Draw the board at the end of a lesson file, as PNG, SVG or PDF.",
        discussion: """
            A lesson is a file of compact messages, one a line, as a teacher publishes them. Undo, redo and clear are \
            carried out as in a room with the default settings. The ending of the output's name says the format. A PDF \
            takes several lessons, a page each.

            Examples:
              lectern render demo -o demo.png
              lectern render lesson.ndjson -o board.png
              lectern render lesson.ndjson -o half.png --width 640 --at 120
              lectern render lesson.ndjson -o board.svg --style pen --transparent
              lectern render monday.ndjson tuesday.ndjson -o week.pdf
              lectern render lesson.ndjson -o why.svg --debug
              lectern render lesson.ndjson -o /dev/stdout --format svg

            Exit codes: 0 drawn; 1 when a lesson could not be read, ends before --at, or has a message that a room \
            rejects, or when the picture could not be written; 64 for wrong arguments.
            """)

    @Argument(help: ArgumentHelp(LessonSource.help))
    var lessons: [LessonSource]

    @Option(name: .shortAndLong, help: "Where the picture goes: a name that ends in .png, .svg or .pdf.")
    var output: String

    @Option(help: ArgumentHelp("png, svg or pdf, whatever the ending of the output's name.", valueName: "format"))
    var format: PictureFormat?

    @Option(help: ArgumentHelp("How freehand strokes become ink.", valueName: "style"))
    var style = ServerConfiguration().style

    @Option(
        help: ArgumentHelp(
            "Width of the picture in pixels, 1 … 16384, 96 an inch in a PDF; by default the board's.",
            valueName: "pixels"))
    var width: Int?

    @Option(help: ArgumentHelp("Stop after the operation with this index; 0 for the empty board.", valueName: "index"))
    var at: UInt64?

    @Flag(help: "Leave what is not painted transparent instead of white. Not for PDF, whose pages are white.")
    var transparent = false

    @Flag(
        help: "Draw points, control polygons, the boxes that strokes may touch and the borders of tiles over the ink.")
    var debug = false

    func validate() throws {
        if let width, !(1...Canvas.largestSide).contains(width) {
            throw ValidationError("--width takes 1 … \(Canvas.largestSide).")
        }
        let format = try chosenFormat()
        if format == .pdf, transparent {
            throw ValidationError("The pages of a PDF are white; --transparent is for PNG and SVG.")
        }
        if format != .pdf, lessons.count > 1 {
            throw ValidationError("Only a PDF takes more than one lesson, a page each.")
        }
        guard lessons.count(where: { $0 == .standardInput }) <= 1 else {
            throw ValidationError("Standard input can be read only once.")
        }
    }

    func run() throws {
        var configuration = ServerConfiguration()
        configuration.style = style
        let folds = try lessons.map { try fold($0, configuration.room) }
        let pictures = folds.map { fold in
            BoardPicture(fold.board, configuration: configuration, width: width, debug: debug)
        }
        let bytes = try encode(pictures)
        try write(bytes)
        for fold in folds {
            let board = fold.board
            StandardError.write(
                "\(output): operation \(board.index), \(board.visible.count) strokes, digest \(board.digest)")
        }
        if folds.contains(where: { !$0.rejections.isEmpty }) { throw ExitCode.failure }
    }

    private func fold(_ source: LessonSource, _ configuration: RoomConfiguration) throws -> BoardFold {
        let lesson = try source.load()
        let fold = BoardFold(lesson.messages.map(\.bytes), configuration: configuration, through: at)
        for (line, rejection) in fold.rejections {
            StandardError.write("\(source.name): line \(line): \(rejection.code.rawValue): \(rejection.message)")
        }
        if let at, fold.board.index < at {
            StandardError.write("lectern: \(source.name) ends at operation \(fold.board.index), before --at \(at)")
            throw ExitCode.failed
        }
        return fold
    }

    private func write(_ bytes: [UInt8]) throws {
        do throws(OutputError) {
            try OutputFile(output).write(bytes)
        } catch {
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
    }

    private func chosenFormat() throws -> PictureFormat {
        guard let format = format ?? PictureFormat(endingOf: output) else {
            throw ValidationError("'\(output)' ends in none of .png, .svg and .pdf; name the format with --format.")
        }
        return format
    }

    private func encode(_ pictures: [BoardPicture]) throws -> [UInt8] {
        let format = try chosenFormat()
        guard let first = pictures.first else { return [] }
        switch format {
        case .png:
            return PNGEncoder.encode(first.canvas, width: width, background: transparent ? .transparent : .white)
        case .svg:
            return SVGRenderer.render(first.drawing, paper: transparent ? .transparent : .white, scale: first.scale)
        case .pdf:
            return try PDFRenderer.render(pictures.map { (drawing: $0.drawing, scale: $0.scale) })
        }
    }
}
