import ArgumentParser
import Foundation
import LecternClient

/// Where a lesson comes from: a file, standard input, or the program itself.
struct LessonSource: ExpressibleByArgument, Equatable {
    /// What every command says of such an argument.
    static let help = """
        A file with one compact message a line, `-` for standard input, or `demo` for the lesson that comes with \
        Lectern.
        """

    static let standardInput = LessonSource(argument: "-")
    static let demo = LessonSource(argument: "demo")

    /// As it was given.
    let name: String

    init(argument: String) {
        name = argument
    }

    var defaultValueDescription: String { name }

    /// Reads the lesson, or ends the command with status 1 and says what is wrong, with the line at fault.
    ///
    /// - Parameter seed: of the demo lesson's hand.
    func load(seed: UInt64 = 1) throws -> Lesson {
        do {
            switch self {
            case .demo: return try DemoLesson.make(seed: seed)
            case .standardInput: return try Lesson(ndjson: Array(FileHandle.standardInput.readToEnd() ?? Data()))
            default: return try Lesson(contentsOfFile: name)
            }
        } catch let error as LessonFileError {
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        } catch {
            StandardError.write("lectern: \(name): \(error)")
            throw ExitCode.failed
        }
    }
}
