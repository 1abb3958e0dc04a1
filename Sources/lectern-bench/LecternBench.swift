import ArgumentParser
import Foundation
import LecternClient
import LecternDemo
import Logging

/// Measures the parts that have to be fast. Compare figures of one run with each other, not with those of another run.
@main
struct LecternBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lectern-bench",
        abstract: "Measure the parts of Lectern that have to be fast.",
        discussion: """
            Compare figures of one run with each other: other work on the machine changes all of them. Where a figure has a \
            goal, it stands behind it, with a ! where it is missed.

            EXAMPLES
              lectern-bench rooms
              lectern-bench load --rooms 200 --seconds 60
            """,
        subcommands: [
            LoadBench.self, CapacityBench.self, GatewayBench.self, RecoveryBench.self, IdleBench.self, RelayBench.self,
            RoomsBench.self, WetBench.self, EncodingBench.self, RasterBench.self, CutBench.self, BareRelay.self,
        ])
}

/// The handwriting that a benchmark uses.
struct LessonInput: ParsableArguments {
    @Option(
        name: .customLong("lesson"),
        help: ArgumentHelp(
            "Lesson file, one message a line. Default: the one that comes with the program.", valueName: "file"))
    var file: String?

    func load() throws -> Lesson { try file.map { try Lesson(contentsOfFile: $0) } ?? DemoLesson.make() }
}

/// The service that a benchmark measures.
struct ServiceInput: ParsableArguments {
    @Option(help: ArgumentHelp("Program of the daemon. Default: `lectern` beside this program.", valueName: "file"))
    var program: String?
}

/// What a benchmark prints.
struct OutputForm: ParsableArguments {
    @Flag(help: "Print one JSON object instead of a table. Repeated figures are an object of median, least and most.")
    var json = false
}

/// What a figure should come to.
struct Goal {
    enum Bound: String {
        case atMost = "≤"
        case atLeast = "≥"
    }

    let bound: Bound
    let value: Double

    func isMet(by figure: Double) -> Bool { bound == .atMost ? figure <= value : figure >= value }

    /// `≤ 25 µs`, and `≤ 25 µs !` where it is missed.
    func text(for figure: Double, unit: String = "") -> String {
        "\(bound.rawValue) \(number(value))\(unit)\(isMet(by: figure) ? "" : " !")"
    }
}

/// Named figures of one or more rounds, printed as a table or as JSON.
struct BenchReport {
    private let json: Bool
    private var figures: [(name: String, values: [Double], goal: Goal?)] = []

    init(json: Bool) {
        self.json = json
    }

    /// - Parameters:
    ///   - most: the greatest value that is good; nil where there is none.
    ///   - least: the smallest one.
    mutating func add(_ name: String, _ value: Double, atMost most: Double? = nil, atLeast least: Double? = nil) {
        add(name, [value], atMost: most, atLeast: least)
    }

    /// Adds the median of a value in each round, with the least and the most.
    mutating func add(_ name: String, _ values: [Double], atMost most: Double? = nil, atLeast least: Double? = nil) {
        let goal =
            most.map { Goal(bound: .atMost, value: $0) } ?? least.map { Goal(bound: .atLeast, value: $0) }
        figures.append((name, values, goal))
    }

    func print() {
        func least(_ values: [Double]) -> Double { values.min() ?? .nan }
        func most(_ values: [Double]) -> Double { values.max() ?? .nan }
        if json {
            var members = figures.map { name, values, _ in
                let (median, least, most) = (number(median(values)), number(least(values)), number(most(values)))
                let value = values.count == 1 ? median : #"{"median":\#(median),"least":\#(least),"most":\#(most)}"#
                return #""\#(name)":\#(value)"#
            }
            for (bound, name) in [(Goal.Bound.atMost, "at most"), (.atLeast, "at least")] {
                let goals = figures.compactMap { figure in
                    figure.goal.flatMap { $0.bound == bound ? #""\#(figure.name)":\#(number($0.value))"# : nil }
                }
                if !goals.isEmpty { members.append(#""\#(name)":{\#(goals.joined(separator: ","))}"#) }
            }
            Swift.print("{\(members.joined(separator: ","))}")
            return
        }
        for (name, values, goal) in figures {
            let label = name.padding(toLength: max(72, name.count), withPad: " ", startingAt: 0)
            let spread = values.count == 1 ? "" : "  (\(number(least(values))) … \(number(most(values))))"
            let value = median(values)
            let verdict = goal.map { "   " + $0.text(for: value) } ?? ""
            Swift.print(label + String(format: "%14.6g", value) + spread + verdict)
        }
    }
}

private func number(_ value: Double) -> String { String(format: "%.6g", value) }

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return .nan }
    return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
}

extension [Double] {
    /// Of sorted values.
    func percentile(_ part: Double) -> Double {
        isEmpty ? .nan : self[Swift.min(Int(Double(count) * part), count - 1)]
    }
}

/// A table under a title, which reads well as text and as Markdown.
struct MarkdownTable {
    private let title: String
    private let columns: [String]
    private var rows: [[String]] = []

    init(_ title: String, _ columns: [String]) {
        self.title = title
        self.columns = columns
    }

    mutating func add(_ row: [String]) { rows.append(row) }

    func print() {
        let widths = columns.indices.map { column in max(3, ([columns] + rows).map { $0[column].count }.max() ?? 0) }
        Swift.print("\n**\(title)**\n")
        for row in [columns, widths.map { String(repeating: "-", count: $0) }] + rows {
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            Swift.print("| \(cells.joined(separator: " | ")) |")
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
