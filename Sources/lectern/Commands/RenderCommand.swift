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
              lectern render lesson.ndjson -o board.png
              lectern render lesson.ndjson -o half.png --width 640 --at 120
              lectern render lesson.ndjson -o board.svg --style pen --transparent
              lectern render monday.ndjson tuesday.ndjson -o week.pdf
              lectern render lesson.ndjson -o why.svg --debug
              lectern render lesson.ndjson -o /dev/stdout --format svg

            Exit codes: 0 drawn, 1 a line could not be read or the picture not be written, 64 wrong arguments.
            """)

    @Argument(help: "The lesson, a file of one message a line.")
    var lessons: [String]

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

    @Option(help: ArgumentHelp("Stop after the operation with this index.", valueName: "index"))
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
    }

    func run() throws {
        var configuration = ServerConfiguration()
        configuration.style = style
        let folds = try lessons.map { path in
            let lesson = try read(path)
            return BoardFold(lesson.messages.map(\.bytes), configuration: configuration.room, through: at)
        }
        for (path, fold) in zip(lessons, folds) {
            for (line, rejection) in fold.rejections {
                StandardError.write("\(path): line \(line): \(rejection.code.rawValue): \(rejection.message)")
            }
        }
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

    private func read(_ path: String) throws -> Lesson {
        do {
            return try Lesson(contentsOfFile: path)
        } catch {
            StandardError.write("lectern: \(error)")
            throw ExitCode.failure
        }
    }

    private func write(_ bytes: [UInt8]) throws {
        do {
            try Data(bytes).write(to: URL(fileURLWithPath: output))
        } catch {
            StandardError.write("lectern: \(output): cannot be written: \(error.localizedDescription)")
            throw ExitCode.failure
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
