internal import ClientCore
internal import StrokeWire
internal import TestSupport
internal import Whiteboard

/// Calls of the core as pages make them where service, gateway, other clients and the page's own numbers are hostile.
///
/// Half of what comes is right, so that the core gets far; the rest is changed in bytes or in numbers, or made up.
package struct HostileCalls {
    var random: TestSupport.SeededGenerator
    var room: RandomRoom
    /// Index of the operation that was sent last.
    private var sent: UInt64 = 0
    private var followsMade = false
    var now = 0.0
    var calls: [CoreCall] = []

    package init(seed: UInt64) {
        random = TestSupport.SeededGenerator(seed: seed)
        room = RandomRoom(RandomRoom.history(seed), seed: seed)
    }

    /// The calls of a student's page.
    package mutating func student(_ count: Int) -> [CoreCall] {
        calls = []
        for _ in 0..<100 { room.act() }
        call(.studentBegin, [flag(), flag(), pick([30_000, 0, -1, .nan, .infinity, 1e300])])
        call(.studentResize, [Double(random.int(1...300))])
        board(room.replyBytes())
        while calls.count < count {
            now += Double(random.int(0...60))
            switch random.int(0...99) {
            case 0..<35: operation()
            case 35..<40: joined()
            case 40..<55: receive(2, wet())
            case 55..<62: receive(3, mark())
            case 62..<68: call(.studentLook, [player()])
            case 68..<78: call(.studentGrow, [player()])
            case 78: call(.studentView, [pick([-1, 0, 1, 2, 3, 999, 1000, 2_147_483_647, -2_147_483_648])])
            case 79:
                let place = numbers([number(), number()])
                call(
                    .studentPoint,
                    input: changed(
                        word(random.int(0...1)) + place + word(1) + numbers([number()]) + word(3) + "ann".utf8))
            case 80: random.chance(1, in: 2) ? call(.studentResize, [pick([0, 1, 7, 200, 333, -1])]) : view()
            case 81: call(.studentBegin, [flag(), flag(), 30_000])
            case 82: call(.studentOwnSession, input: Array(pick(["", "s", "\u{0}"]).utf8))
            case 83..<93: touchPicture()
            default: draw()
            }
        }
        return calls
    }

    /// The calls of a page that plays a recorded lesson.
    package mutating func replay(_ count: Int) -> [CoreCall] {
        calls = []
        beginReplay()
        var parts: ArraySlice<[UInt8]> = []
        while calls.count < count {
            now += Double(random.int(0...60))
            switch random.int(0...99) {
            case 0..<20:
                if parts.isEmpty { parts = recorded()[...] }
                reply(parts.popFirst() ?? [])
            case 20..<30: call(.replayRequest)
            case 30..<65: call(.replayLook, [player()])
            case 65..<75: call(.replayAdd, [pick([0, 5, -1, .nan, .infinity])])
            case 75: random.chance(1, in: 3) ? beginReplay() : call(.replayRestart, input: Array("gone".utf8))
            case 76: call(.replayEpoch, [pick([0, 1, -1, .nan, 1e300]), player()])
            case 77: call(.replayResize, [pick([0, 1, 7, 200, 333, -1])])
            case 78..<88: touchPicture()
            default: draw()
            }
        }
        return calls
    }

    private mutating func beginReplay() {
        call(.replayBegin, [flag(), pick([1e6, 1e6, 1e6, 3000, 0, .nan, .infinity]), pick([.nan, .nan, 0, 1])])
        call(.replayResize, [Double(random.int(1...300))])
    }

    /// The replies of a service that has recorded the room so far.
    private mutating func recorded() -> [[UInt8]] {
        for _ in 0..<100 { room.act() }
        return (try? room.lesson(limit: random.int(5...200))) ?? []
    }

    private mutating func reply(_ part: [UInt8]) {
        call(.replayRequest)
        call(.replayReceive, input: random.chance(1, in: 2) ? part : changed(part))
        for _ in 0..<random.int(0...3) { call(.replayAdd, [pick([0, 0, 5, .infinity])]) }
    }

    /// The calls of a page that shows entries itself.
    package mutating func picture(_ count: Int) -> [CoreCall] {
        calls = []
        call(.show, [1024, 768, 256], input: [6] + Array("smooth".utf8) + word(2) + word(0) + word(0xff_ff_ff))
        while calls.count < count {
            switch random.int(0...20) {
            case 0 where random.chance(1, in: 4): show()
            case 1..<8: call(.insert, [index()], input: message())
            case 8: call(.remove, [index()])
            case 9..<15, 17..<20: touchPicture()
            case 15 where random.chance(1, in: 3): view()
            case 16: random.chance(1, in: 5) ? call(.presentAll) : call(.measure, [pick([0, 1, 2, 3, number()])])
            default: draw()
            }
        }
        return calls
    }

    /// The calls of a teacher's page.
    package mutating func teacher(_ count: Int) -> [CoreCall] {
        calls = []
        tell(0, [.number(1.7e12), .word(1), .word(2), .text("ann"), .text("Ann")])
        tell(1, [.word(1)])
        tell(2, [.word(1), .word(1)])
        tell(10, [.number(1024), .number(768), .number(0)])
        while calls.count < count {
            now += Double(random.int(0...300))
            switch random.int(0...19) {
            case 0..<8: pen()
            case 8..<13: call(.teacherNext, [time()])
            case 13: call(.teacherLive)
            default: tellAnything()
            }
        }
        return calls
    }
}

