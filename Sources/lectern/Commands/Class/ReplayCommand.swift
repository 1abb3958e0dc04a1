import ArgumentParser
import ConnectionOptions
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// `lectern replay`: plays a recorded lesson again.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Play a recorded lesson again, in step with a recording of its video.",
        discussion: """
            The command fetches the lesson of a room from the service's journal, and prints its operations when the recorded video \
            comes to them, one line of JSON each: `index`, `author`, `ref`, the `digest` of the board after it, its gate \
            time `e` in milliseconds of media time, that of its last point `end`, the encoder session `ep`, and the \
            `message`. By default the video is taken to play from the first operation on; --from and --speed change \
            that. --speed 0 prints all at once.

            With --times the command reads the player's media times from standard input, in milliseconds, one a line, in any \
            order. After each, one line has the board then: `v`, the time; `index`, the last operation; its `digest`, the \
            number of `visible` strokes; and the operations that are `new` since the line before, or `"moved":true` \
            where the player went back.

            A student's cohort has the lesson as far as it was released; with --head it goes to the end of the log.

            Exit codes: 0, also after a signal; 1 when there is no such lesson, or the journal no longer holds its \
            beginning; 2 when NATS cannot be reached.

            EXAMPLES
              lectern replay --room lesson-7 --speed 0 > lesson-7.ndjson
              lectern replay --room lesson-7 --from 10m --to 12m --speed 4
              printf '60000\\n5000\\n' | lectern replay --room lesson-7 --times
            """)

    @OptionGroup var room: RoomOptions
    @OptionGroup var connection: ConnectionOptions

    @Option(help: "The cohort whose lesson it is. Default: main.", transform: cohortName)
    var cohort = CohortName.main

    @Flag(help: "Replay to the end of the log, whatever students have seen.")
    var head = false

    @Option(help: "Media time to begin at: 90s, 10m. Default: that of the first operation.", transform: duration)
    var from: Duration?

    @Option(help: "Media time to end at: 90s, 12m. Default: that of the last operation.", transform: duration)
    var to: Duration?

    @Option(help: "Number of the encoder session whose time line is played, 0 to 2^53-1. Default: the last one.")
    var epoch: Int64?

    @Option(help: "Seconds of media time per second, 0.001 to 1000; 0 prints all at once.")
    var speed = 1.0

    @Flag(help: "Read media times in milliseconds from standard input, one a line.")
    var times = false

    @Flag(help: "Print no progress and no summary.")
    var quiet = false

    func validate() throws {
        guard speed == 0 || 0.001...1000 ~= speed else { throw ValidationError("--speed is 0, or 0.001 to 1000") }
        guard 0...(1 << 53 - 1) ~= epoch ?? 0 else { throw ValidationError("--epoch is 0 to 2^53-1") }
        guard from ?? .zero <= to ?? .seconds(1 << 40) else { throw ValidationError("--from comes before --to") }
        guard !times || (from == nil && to == nil) else {
            throw ValidationError("--times takes the place of --from and --to")
        }
    }

    func run() async throws {
        try await connection.run(as: "lectern replay") { nats in
            do {
                try await InterruptHandler().run { try await replay(over: nats) }
            } catch LessonReplay.FetchError.unanswered(.noResponders) {
                throw ExitCode.failed(room.unanswered)
            } catch LessonReplay.FetchError.unanswered(.cancelled) {
                // A signal before the lesson was there: nothing is printed.
            }
        }
    }

    private func replay(over nats: NATSConnection) async throws {
        let isQuiet = quiet || isatty(STDERR_FILENO) == 0
        let lesson = try await LessonReplay.fetch(
            head ? .head : .cohort(cohort), of: room.address, over: nats
        ) { fetched, all in
            if !isQuiet, all > 0 { StandardError.write("\(fetched) of \(all) operations") }
        }
        if let epoch, !lesson.epochs.contains(where: { $0.number == epoch }) {
            let known = lesson.epochs.map { "\($0.number)" }.joined(separator: ", ")
            throw ExitCode.failed("the lesson has no encoder session \(epoch); it has \(known)")
        }
        guard times else { return await play(lesson) }
        // Nothing else wakes who waits for a line. On a thread of its own: on a machine with one core no task would hear of a
        // signal meanwhile.
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                Thread.detachNewThread { [self, lesson] in
                    continuation.resume(with: Result { try followPlayer(lesson) })
                }
            }
        } onCancel: {
            _exit(0)
        }
    }

    /// Prints the operations of the part that is asked for, each when its time has come.
    private func play(_ lesson: LessonReplay) async {
        let begin = from.map { lesson.index(before: MediaTime($0), epoch: epoch) } ?? first(of: lesson)
        let end = max(begin, to.map { lesson.index(before: MediaTime($0) + 1, epoch: epoch) } ?? last(of: lesson))
        let clock = ContinuousClock()
        let start = clock.now
        let origin = from.map { MediaTime($0) } ?? lesson.entries[begin..<end].lazy.compactMap(\.gateTime).first
        var played = 0
        for entry in lesson.entries[begin..<end] {
            if speed > 0, let origin, let time = entry.gateTime {
                try? await Task.sleep(until: start + .microseconds(max(0, time - origin)) / speed, clock: clock)
            }
            if Task.isCancelled { break }
            StandardOutput.write(bytes: line(of: entry).closed)
            played += 1
        }
        if !quiet { StandardError.write("operations: \(played) of \(lesson.entries.count)") }
    }

    private func first(of lesson: LessonReplay) -> Int {
        epoch.flatMap { lesson.index(before: .distantPast, epoch: $0) } ?? 0
    }

    private func last(of lesson: LessonReplay) -> Int {
        epoch.map { lesson.index(before: .distantFuture, epoch: $0) } ?? lesson.entries.count
    }

    private func line(of entry: LessonReplay.Entry) -> JSONLine {
        var line = JSONLine()
        line.add("index", entry.operation.index)
        line.add("author", entry.operation.author.text)
        line.add("page", entry.operation.page)
        if let reference = entry.operation.reference { line.add("ref", reference) }
        if let digest = entry.operation.digest { line.add("digest", digest.description) }
        line.add("ep", entry.epoch)
        line.add("e", json: entry.gateTime.text)
        line.add("end", json: entry.endTime.text)
        line.add("message", json: entry.operation.bytes)
        return line
    }

    /// Moves the cursor to each time that is read.
    private func followPlayer(_ lesson: LessonReplay) throws {
        var lesson = lesson
        while let text = readLine() {
            guard let number = Double(text.trimmingCharacters(in: .whitespaces)),
                let time = MediaTime(milliseconds: number)
            else {
                throw ExitCode.failed("not a media time in milliseconds: \(text.prefix(80))")
            }
            let before = lesson.board.index
            lesson.move(to: lesson.index(before: time, epoch: epoch))
            var line = JSONLine()
            line.add("v", json: MediaTime?.some(time).text)
            line.add("index", lesson.board.index)
            line.add("digest", lesson.board.digest.description)
            line.add("visible", lesson.board.visible.count)
            if lesson.board.index < before {
                line.add("moved", true)
            } else {
                line.add("new", lesson.board.index - before)
            }
            StandardOutput.write(bytes: line.closed)
        }
    }
}

extension MediaTime {
    fileprivate init(_ duration: Duration) {
        self.init(microseconds: Int64(clamping: Int64(duration / .microseconds(1))))
    }
}

extension MediaTime? {
    /// Milliseconds as JSON, or null.
    fileprivate var text: [UInt8] {
        guard let self else { return Array("null".utf8) }
        return Array(
            (self.microseconds.isMultiple(of: 1000)
                ? "\(self.microseconds / 1000)" : "\(Double(self.microseconds) / 1000)").utf8)
    }
}
