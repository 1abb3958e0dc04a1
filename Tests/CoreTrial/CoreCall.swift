import CWebShims
import WebCore
import WebTeacher

/// A call of a function of the core: the same ones go to the native one and to the one in WebAssembly.
package struct CoreCall: Sendable {
    package enum Function: String, Sendable, CaseIterable {
        case show, insert, remove, showLive, draw, nextBox, presentAll, measure, view
        case neededImages, setImage, strokeAt, select, selection, find, isRightToLeft, lift
        case studentBegin, studentReceive, studentLook, studentGrow, studentView, studentResize, studentOwnSession
        case studentPoint
        case replayBegin, replayRequest, replayReceive, replayAdd, replayRestart, replayLook, replayEpoch, replayResize
        case teacher, teacherNext, teacherLive, pen

        /// Where the number of bytes stands among the numbers; nil where the function reads none.
        fileprivate var sizePlace: Int? {
            switch self {
            case .show: 3
            case .insert, .studentReceive, .lift: 1
            case .showLive, .select, .isRightToLeft, .studentOwnSession, .studentPoint, .replayReceive, .replayRestart:
                0
            case .setImage: 3
            case .teacher: 2
            case .pen: 5
            default: nil
            }
        }
    }

    package let function: Function
    /// As JavaScript passes them, with the size of the input.
    package let numbers: [Double]
    package let input: [UInt8]
    /// Of the page, in milliseconds.
    package let time: Double

    package init(_ function: Function, _ numbers: [Double] = [], input: [UInt8] = [], at time: Double = 0) {
        var numbers = numbers
        if let place = function.sizePlace { numbers.insert(Double(input.count), at: place) }
        (self.function, self.numbers, self.input, self.time) = (function, numbers, input, time)
    }

    /// The core of this process as a page's is that was just loaded. There is one: tests that use it run one after another.
    package static func reset() {
        resetCore()
        resetTeacher()
    }

    /// Calls the native function.
    /// - Returns: a hash of what it returns and of the words at `output`.
    package func run() -> UInt32 {
        let (result, words) = answer()
        let all = [UInt32(truncatingIfNeeded: result.bitPattern), UInt32(truncatingIfNeeded: result.bitPattern >> 32)]
        return (all + words).reduce(0x811c_9dc5) { ($0 ^ $1) &* 0x0100_0193 }
    }

    /// Calls the native function.
    /// - Returns: what it returns, and the words at `output`.
    func answer() -> (result: Double, words: [UInt32]) {
        set_page_time(time)
        if !input.isEmpty { WebCore.input(Int32(input.count))?.copyMemory(from: input, byteCount: input.count) }
        let result = invoke()
        let words = UnsafeRawBufferPointer(start: output(), count: Int(outputSize()))
        return (
            result,
            stride(from: 0, to: words.count, by: 4).map { words.loadUnaligned(fromByteOffset: $0, as: UInt32.self) }
        )
    }

    /// As JavaScript converts a number to an integer of 32 bits; those beyond wrap.
    private func integer(_ place: Int) -> Int32 {
        let number = numbers[place]
        return number.isFinite ? Int32(truncatingIfNeeded: Int64(number.truncatingRemainder(dividingBy: 0x1p32))) : 0
    }

    private func invoke() -> Double {
        switch function {
        case .show: show(numbers[0], numbers[1], integer(2), integer(3))
        case .insert: insert(numbers[0], integer(1))
        case .remove: remove(numbers[0])
        case .showLive: showLive(integer(0))
        case .draw: return Double(draw(numbers[0]))
        case .nextBox: return Double(nextBox())
        case .presentAll: presentAll()
        case .measure: return measure(integer(0))
        case .view: view(integer(0), integer(1), integer(2), integer(3), numbers[4], integer(5))
        case .neededImages: return Double(neededImages())
        case .setImage: setImage(integer(0), integer(1), integer(2), integer(3))
        case .select: return Double(select(integer(0)))
        case .selection:
            return Double(selection(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]))
        case .strokeAt: return Double(strokeAt(numbers[0], numbers[1], numbers[2]))
        case .find: return Double(find(integer(0), numbers[1], numbers[2]))
        case .isRightToLeft: return Double(isRightToLeft(integer(0)))
        case .lift: return Double(lift(numbers[0], integer(1)))
        case .studentBegin: studentBegin(integer(0), integer(1), numbers[2])
        case .studentReceive: studentReceive(integer(0), integer(1), numbers[2])
        case .studentLook: studentLook(numbers[0])
        case .studentGrow: studentGrow(numbers[0])
        case .studentView: studentView(integer(0))
        case .studentResize: studentResize(integer(0))
        case .studentOwnSession: studentOwnSession(integer(0))
        case .studentPoint: studentPoint(integer(0))
        case .replayBegin: replayBegin(integer(0), numbers[1], numbers[2])
        case .replayRequest: return Double(replayRequest())
        case .replayReceive: replayReceive(integer(0))
        case .replayAdd: replayAdd(numbers[0])
        case .replayRestart: replayRestart(integer(0))
        case .replayLook: replayLook(numbers[0])
        case .replayEpoch: replayEpoch(numbers[0], numbers[1])
        case .replayResize: replayResize(integer(0))
        case .teacher: return Double(tellTeacher(integer(0), numbers[1], integer(2)))
        case .teacherNext: return Double(teacherNext(numbers[0]))
        case .teacherLive: teacherLive()
        case .pen:
            return Double(movePen(integer(0), integer(1), integer(2), integer(3), numbers[4], integer(5)))
        }
        return 0
    }
}