// MARK: - Numbers and bytes

extension HostileCalls {
    mutating func view() {
        let side: [Double] = [0, 1, 100, 257, -1, 2_147_483_647]
        call(.view, [number(), number(), pick(side), pick(side), pick([0.01, 0.25, 1, 16, 1024, number()]), flag()])
    }

    mutating func pick<Value>(_ values: [Value]) -> Value { random.pick(values) }

    mutating func flag() -> Double { Double(random.int(0...1)) }

    mutating func call(_ function: CoreCall.Function, _ numbers: [Double] = [], input: [UInt8] = []) {
        calls.append(CoreCall(function, numbers, input: input, at: now))
    }

    /// Any number that a page may pass.
    mutating func number() -> Double {
        random.chance(1, in: 2)
            ? Double(random.int(-200...1200))
            : pick([
                0, -0.0, 0.5, .leastNonzeroMagnitude, 1e-9, 65_535, 65_536, 0x1p31, 0x1p31 - 1, -0x1p31, 0x1p32, 0x1p53,
                -0x1p53, 0x1p63,
                1e12, 1e15, 1e38, 1e300, -1e300, .greatestFiniteMagnitude, .infinity, -.infinity, .nan,
            ])
    }

    mutating func time() -> Double { random.chance(9, in: 10) ? now : number() }

    mutating func player() -> Double {
        pick([.nan, 0, now * 10, now, -5, 0x1p50, 0x1p53, -0x1p53, .infinity, -.infinity, 1e300])
    }

    mutating func index() -> Double { random.chance(4, in: 5) ? Double(random.int(0...40)) : number() }

    /// A number as messages have them.
    mutating func text(_ common: ClosedRange<Int>) -> String {
        if random.chance(7, in: 8) { return "\(random.int(common))" }
        return pick([
            "0", "-1", "0.5", "1e-320", "-0", "65535", "65536", "2147483647", "2147483648", "-2147483648", "4294967295",
            "4294967296", "9007199254740991", "9007199254740992", "9223372036854775807", "18446744073709551615", "1e12",
            "1e15", "1e38", "1e300", "-1e300", "1.7976931348623157e308", "999", "1000", "\(random.int(-2000...2000))",
        ])
    }

    func numbers(_ values: [Double]) -> [UInt8] { values.flatMap { Field.number($0).input } }

    func word(_ value: Int) -> [UInt8] { Field.word(value).input }

    /// Often as it is; else with other bytes, other numbers, a part missing or twice.
    package mutating func changed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        guard random.chance(1, in: 3), !bytes.isEmpty else { return bytes }
        switch random.int(0...4) {
        case 0:
            for _ in 0..<random.int(1...4) { bytes[random.int(0..<bytes.count)] = UInt8(random.int(0...255)) }
        case 1: bytes.removeLast(random.int(0..<bytes.count))
        case 2:
            let first = random.int(0..<bytes.count)
            let part = bytes[first..<min(first + random.int(0...40), bytes.count)]
            bytes.insert(contentsOf: part, at: random.int(0...bytes.count))
        default:
            for _ in 0..<random.int(1...3) { changeNumber(&bytes) }
        }
        return bytes
    }

    private mutating func changeNumber(_ bytes: inout [UInt8]) {
        func isPart(_ byte: UInt8) -> Bool { byte == 0x2d || byte == 0x2e || (0x30...0x39).contains(byte) }
        guard !bytes.isEmpty, let first = bytes[random.int(0..<bytes.count)...].firstIndex(where: isPart) else {
            return
        }
        let end = bytes[first...].firstIndex { !isPart($0) } ?? bytes.count
        bytes.replaceSubrange(first..<end, with: text(0...9).utf8)
    }
}

