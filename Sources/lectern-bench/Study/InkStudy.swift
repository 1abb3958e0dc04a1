import ArgumentParser
import Foundation
import Ink
import LecternClient
import LecternDemo
import StrokeWire

/// `lectern-bench ink-study`: what a pen's values cost and give.
struct InkStudy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ink-study",
        abstract: "Print what force, angles, all points and predicted points of a pen cost and give.",
        discussion: """
            The study prints tables in Markdown: bytes in JSON, gzip and the binary form; processor time a point; the ink that \
            differs without a value; what comes late; predictions against the pen; and a class in virtual time, with and \
            without wet ink, at some rates of loss. The article "What a pen's values cost" has the method.

            The pen: touch events as recorded on iOS (--recordings, a folder of JSON files, one stroke each), and the \
            freehand strokes of a lesson (--lesson), 60 points a second where they have no times. Late values and \
            predictions are only in recordings.

            EXAMPLES
              lectern-bench ink-study --recordings pencil --lesson pencil.ndjson
              lectern-bench ink-study --lesson pencil.ndjson --loss 0 --loss 0.1
            """)

    @Option(help: ArgumentHelp("Touch events, a JSON file a stroke. Default: none.", valueName: "folder"))
    var recordings: String?

    @OptionGroup var lesson: LessonInput

    @Option(help: "Share of messages that are lost, 0 to 0.9; repeat for more. Default: 0, 0.01 and 0.05.")
    var loss: [Double] = []

    @Option(help: "Number of times that the strokes are drawn in each class, 1 to 1000.")
    var rounds = 20

    @Option(help: "Seed of the losses.")
    var seed: UInt64 = 1

    func validate() throws {
        guard loss.allSatisfy({ 0...0.9 ~= $0 }) else { throw ValidationError("--loss is 0 to 0.9") }
        guard 1...1000 ~= rounds else { throw ValidationError("--rounds is 1 to 1000") }
    }

    func run() throws {
        let touches = try recordings.map { try PenRecording.touches(inFolder: $0) } ?? []
        let lesson = try self.lesson.load()
        let strokes = PenRecording.strokes(of: lesson).filter { stroke in
            // A lesson may have the recordings' strokes too.
            !touches.contains { $0.points.count == stroke.points.count && abs($0.duration - stroke.duration) < 1 }
        }
        let all = touches + strokes
        guard !all.isEmpty else { throw ValidationError("no freehand stroke of three points or more") }
        printPens(touches, strokes)
        printSizes(all)
        try printCosts(all)
        printDifferences(all)
        if touches.isEmpty {
            print("\nNo recordings: nothing about late values and predictions.")
        } else {
            printLateValues(touches)
            printPredictions(touches)
        }
        printClasses(all, touches)
    }

    private func printPens(_ touches: [PenRecording], _ strokes: [PenRecording]) {
        var table = MarkdownTable("Strokes", ["from", "strokes", "points", "seconds", "points a second"])
        for (name, group) in [("recorded touch events", touches), ("lesson", strokes)] where !group.isEmpty {
            let points = group.reduce(0) { $0 + $1.points.count }
            let seconds = group.reduce(0) { $0 + $1.duration } / 1000
            table.add([name, "\(group.count)", "\(points)", seconds.text(1), (Double(points) / seconds).text(0)])
        }
        table.print()
    }

    private func printSizes(_ all: [PenRecording]) {
        let seconds = all.reduce(0) { $0 + $1.duration } / 1000
        var table = MarkdownTable(
            "Bytes of operations",
            [
                "sent", "points a second", "JSON a point", "gzip", "binary", "JSON a second", "gzip", "binary",
            ])
        for content in PenContent.all {
            var sizes = EncodedSizes()
            var count = 0
            for recording in all {
                let points = content.reduced(recording)
                count += points.count
                sizes.add(PenContent.message(1, points, width: recording.width, time: 81_250))
            }
            let bytes = [sizes.json, sizes.gzip, sizes.binary].map(Double.init)
            table.add(
                [content.name, (Double(count) / seconds).text(0)] + bytes.map { ($0 / Double(count)).text(1) }
                    + bytes.map { ($0 / seconds).text(0) })
        }
        table.print()
    }

    private func printCosts(_ all: [PenRecording]) throws {
        var table = MarkdownTable(
            "Processor time, nanoseconds a point",
            ["sent", "write JSON", "read JSON", "to binary", "read binary", "gzip", "trace (pen)"])
        for content in PenContent.all {
            let costs = try StrokeCosts(content, of: all, rounds: 30)
            table.add(
                [content.name]
                    + [costs.encode, costs.decode, costs.pack, costs.unpack, costs.gzip, costs.trace].map { $0.text(0) }
            )
        }
        table.print()
    }

    private func printDifferences(_ all: [PenRecording]) {
        let styles = InkStyle.allCases.filter { $0 != .stamp }
        var table = MarkdownTable(
            "Ink that differs from that of all values, % of the ink (line width 6)", ["sent"] + styles.map(\.rawValue))
        for content in PenContent.all.dropLast() {
            table.add(
                [content.name]
                    + styles.map { InkDifference.percent(of: content, in: all, style: $0, width: 6).text(1) })
        }
        table.print()
    }

    private func printLateValues(_ touches: [PenRecording]) {
        var delays: [Double] = []
        var never = 0
        for recording in touches {
            var late: Set<Int> = []
            for (time, event) in recording.events {
                guard case .lateForce(let place, _) = event else { continue }
                late.insert(place)
                delays.append(time - (recording.points[place].milliseconds ?? 0))
            }
            never += recording.points.count - late.count
        }
        delays.sort()
        var table = MarkdownTable(
            "Force that comes late",
            ["points", "late", "never", "ms p50", "p99", "most", "ink that differs as estimated, pen"])
        let difference = InkDifference.percent(
            of: touches.map(\.estimated.points), in: touches, style: .pen, width: 6)
        table.add([
            "\(touches.reduce(0) { $0 + $1.points.count })", "\(delays.count)", "\(never)",
            delays.percentile(0.5).text(0),
            delays.percentile(0.99).text(0), (delays.last ?? 0).text(0), "\(difference.text(1)) %",
        ])
        table.print()
    }

    private func printPredictions(_ touches: [PenRecording]) {
        let error = PredictionError(touches)
        var table = MarkdownTable(
            "Where the pen is, board units from where it is shown; \(error.reach.percentile(0.5).text(0)) ms ahead",
            ["shown", "p50", "p90", "most"])
        for (name, values) in [("the last real point", error.without), ("the farthest predicted point", error.with)] {
            table.add([
                name, values.percentile(0.5).text(1), values.percentile(0.9).text(1), (values.last ?? 0).text(1),
            ])
        }
        table.print()
    }

    // MARK: - Classes

    /// What is sent in a class.
    private struct Sending {
        let name: String
        let content: PenContent
        var isWet = true
        var overlap = 0

        static let all = [
            Sending(name: "whole", content: .places60, isWet: false),
            Sending(name: "whole", content: .times, isWet: false),
            Sending(name: "whole", content: .full, isWet: false),
            Sending(name: "wet", content: .places60),
            Sending(name: "wet", content: .times),
            Sending(name: "wet", content: .full),
            Sending(name: "wet, updates sent twice", content: .full, overlap: 1),
        ]
    }

    private func printClasses(_ all: [PenRecording], _ touches: [PenRecording]) {
        let strokes = Array(repeatElement(all, count: rounds).joined())
        print("\nClasses in virtual time: \(strokes.count) strokes each, seed \(seed).")
        var work = MarkdownTable("Processor time in the room, microseconds a point", ["ink", "sent", "without loss"])
        for loss in loss.isEmpty ? [0, 0.01, 0.05] : loss {
            var table = MarkdownTable(
                "Lost: \((loss * 100).text(1)) % of messages",
                [
                    "ink", "sent", "up, B/s", "live, down: JSON, B/s", "gzip", "binary", "live: late, ms p50", "p99",
                    "most", "early, most", "12 s behind: late p99", "early, most",
                ])
            for sending in Sending.all {
                var lesson = StudyClass(
                    strokes, content: sending.content, isProgressive: sending.isWet, loss: loss,
                    overlap: sending.overlap, seed: seed)
                let outcome = lesson.run()
                table.add([sending.name, sending.content.name] + Self.cells(outcome))
                if loss == 0 {
                    let time = outcome.roomTime / .microseconds(1) / Double(outcome.points)
                    work.add([sending.name, sending.content.name, time.text(1)])
                }
            }
            table.print()
        }
        if !work.isEmpty { work.print() }
        if !touches.isEmpty { printAdditions(touches) }
    }

    private static func cells(_ outcome: StudyClass.Outcome) -> [String] {
        let seconds = outcome.penDown / 1000
        let (live, behind) = (StudyClass.cohorts[0].name, StudyClass.cohorts[1].name)
        let down = (outcome.wet[live] ?? EncodedSizes()) + (outcome.operations[live] ?? EncodedSizes())
        let late = outcome.lateness[live] ?? []
        let slow = outcome.lateness[behind] ?? []
        func early(_ values: [Double]) -> String { max(0, -(values.first ?? 0)).text(0) }
        return [outcome.sentUpdates.json + outcome.sentOperations.json, down.json, down.gzip, down.binary].map {
            (Double($0) / seconds).text(0)
        } + [late.percentile(0.5), late.percentile(0.99), late.last ?? 0].map { $0.text(0) }
            + [early(late), slow.percentile(0.99).text(0), early(slow)]
    }

    private func printAdditions(_ touches: [PenRecording]) {
        var table = MarkdownTable(
            "What late force and predictions add to wet ink, bytes a second with the pen down (recorded touch events)",
            ["sent", "up", "at the head, down", "live, down"])
        let drawn = Array(repeatElement(touches, count: rounds).joined())
        for content in [PenContent.times, .estimated, .full, .predicted] {
            var lesson = StudyClass(drawn, content: content, isProgressive: true, loss: 0, seed: seed)
            let outcome = lesson.run()
            let live = outcome.wet[StudyClass.cohorts[0].name]?.json ?? 0
            table.add(
                [content.name]
                    + [outcome.sentUpdates.json, outcome.head, live].map {
                        (Double($0) / outcome.penDown * 1000).text(0)
                    })
        }
        table.print()
    }
}

extension Double {
    fileprivate func text(_ digits: Int) -> String {
        let text = String(format: "%.\(digits)f", self)
        return text.hasPrefix("-") && text.allSatisfy { "-0.".contains($0) } ? String(text.dropFirst()) : text
    }
}
