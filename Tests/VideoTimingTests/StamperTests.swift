import StrokeWire
import TestSupport
import Testing
import VideoTiming

/// The tests of VideoTiming stamp and read made-up streams (`SyntheticVideo`), whole and in pieces.
@Suite struct StamperTests {
    @Test(arguments: VideoCodec.allCases)
    func `each picture of a raw stream gets one stamp, and nothing else changes`(_ codec: VideoCodec) {
        for var random in TestSeed.generators(20) {
            let video = SyntheticVideo(codec, pictures: random.int(1...30), &random)
            var stamper = AnnexBStamper(codec, PictureStamp(form: .text))
            var output: [UInt8] = []
            for piece in video.raw(&random).pieces(&random) {
                stamper.write(piece.span, into: &output) { MediaTime(milliseconds: Int64($0) * 40) }
            }
            stamper.finish(into: &output)

            let units = SyntheticVideo.units(of: output)
            let stamps = units.indices.filter { codec.kind(ofUnit: units[$0][0]) == .information }
            #expect(stamps.count == video.pictures)
            #expect(stamper.pictures == video.pictures)
            for (number, place) in stamps.enumerated() {
                let slice = units[place + 1]
                #expect(codec.kind(ofUnit: slice[0]) == .slice && codec.beginsPicture(payload: slice[codec.headerSize]))
                let picture = [0, 0, 1] + units[place]
                #expect(
                    PictureTimeReader().time(of: picture.span, .startCodes, codec)
                        == MediaTime(milliseconds: Int64(number) * 40))
            }
            #expect(units.filter { codec.kind(ofUnit: $0[0]) != .information } == video.units)
        }
    }

    @Test func `bytes that are no video pass a stamper unchanged`() {
        for var random in TestSeed.generators(200) {
            let codec = random.pick(VideoCodec.allCases)
            let noise = (0..<random.int(0...60)).map { _ in UInt8(random.int(0...3)) }
            var stamper = AnnexBStamper(codec, PictureStamp(form: .binary))
            var output: [UInt8] = []
            for piece in noise.pieces(&random) {
                stamper.write(piece.span, into: &output) { _ in MediaTime(milliseconds: 0) }
            }
            stamper.finish(into: &output)
            if stamper.pictures == 0 { #expect(output == noise) }
            #expect(output.count >= noise.count)
        }
    }

    @Test(arguments: [1, 2, 4])
    func `each picture of an FLV stream gets the stamp of its presentation time`(_ lengthSize: Int) throws {
        for var random in TestSeed.generators(10) {
            var flv = SyntheticFLV(lengthSize: lengthSize)
            flv.appendScript(&random)
            flv.appendConfiguration()
            var times: [Int64] = []
            for number in 0..<20 {
                // Every third picture is shown later than the next two; the counter wraps among them.
                let decoding = Int64(number) * 40 + (1 << 32) - 200
                let composition = number % 3 == 0 ? 80 : 0
                flv.appendPicture(decoding, Int32(composition), &random)
                times.append(decoding + Int64(composition))
            }
            flv.appendScript(&random)

            var stamper = FLVStamper(PictureStamp(form: .text))
            var output: [UInt8] = []
            for piece in flv.bytes.pieces(&random) {
                try stamper.write(piece.span, into: &output) { MediaTime(milliseconds: $0.presentation) }
            }
            stamper.finish(into: &output)
            #expect(stamper.pictures == times.count)

            let tags = try SyntheticFLV.tags(of: output)
            let original = try SyntheticFLV.tags(of: flv.bytes)
            #expect(tags.count == original.count)
            var stamps: [MediaTime?] = []
            for (tag, before) in zip(tags, original) where tag != before {
                let picture = Array(tag[16...])
                stamps.append(PictureTimeReader().time(of: picture.span, .lengths(bytes: lengthSize), .h264))
                var rest: [UInt8] = []
                NALFraming.lengths(bytes: lengthSize).forEachUnit(in: picture.span) {
                    if VideoCodec.h264.kind(ofUnit: picture[$0.lowerBound]) != .information {
                        rest += picture[($0.lowerBound - lengthSize)..<$0.upperBound]
                    }
                    return true
                }
                #expect(rest == Array(before[16...]))
            }
            #expect(stamps == times.map { MediaTime(milliseconds: $0) })
        }
    }

    @Test func `a damaged FLV stream passes a stamper without a fault`() throws {
        for var random in TestSeed.generators(100) {
            var flv = SyntheticFLV(lengthSize: 4)
            flv.appendConfiguration()
            for number in 0..<10 { flv.appendPicture(Int64(number), 0, &random) }
            var bytes = flv.bytes
            for _ in 0..<5 { bytes[random.int(13..<bytes.count)] = UInt8(random.int(0...255)) }
            var stamper = FLVStamper(PictureStamp(form: .binary))
            var output: [UInt8] = []
            try stamper.write(bytes.span, into: &output) { _ in MediaTime(milliseconds: 0) }
            stamper.finish(into: &output)
            #expect(output.count >= bytes.count)
        }
    }

    @Test func `a stream that is not FLV is refused`() {
        var stamper = FLVStamper(PictureStamp(form: .binary))
        var output: [UInt8] = []
        #expect(throws: FLVError.self) {
            try stamper.write(Array("FLX".utf8).span, into: &output) { _ in MediaTime(milliseconds: 0) }
        }
    }
}