// MARK: - What a service sends

extension HostileCalls {
    private mutating func receive(_ kind: Double, _ data: [UInt8]) {
        call(.studentReceive, [kind, player()], input: changed(data))
    }

    private mutating func board(_ data: [UInt8]) {
        call(.studentReceive, [0, player()], input: data)
        (sent, followsMade) = (UInt64(room.operations.count), false)
    }

    private mutating func joined() {
        switch random.int(0...3) {
        case 0: board(room.replyBytes())
        case 1:
            // The same, from a service that goes on as it likes.
            board(room.replyBytes())
            followsMade = true
        case 2: receive(0, room.replyBytes())
        default:
            receive(0, Array(madeBoard().utf8))
            (sent, followsMade) = (0, true)
        }
    }

    private mutating func madeBoard() -> String {
        let strokes = (0..<random.int(0...4)).map { place in
            "{\"index\":\(text(place + 1...place + 1)),\"author\":\"ann\",\"message\":\(madeMessage())}"
        }
        let colours = pick(["[\"#000000\",\"#ffffff\"]", "[]", "\"rgb\"", "[\"#000000\",\"#fffffff\"]"])
        return """
            {"room":"r","index":\(text(4...4)),"digest":"0000000000000000","palette":\(colours),"style":"\(pick(KnownCalls.styles + ["x"]))",\
            \(pick(["", "\"features\":[\"rgb\",\"undoable-clear\",\"x\"],"]))"board":{"w":\(text(1...1024)),"h":\(text(1...1024))},"visible":[\(strokes.joined(separator: ","))],"redo":[]}
            """
    }

    private mutating func operation() {
        if followsMade || random.chance(1, in: 10) {
            let reference = random.chance(1, in: 3) ? ",\"ref\":\(text(0...Int(clamping: sent)))" : ""
            let page = random.chance(1, in: 3) ? ",\"page\":\(text(0...3))" : ""
            let late = random.chance(1, in: 5) ? ",\"late\":true" : ""
            let index = random.chance(19, in: 20) ? "\(sent + 1)" : text(0...9)
            sent += 1
            let event =
                "{\"index\":\(index),\"author\":\"\(author())\"\(reference)\(page)\(late),\"message\":\(madeMessage())}"
            call(.studentReceive, [1, player()], input: Array(event.utf8))
            return
        }
        while room.operations.count <= Int(sent) { room.act() }
        let operation = room.operations[Int(sent)]
        if random.chance(1, in: 12) { return receive(1, GatewayEvent.operation(operation)) }
        sent += 1
        call(.studentReceive, [1, player()], input: GatewayEvent.operation(operation))
    }

    private mutating func author() -> String { pick(["ann", "ben", "cleo", "\(random.int(0...2000))", "ü"]) }

    mutating func points(_ count: ClosedRange<Int>) -> String {
        var time = 0
        let points = (0..<random.int(count)).map { _ in
            time += random.int(0...30)
            var keys = "\"x\":\(text(0...1024)),\"y\":\(text(0...768))"
            if random.chance(1, in: 2) { keys += ",\"m\":\(text(time...time))" }
            if random.chance(1, in: 2) { keys += ",\"f\":\(pick(["0", "1", "0.5", "0.001", text(0...1)]))" }
            if random.chance(1, in: 3) { keys += ",\"i\":\(text(0...1)),\"z\":\(text(-3...3))" }
            return "{\(keys)}"
        }
        return "[\(points.joined(separator: ","))]"
    }

