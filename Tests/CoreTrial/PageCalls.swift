internal import TestSupport

// What a page does.

extension HostileCalls {
    /// A call that pages make of a picture, whoever has its entries: selections, live entries, images, what a lasso lifts.
    mutating func touchPicture() {
        switch random.int(0...10) {
        case 0..<2: call(.showLive, input: entries(random.int(0...5)))
        case 2: call(.select, input: path())
        case 3: call(.selection, (0..<6).map { _ in pick([0, 1, 1, number()]) })
        case 4: call(.find, [Double(random.int(0...3)), number(), number()])
        case 5: image()
        case 6: call(.neededImages)
        case 7: call(.lift, [pick([20, 300, number()])], input: path())
        case 8: call(.isRightToLeft, input: changed(Array(pick(["a", "1. שלום", "٣ x", ""]).utf8)))
        case 9: call(.strokeAt, [number(), number(), pick([8, number()])])
        default: call(.lift, [pick([-1, -2, -3])], input: numbers((0..<random.int(0...9)).map { _ in index() }))
        }
    }

    private mutating func path() -> [UInt8] { numbers((0..<2 * random.int(0...9)).map { _ in number() }) }

    mutating func draw() {
        call(.draw, [pick([0, 5, 5, -1, .nan, .infinity])])
        if random.chance(1, in: 3) { call(.nextBox) }
    }

    mutating func message() -> [UInt8] {
        let text = madeMessage()
        return changed(Array(text.utf8))
    }

    private mutating func entries(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<count {
            let content = random.chance(1, in: 4) ? [] : message()
            let length = random.chance(1, in: 30) ? random.int(-5...1000) : content.count
            bytes += numbers([index()]) + word(length) + content
        }
        return bytes
    }

    mutating func show() {
        let style = Array(pick(KnownCalls.styles + ["", "x"]).utf8)
        let colours: [Int] = pick([[], [0, 0xff_ff_ff], [0x12_34_56]])
        var input: [UInt8] = [UInt8(style.count)] + style
        input += word(random.chance(1, in: 9) ? 1 << 30 : colours.count)
        for colour in colours { input += word(colour) }
        input += entries(random.int(0...6))
        call(
            .show,
            [
                pick([1024, 1, number()]), pick([768, 1, number()]),
                pick([100, 256, 0, -1, random.chance(1, in: 50) ? 2_147_483_647 : 1]),
            ],
            input: input)
    }

    private mutating func image() {
        let asset = Array(String(repeating: "0123456789abcde\(random.int(0...9))", count: 4).utf8)
        let (width, height) = (random.int(0...9), random.int(0...9))
        let pixels = (0..<max(0, 4 * width * height + pick([0, 0, 0, -1, 4]))).map { _ in UInt8(random.int(0...255)) }
        call(
            .setImage,
            [
                pick([0, 1, 2, -1, -2, -3, 2_147_483_647, -2_147_483_648]),
                pick([Double(width), Double(width), -1, 65_536, 2_147_483_647, -2_147_483_648]),
                pick([Double(height), Double(height), -1, 65_536, 2_147_483_647]),
            ], input: changed(asset + pixels))
    }

    enum Field {
        case word(Int)
        case number(Double)
        case text(String)
        case bytes([UInt8])
        case raw([UInt8])

        var input: [UInt8] {
            switch self {
            case .word(let value): (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            case .number(let value): (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> UInt64(8 * $0)) }
            case .text(let text): Field.bytes(Array(text.utf8)).input
            case .bytes(let bytes): Field.word(bytes.count).input + bytes
            case .raw(let bytes): bytes
            }
        }
    }

    mutating func tell(_ number: Double, _ fields: [Field]) {
        let input = fields.flatMap { $0.input }
        let sent = random.chance(1, in: 12) ? changed(input) : input
        let time = time()
        call(.teacher, [number, time], input: sent)
    }

    mutating func tellAnything() {
        func bit() -> Field { .word(random.chance(9, in: 10) ? random.int(0...1) : random.int(-9...9)) }
        let id = Field.word(random.int(0...max(1, calls.count / 20)))
        let place = { (self: inout Self) in Field.number(self.number()) }
        switch random.int(0...19) {
        case 0: tell(1, [bit()])
        case 1:
            let records = (0..<random.int(0...3)).flatMap { _ -> [Field] in
                [
                    .text(pick(["s", "", "t"])), .number(index()),
                    .bytes(changed(Array("{\"n\":1,\"d\":\(points(0...3))}".utf8))),
                ]
            }
            tell(2, [bit(), bit()] + records)
        case 2, 3: tell(3, [id, bit()])
        case 4, 5:
            let results = (0..<random.int(0...3)).map { number -> String in
                "{\"n\":\(text(number...number)),\(pick(["\"index\":\(text(0...99))", "\"error\":{\"code\":\"x\",\"message\":\"y\"}", "\"status\":\"held\"", "\"status\":\(text(0...9))"]))}"
            }
            tell(4, [id, .bytes(changed(Array("{\"results\":[\(results.joined(separator: ","))]}".utf8)))])
        case 6:
            tell(
                5,
                [
                    id, .word(pick([0, 400, 401, 403, 409, 413, 429, 500, 503, -1])), place(&self),
                    .text(pick(["", "superseded", "muted", "x"])), .text("why"),
                ])
        case 7: tell(6, [.word(random.int(0...3)), .word(random.int(0...3))])
        case 8: tell(7, [])
        case 9: tell(8, [bit()])
        case 10: tell(9, [.text(pick(["life-1", "", "x"]))])
        case 11: tell(10, [place(&self), place(&self), place(&self)])
        case 12:
            let order = (0..<random.int(0...4)).map { _ in Field.word(random.chance(1, in: 9) ? -1 : random.int(0...5))
            }
            tell(
                11,
                [.word(random.int(0...3)), .word(order.count)] + order + [.word(random.int(0...2)), .word(7), .word(8)])
        case 13: tell(12, [.bytes(message())])
        case 14: tell(13, [place(&self), .text(pick(["s", ""]))])
        case 15...17:
            tell(14, [place(&self), .word(random.int(0...13))] + (0..<random.int(0...20)).map { _ in place(&self) })
        case 18:
            tell(15, [bit(), .word(pick([3, 9, -1, 1 << 30]))] + (0..<random.int(0...9)).map { _ in place(&self) })
        default: tell(pick([16, 17, 18, 19, -1]), [bit()])
        }
    }

    mutating func pen() {
        let phase: Double = pick([0, 1, 1, 1, 1, 1, 2, 3, 4, 4, 9, -1])
        var values = (0..<random.int(0...3)).flatMap { _ in
            [
                number(), number(), time(), pick([0.5, .nan, number()]), pick([.nan, number()]),
                pick([.nan, number()]),
            ]
        }
        if phase == 0 || phase == 4 && random.chance(3, in: 4) {
            values =
                Array(values.prefix(6)) + [
                    number(), pick([0, 0, 1, 2, 7, 7, number()]), pick([0, 3, number()]), pick([3, 1, number()]),
                ]
        }
        let id: Double = pick([1, 1, 1, 2, 0, -1, 2_147_483_647])
        call(
            .pen, [phase, id, Double(random.int(0...3)), pick([1, 1, 0, 2, 4, 5, -1, 2_147_483_647]), time()],
            input: numbers(values))
    }
}