@Suite struct StampClockTests {
    @Test func `pictures at a rate have exact times`() {
        var clock = StampClock(.rate(pictures: 30_000, seconds: 1001), start: MediaTime(milliseconds: 1000))
        #expect(clock.time(number: 0, presentation: nil, elapsed: 99).microseconds == 1_000_000)
        #expect(clock.time(number: 30_000, presentation: nil, elapsed: 99).microseconds == 1_002_000_000)
    }

    @Test func `presentation times keep their distances while their clock drifts and their arrival jitters`() {
        for var random in TestSeed.generators(5) {
            let drift = Double(random.int(-300...300)) / 1_000_000
            var clock = StampClock(.arrival, start: MediaTime(milliseconds: 0))
            var last: MediaTime?
            for number in 0..<200_000 {
                let real = Int64(number) * 40_000
                let jitter = Int64(random.int(0...80_000))
                let presentation = Int64((Double(real) * (1 + drift) / 1000).rounded()) + 5000
                let time = clock.time(number: number, presentation: presentation, elapsed: real + jitter)
                if let last { #expect(abs(time - last - 40_000) < 2000) }
                // Within the jitter of the truth, also after two hours.
                #expect(time.microseconds > real - 80_000 && time.microseconds < real + 100_000)
                last = time
            }
        }
    }

    @Test func `pictures that were held back and come in a burst at the beginning do not make the others late`() {
        var clock = StampClock(.arrival, start: MediaTime(milliseconds: 0))
        // One second of pictures comes within 100 ms, then each 10 ms after it was taken.
        let times = (0..<200).map { number -> Int64 in
            let taken = Int64(number) * 40_000
            let elapsed = max(taken + 10_000, 1_000_000 + Int64(number) * 4000)
            return clock.time(number: number, presentation: taken / 1000, elapsed: elapsed).microseconds - taken
        }
        #expect(times.first == 1_000_000)
        #expect(times[40...].allSatisfy { $0 <= 110_000 }, "\(times)")
    }

    @Test(arguments: [(30_000_000, 1_001_000), (1_000_000_000, 40_000_000)])
    func `the times of a fixed rate go on for a year`(_ pictures: Int, _ seconds: Int) {
        var clock = StampClock(.rate(pictures: pictures, seconds: seconds), start: MediaTime(milliseconds: 0))
        let number = 365 * 86_400 * pictures / seconds
        let time = clock.time(number: number, presentation: nil, elapsed: 0).microseconds
        #expect(abs(time - 365 * 86_400_000_000) <= 100_000)
    }

    @Test func `a jump of presentation times is followed at once`() {
        var clock = StampClock(.arrival, start: MediaTime(milliseconds: 0))
        #expect(clock.time(number: 0, presentation: 70_000, elapsed: 0).microseconds == 0)
        #expect(clock.time(number: 1, presentation: 0, elapsed: 40_000).microseconds == 40_000)
    }
}

@Suite struct CounterUnwrapperTests {
    @Test func `a counter goes on over its wrap, and back again`() {
        var counter = CounterUnwrapper(bits: 33)
        let period: Int64 = 1 << 33
        let raw: [Int64] = [period - 3000, period - 1, 2000, period - 2000, 5000]
        let expected: [Int64] = [period - 3000, period - 1, period + 2000, period - 2000, period + 5000]
        #expect(raw.map { counter.unwrap($0) } == expected)
    }

