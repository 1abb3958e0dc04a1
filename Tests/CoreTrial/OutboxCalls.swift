internal import StrokeWire

extension KnownCalls {
    /// A teacher's page where more is drawn while a post is under way, so that operations leave the outbox at its front while
    /// others come at its end.
    package static func outbox() -> [CoreCall] {
        var page = TeacherPage()
        page.write("first")
        for number in 1...40 {
            page.write("under way \(number)")
            page.answer()
            page.write("behind it \(number)")
            page.follow()
        }
        page.answer()
        return page.calls
    }
}

/// It follows the native core, and does what that asks for.
private struct TeacherPage {
    private(set) var calls: [CoreCall] = []
    private var time = 0.0
    private var index = 0
    private var post: (id: Int, numbers: [Int])?

    init() {
        CoreCall.reset()
        tell(0, [.number(1.7e12), .word(1), .word(2), .text("ann"), .text("Ann")])
        tell(1, [.word(1)])
        tell(2, [.word(1), .word(0)])
        tell(6, [.word(0), .word(0)])
        tell(10, [.number(1024), .number(768), .number(0)])
        follow()
    }

    /// Places a text.
    mutating func write(_ text: String) {
        let box: [HostileCalls.Field] = [24, 10, 10, 400, 100].map { .number($0) }
        tell(14, [.number(.nan), .word(11), .word(0)] + box + [.text(text)])
        follow()
    }

    /// The room has applied all of the post that is under way.
    mutating func answer() {
        guard let (id, numbers) = post else { return }
        post = nil
        let results = numbers.map { number in
            index += 1
            return "{\"n\":\(number),\"index\":\(index)}"
        }
        tell(4, [.word(id), .text("{\"results\":[\(results.joined(separator: ","))]}")])
        follow()
    }

    /// Does all that there is to do now. The store keeps what it is given.
    mutating func follow() {
        while true {
            let (step, words) = make(CoreCall(.teacherNext, [time], at: time))
            switch step {
            case 0: return
            case 11: tell(3, [.word(Int(words[0])), .word(1)])
            case 13: post = (Int(words[0]), Self.numbers(of: words))
            default: break
            }
        }
    }

    /// Of the messages in a post: behind three words and the session.
    private static func numbers(of words: [UInt32]) -> [Int] {
        let bytes = words.flatMap { HostileCalls.Field.word(Int($0)).input }
        let body = 4 + (Int(words[3]) + 3) / 4
        return bytes[(4 * body + 4)...].prefix(Int(words[body])).split(separator: UInt8(ascii: "\n"))
            .compactMap { JSONField.number("n", in: Array($0)).map { Int($0) } }
    }

    private mutating func tell(_ number: Double, _ fields: [HostileCalls.Field]) {
        time += 100
        make(CoreCall(.teacher, [number, time], input: fields.flatMap { $0.input }, at: time))
    }

    @discardableResult
    private mutating func make(_ call: CoreCall) -> (result: Double, words: [UInt32]) {
        calls.append(call)
        return call.answer()
    }
}
