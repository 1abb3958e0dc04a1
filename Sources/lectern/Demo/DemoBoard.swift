import Foundation
import LecternClient
import NIOConcurrencyHelpers

/// What the demonstration knows so far, put together from its parts.
final class DemoBoard: Sendable {
    struct State: Sendable {
        /// Nil before the teacher has begun.
        var teacher: TeacherReport?
        var isTeacherDone = false
        var released: UInt64 = 0
        var skew: SkewGauge
        var problems: [String] = []
        var logged: UInt64 = 0
        var held = 0
    }

    private let box: NIOLockedValueBox<State>

    init(skew: SkewGauge) {
        box = NIOLockedValueBox(State(skew: skew))
    }

    var state: State { box.withLockedValue { $0 } }

    func update(_ change: (inout State) -> Void) {
        box.withLockedValue { change(&$0) }
    }
}

extension DemoBoard.State {
    /// Whether the teacher is done and the student has seen everything.
    var isComplete: Bool {
        guard isTeacherDone, let teacher else { return false }
        return released >= teacher.lastIndex
    }

    /// The live status in one line.
    func line(elapsed: Duration) -> String {
        func milliseconds(_ share: Double) -> String {
            skew.quantile(share).map { String(format: "%.1f ms", $0) } ?? "–"
        }
        let seconds = elapsed.components.seconds
        let time = "\(seconds / 60):" + (seconds % 60 < 10 ? "0" : "") + "\(seconds % 60)"
        // The service's word is older than the student's.
        let logged = max(logged, released)
        return
            "\(time)  messages sent \(teacher?.published ?? 0)  operations logged \(logged)  held \(held)  "
            + "released \(released)  lateness p50 \(milliseconds(0.5))  p99 \(milliseconds(0.99))"
    }
}