    mutating func madeMessage() -> String {
        var keys = ["\"n\":\(text(0...99))"]
        if random.chance(1, in: 3) { keys.append("\"g\":\(text(0...3))") }
        if random.chance(1, in: 3) { keys.append("\"t\":\(text(0...90_000))") }
        if random.chance(1, in: 6) { keys.append("\"w\":\(text(1...2048)),\"h\":\(text(1...2048))") }
        if random.chance(1, in: 9) { keys.append("\"by\":\"\(author())\"") }
        if random.chance(1, in: 9) { keys.append("\"s\":\(text(0...3)),\"o\":\(text(0...2))") }
        switch random.int(0...24) {
        case 0...2: keys.append("\"a\":2")
        case 3: keys.append("\"a\":3")
        case 4: keys.append("\"a\":4")
        case 5: keys.append("\"a\":5")
        case 6: keys.append("\"a\":6,\"v\":[\(text(0...0)),\(text(1...1)),\(text(2...3))]")
        case 7:
            keys.append("\"a\":\(text(0...9))")
        case 8, 9:
            let asset = String(repeating: "0123456789abcde\(random.int(0...9))", count: 4)
            keys.append("\"e\":5,\"i\":\"\(asset)\",\"p\":\(text(0...3)),\"d\":\(points(2...2))")
        case 10...12:
            let map = (0..<6).map { _ in pick(["1", "0", "-1", "0.5", text(-40...40)]) }
            keys.append(
                "\"e\":6,\"m\":[\(map.joined(separator: ","))],\"k\":\(random.int(0...1)),\"d\":\(points(3...9))")
        case 13: keys.append("\"a\":7,\"p\":\(text(0...4)),\"l\":\(text(8...64))")
        case 14:
            let asset = String(repeating: "0123456789abcde\(random.int(0...9))", count: 4)
            keys.append("\"a\":7,\"i\":\"\(asset)\",\"p\":\(text(0...3)),\"k\":\(text(0...3)),\"d\":\(points(2...2))")
        case 15: keys.append("\"a\":8,\"v\":[\(text(1...20)),\(text(21...40))]")
        case 16:
            let words = pick(["a", "zwei\\nZeilen", "<&>", "שלום", "\\ud800", ""])
            keys.append("\"e\":8,\"c\":\(text(0...1)),\"l\":\(text(4...64)),\"x\":\"\(words)\",\"d\":\(points(2...2))")
        default:
            keys.append(
                "\"c\":\(text(0...1)),\"l\":\(pick(["1", "3", "40", text(1...9)])),\"e\":\(pick(["7", "9", "10", text(0...4)])),\"d\":\(points(0...30))"
            )
        }
        return "{\(keys.joined(separator: ","))}"
    }

    private mutating func wet() -> [UInt8] {
        let name = pick(["ann", "ann", "ben", author()])
        let session = pick(["", ",\"session\":\"s\"", ",\"session\":\"\(random.int(0...200))\""])
        let index = random.chance(1, in: 5) ? ",\"index\":\(text(0...Int(clamping: sent + 3)))" : ""
        if random.chance(1, in: 8) {
            return Array("{\"author\":\"\(name)\"\(session),\"n\":\(text(0...9)),\"x\":true}".utf8)
        }
        let style = pick([
            "\"c\":1,\"l\":3,\"e\":0", "\"c\":1,\"l\":3,\"e\":7", "\"c\":1,\"l\":3,\"e\":\(random.int(9...10))",
            "\"c\":\(text(0...9)),\"l\":\(text(1...20)),\"e\":\(text(0...10))",
        ])
        let time = random.chance(2, in: 3) ? ",\"t\":\(text(0...Int(clamping: Int64(now * 10))))" : ""
        let board = random.chance(1, in: 4) ? ",\"w\":\(text(1...2048)),\"h\":\(text(1...2048))" : ""
        let predicted = random.chance(1, in: 3) ? ",\"p\":\(points(0...3))" : ""
        return Array(
            """
            {"author":"\(name)"\(session),"n":\(text(0...9)),"k":\(text(0...6)),"page":\(text(0...1)),\(style)\(time)\(board)\(index),\
            "d":\(points(0...6))\(predicted)}
            """.utf8)
    }

    private mutating func mark() -> [UInt8] {
        let number = text(0...Int(clamping: sent))
        let room = pick(["life-1", "life-1", "", "r", "other"])
        return Array(
            """
            {"room":"\(room)","index":\(number),"digest":"\(random.chance(1, in: 6) ? "0123456789abcdef" : "0000000000000000")",\
            "video":\(text(0...Int(clamping: Int64(now * 10)))),"gate":"\(pick(["open", "video", "x"]))",\
            "covered":{"n":\(text(0...9)),"session":"s","author":"ann"}}
            """.utf8)
    }
}