    @Test func `a step beyond the tolerance is taken as it is`() {
        var counter = CounterUnwrapper(bits: 33, tolerance: 90_000 * 60)
        #expect(counter.unwrap(8_000_000_000) == 8_000_000_000)
        #expect(counter.unwrap(0) == 0)
    }

    @Test func `one damaged value does not take the laps from those behind it`() {
        var counter = CounterUnwrapper(bits: 33, tolerance: 90_000 * 60)
        let period: Int64 = 1 << 33
        let raw: [Int64] = [period - 1, 2000, 4_000_000_000, 5000, 8000]
        let expected: [Int64] = [period - 1, period + 2000, 4_000_000_000, period + 5000, period + 8000]
        #expect(raw.map { counter.unwrap($0) } == expected)
        // Two that agree are a jump.
        #expect(
            [4_000_000_000, 4_000_003_000, 4_000_006_000].map { counter.unwrap($0) }
                == [4_000_000_000, 4_000_003_000, 4_000_006_000])
    }
}

@Suite struct StreamAgeTests {
    private func sample(
        _ milliseconds: Int64, _ state: ClockSample.State = .play, isJump: Bool = false, wrapBits: Int? = nil
    ) -> ClockSample {
        ClockSample(
            media: MediaTime(milliseconds: milliseconds), state: state, isDiscontinuity: isJump, wrapBits: wrapBits)
    }

    @Test func `a time of day is as old as it is`() {
        var age = StreamAge()
        let utc: Int64 = 1_800_000_000_000
        #expect(age.age(of: sample(utc - 6000), at: 0, utc: utc * 1000) == 6_000_000)
        #expect(age.age(of: sample(utc - 6000, .stall), at: 0, utc: (utc + 500) * 1000) == 6_500_000)
        // The clocks of encoder and probe differ a little.
        #expect(age.age(of: sample(utc + 3), at: 0, utc: utc * 1000) == 0)
        #expect(age.age(of: sample(utc - 600_001), at: 0, utc: utc * 1000) == nil)
        #expect(age.age(of: sample(utc, .end), at: 0, utc: utc * 1000) == nil)
    }

    @Test func `another time line has an age only where it is given`() {
        var age = StreamAge()
        #expect(age.age(of: sample(5000), at: 0, utc: 1_800_000_000_000_000) == nil)
        #expect(age.age(of: sample(5000), at: 0, utc: nil) == nil)
    }

    @Test func `a given age grows by the player's stalls and begins anew with each jump`() {
        var age = StreamAge(given: 6_000_000)
        #expect(age.age(of: sample(5000), at: 90_000_000, utc: nil) == 6_000_000)
        #expect(age.age(of: sample(5250), at: 90_250_000, utc: nil) == 6_000_000)
        #expect(age.age(of: sample(5250, .stall), at: 91_250_000, utc: nil) == 7_000_000)
        #expect(age.age(of: sample(5500), at: 91_500_000, utc: nil) == 7_000_000)
        #expect(age.age(of: sample(6750, isJump: true), at: 91_750_000, utc: nil) == 6_000_000)
        // A counter that wraps.
        let last: Int64 = (1 << 32) - 250
        #expect(age.age(of: sample(last, isJump: true, wrapBits: 32), at: 92_000_000, utc: nil) == 6_000_000)
        #expect(age.age(of: sample(0, wrapBits: 32), at: 92_250_000, utc: nil) == 6_000_000)
        #expect(age.age(of: sample(250, wrapBits: 32), at: 92_750_000, utc: nil) == 6_250_000)
    }
}
