import StrokeWire
import TestSupport
import Testing

@Suite struct `A clock sample` {
    private func fault(_ text: String) -> Fault? {
        Fault.found { () throws(Rejection) in _ = try ClockSample(decoding: Array(text.utf8)) }
    }

    @Test func `needs nothing but the media time, and is written without its defaults`() throws {
        let sample = try ClockSample(decoding: Array(#"{"m":10000}"#.utf8))
        #expect(sample == ClockSample(media: MediaTime(milliseconds: 10_000)))
        #expect(sample.rate == 1000 && sample.state == .play && sample.stream.isEmpty && !sample.isDiscontinuity)
        #expect(sample.number == nil && sample.epoch == nil && sample.wrapBits == nil)
        #expect(sample.encoded().text == #"{"m":10000}"#)
    }

    @Test func `hands out every field`() throws {
        let text =
            #"{"a":6000.25,"w":1e12,"b":33,"d":true,"st":"cam \"1\" é😀","s":"stall","r":500,"ep":3,"q":-7,"m":1.5,"?":[{}]}"#
        #expect(
            try ClockSample(decoding: Array(text.utf8))
                == ClockSample(
                    media: MediaTime(microseconds: 1500), number: -7, epoch: 3, rate: 500, state: .stall,
                    stream: "cam \"1\" é😀", isDiscontinuity: true, wrapBits: 33, wallTime: 1e12,
                    age: 6_000_250))
    }

    @Test(arguments: [
        (#"{}"#, Fault(.missingField, "m")), (#"{"m":null}"#, Fault(.wrongType, "m")),
        (#"{"m":"1"}"#, Fault(.wrongType, "m")), (#"{"m":1e999}"#, Fault(.outOfRange, "m")),
        (#"{"m":9007199254740994}"#, Fault(.outOfRange, "m")), (#"{"m":-1e17}"#, Fault(.outOfRange, "m")),
        (#"{"m":1,"q":0.5}"#, Fault(.wrongType, "q")), (#"{"m":1,"q":9007199254740993}"#, Fault(.outOfRange, "q")),
        (#"{"m":1,"q":null}"#, Fault(.wrongType, "q")), (#"{"m":1,"ep":-1}"#, Fault(.outOfRange, "ep")),
        (#"{"m":1,"ep":9007199254740992}"#, Fault(.outOfRange, "ep")), (#"{"m":1,"ep":true}"#, Fault(.wrongType, "ep")),
        (#"{"m":1,"r":-1}"#, Fault(.outOfRange, "r")), (#"{"m":1,"r":2001}"#, Fault(.outOfRange, "r")),
        (#"{"m":1,"r":1.5}"#, Fault(.wrongType, "r")), (#"{"m":1,"s":"stop"}"#, Fault(.outOfRange, "s")),
        (#"{"m":1,"s":1}"#, Fault(.wrongType, "s")), (#"{"m":1,"st":7}"#, Fault(.wrongType, "st")),
        (#"{"m":1,"st":"\#(String(repeating: "é", count: 33))"}"#, Fault(.outOfRange, "st")),
        (#"{"m":1,"d":1}"#, Fault(.wrongType, "d")), (#"{"m":1,"b":31}"#, Fault(.outOfRange, "b")),
        (#"{"m":1,"b":34}"#, Fault(.outOfRange, "b")), (#"{"m":1,"b":"32"}"#, Fault(.wrongType, "b")),
        (#"{"m":1,"a":-1}"#, Fault(.outOfRange, "a")), (#"{"m":1,"a":600000.1}"#, Fault(.outOfRange, "a")),
        (#"{"m":1,"a":"6"}"#, Fault(.wrongType, "a")),
        (#"{"m":1,"w":"now"}"#, Fault(.wrongType, "w")), (#"{"m":1,"w":1e999}"#, Fault(.outOfRange, "w")),
        (#"{"m":1"#, Fault(.notJSON)), (#"[1]"#, Fault(.wrongType)), ("", Fault(.notJSON)),
        (#"{"m":1,"k":"\#(String(repeating: "k", count: 5000))"}"#, Fault(.tooLarge)),
    ])
    func `is rejected for its fault`(text: String, fault: Fault) {
        #expect(self.fault(text) == fault)
    }

    @Test func `may be at the ends of its ranges`() {
        for text in [
            #"{"m":9007199254740992,"q":9007199254740992,"ep":9007199254740991,"r":2000,"b":32,"a":600000}"#,
            #"{"m":-9007199254740992,"q":-9007199254740992,"ep":0,"r":0,"b":33}"#,
            #"{"m":0,"st":"\#(String(repeating: "é", count: 32))"}"#,
        ] {
            #expect(fault(text) == nil)
        }
    }

    @Test func `survives writing and reading`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<3000 {
            let sample = ClockSample(
                media: MediaTime(microseconds: .random(in: -9_000_000_000_000...9_000_000_000_000, using: &random)),
                number: random.pick([nil, 0, -(1 << 53), 1 << 53]), epoch: random.pick([nil, 0, 99]),
                rate: .random(in: 0...2000, using: &random), state: random.pick(ClockSample.State.allCases),
                stream: random.pick(["", "a", "\"\\\n\u{1f}é\u{2028}😀"]), isDiscontinuity: random.chance(1, in: 2),
                wrapBits: random.pick([nil, 32, 33]), wallTime: random.pick([nil, 0, 1_795_463_076_818, 1.5]),
                age: random.pick([nil, 0, 6_000_001, ClockSample.greatestAge]))
            #expect(try ClockSample(decoding: sample.encoded()) == sample, "seed \(random.seed)")
        }
    }
}

@Suite struct `Media time` {
    @Test func `stops at the ends of its range`() {
        #expect(MediaTime(milliseconds: Int64.max) == .distantFuture)
        #expect(MediaTime(milliseconds: Int64.min) == .distantPast)
        #expect(MediaTime.distantFuture + 1 == .distantFuture)
        #expect(MediaTime.distantPast + -1 == .distantPast)
        #expect(MediaTime.distantPast - 1 == .distantPast)
        #expect(MediaTime.distantFuture - -1 == .distantFuture)
        #expect(MediaTime.distantFuture - MediaTime.distantPast == .max)
        #expect(MediaTime.distantPast - MediaTime.distantFuture == .min)
    }

    @Test func `counts microseconds`() {
        let time = MediaTime(milliseconds: Int64(1500))
        #expect(time.microseconds == 1_500_000)
        #expect(time + 1 > time && time - 1 < time && (time + 5) - time == 5 && time - (time + 5) == -5)
    }

    @Test(
        arguments: [
            (0.1, 100), (-0.1, -100), (1234.5678, 1_234_568), (1000.0004, 1_000_000),
            (0x1p53, 9_007_199_254_740_992_000),
            (-0x1p53, -9_007_199_254_740_992_000), (2251799813685248.5, 2_251_799_813_685_248_500),
        ] as [(Double, Int64)])
    func `is rounded from milliseconds to the nearest microsecond`(milliseconds: Double, microseconds: Int64) {
        #expect(MediaTime(milliseconds: milliseconds)?.microseconds == microseconds)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 0x1p54, -0x1p54])
    func `is not made from what no clock says`(milliseconds: Double) {
        #expect(MediaTime(milliseconds: milliseconds) == nil)
    }
}
