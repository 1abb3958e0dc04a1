import ArgumentParser
import Foundation
import Ink
import LecternClient
import LecternServer
import Raster
import StrokeWire
import Whiteboard

/// Folds a lesson file into a picture.
struct RenderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render",
        abstract: "Draw the board at the end of a lesson file.",
        discussion: """
            A lesson is a file of compact messages, one a line, as a teacher publishes them. Undo, redo and clear are \
            carried out as in a room with the default settings.

            Examples:
              lectern render lesson.ndjson -o board.png
              lectern render lesson.ndjson -o half.png --width 640 --at 120

            Exit codes: 0 drawn, 1 a line could not be read or the picture not be written.
            """)

    @Argument(help: "The lesson, a file of one message a line.")
    var lesson: String

    @Option(name: .shortAndLong, help: "Where the PNG goes.")
    var output: String

    @Option(
        help: ArgumentHelp("Width of the picture in pixels, 1 … 16384; by default the board's.", valueName: "pixels"))
    var width: Int?

    @Option(help: ArgumentHelp("Stop after the operation with this index.", valueName: "index"))
    var at: UInt64?

    @Flag(help: "Leave what is not painted transparent instead of white.")
    var transparent = false

    func validate() throws {
        if let width, !(1...Canvas.largestSide).contains(width) {
            throw ValidationError("--width takes 1 … \(Canvas.largestSide).")
        }
    }

    func run() throws {
        let lesson = try Lesson(contentsOfFile: self.lesson)
        let fold = BoardFold(lesson.messages.map(\.bytes), configuration: RoomConfiguration(), through: at)
        for (line, rejection) in fold.rejections {
            StandardError.write("line \(line): \(rejection.code.rawValue): \(rejection.message)")
        }
        let picture = BoardPicture(fold.board, configuration: ServerConfiguration(), width: width)
        let png = try PNGEncoder.encode(
            picture.canvas, width: width, background: transparent ? .transparent : .white)
        try Data(png).write(to: URL(fileURLWithPath: output))
        StandardError.write(
            "\(output): operation \(fold.board.index), \(fold.board.visible.count) strokes, digest \(fold.board.digest)"
        )
        if !fold.rejections.isEmpty { throw ExitCode.failure }
    }
}
