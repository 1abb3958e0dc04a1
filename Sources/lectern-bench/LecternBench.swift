import ArgumentParser
import Foundation
import Logging

/// Measures the parts that have to be fast. Compare figures of one run with each other, not with those of another run.
@main
struct LecternBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lectern-bench",
        abstract: "Measure the parts of Lectern that have to be fast.",
        subcommands: [RoomBench.self, RoomsBench.self, RelayBench.self, RasterBench.self, BareRelay.self])
}

/// Named figures, printed as a table or as JSON.
struct BenchReport {
    private let json: Bool
    private var figures: [(name: String, value: Double)] = []

    init(json: Bool) {
        self.json = json
    }

    mutating func add(_ name: String, _ value: Double) {
        figures.append((name, value))
    }

    func print() {
        if json {
            let members = figures.map { #""\#($0.name)":\#(String(format: "%.6g", $0.value))"# }
            Swift.print("{\(members.joined(separator: ","))}")
            return
        }
        for (name, value) in figures {
            let label = name.padding(toLength: 64, withPad: " ", startingAt: 0)
            Swift.print(label + String(format: "%14.6g", value))
        }
    }
}

/// Progress lines on standard error.
enum Progress {
    static func say(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }

    /// Prints ten lines in all.
    static func say(_ done: Int, of all: Int, _ what: String) {
        guard done == all || done.isMultiple(of: max(1, all / 10)) else { return }
        say("\(done) of \(all) \(what)")
    }
}

/// A logger on standard error; standard output has the figures.
let benchLogger: Logger = {
    var logger = Logger(label: "lectern-bench") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .warning
    return logger
}()
